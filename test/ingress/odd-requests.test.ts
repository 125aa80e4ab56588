import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { waitUntil } from "../../domain/retry.ts";
import { eventOf, rawClient, serveIngress, type RawClient, type ServedIngress } from "./served-ingress.ts";

/** Requests that proxies and servers have read differently, and requests that no browser sends. */
let served: ServedIngress;
const clients: RawClient[] = [];
beforeAll(async () => {
  served = await serveIngress({ requestTimeoutMs: 1_000 });
});
beforeEach(() => void served.stored.splice(0));
afterAll(async () => {
  for (const { socket } of clients) socket.destroy();
  await served.ingress.stop(AbortSignal.timeout(100));
});

async function send(bytes: string): Promise<RawClient> {
  const client = await rawClient(served.port, bytes);
  clients.push(client);
  return client;
}
const statusesOf = ({ received }: RawClient): string[] => [...received().matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status = ""]) => status);
const smuggled = "GET /plain1/smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

describe("a request whose length can be read in two ways", () => {
  it.each([
    ["both lengths", `Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ["both lengths, the other way round", `Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n${smuggled}`],
    ["two different lengths", `Content-Length: 0\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`],
    ["a list of lengths", `Content-Length: 0, ${smuggled.length}\r\n\r\n${smuggled}`],
    ["a length with a sign", `Content-Length: +0\r\n\r\n${smuggled}`],
    ["a negative length", `Content-Length: -1\r\n\r\n${smuggled}`],
    ["a length in hexadecimal", `Content-Length: 0x0\r\n\r\n${smuggled}`],
    ["an unknown transfer coding", `Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ["chunked before another coding", `Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`],
    ["chunked twice", `Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ["a blank before the colon", `Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ["a folded header", `X: y\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ["lines that end with a line feed alone", `Transfer-Encoding: chunked\n\n0\n\n${smuggled}`],
    ["a header that ends with a carriage return alone", `X: y\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ["a null in a header", `X: a\0b\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ["a chunk size with a sign", `Transfer-Encoding: chunked\r\n\r\n+0\r\n\r\n${smuggled}`],
    ["a chunk size beyond 64 bits", `Transfer-Encoding: chunked\r\n\r\n1${"0".repeat(16)}\r\n\r\n${smuggled}`],
    ["a chunk longer than its size", `Transfer-Encoding: chunked\r\n\r\n1\r\nxyz\r\n0\r\n\r\n${smuggled}`],
  ])("is refused, and nothing behind it is read: %s", async (_what, rest) => {
    const client = await send(`POST /plain1 HTTP/1.1\r\nHost: a\r\n${rest}`);
    expect(await waitUntil(() => client.isClosed(), 120_000)).toBe(true);
    expect(statusesOf(client)).toEqual(["400"]);
    expect(served.stored.map((invocation) => eventOf(invocation).path)).not.toContain("/smuggled");
  });

  it("is one request if it has a single length", async () => {
    const client = await send(`POST /plain1/outer HTTP/1.1\r\nHost: a\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`);
    expect(await waitUntil(() => statusesOf(client).length === 1, 120_000)).toBe(true);
    expect(eventOf(served.stored[0])).toMatchObject({ path: "/outer", bodyRaw: smuggled });
    expect(statusesOf(client)).toEqual(["200"]);
  });
});

describe("a request", () => {
  it.each([
    ["without a Host", "GET /plain1 HTTP/1.1\r\n\r\n", "400"],
    ["with headers above 16 KiB", `GET /plain1 HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(17_000)}\r\n\r\n`, "431"],
    ["with a query above 16 KiB", `GET /plain1?${"a=1&".repeat(5_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, "431"],
    ["that expects what there is not", "GET /plain1 HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n", "417"],
    ["of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400"],
    ["that is none", "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03", "400"],
    ["for *", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "204"],
  ])("%s is answered", async (_what, bytes, status) => {
    const client = await send(bytes);
    expect(await waitUntil(() => statusesOf(client).length === 1, 120_000)).toBe(true);
    expect(statusesOf(client)).toEqual([status]);
    expect(served.stored).toEqual([]);
  });

  it("for a tunnel (CONNECT) is disconnected", async () => {
    const client = await send("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n");
    expect(await waitUntil(() => client.isClosed(), 120_000)).toBe(true);
    expect([client.received(), served.stored]).toEqual(["", []]);
  });

  it("for a WebSocket is an ordinary request: the connection stays HTTP", async () => {
    const upgrade =
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==\r\n";
    const client = await send(`GET /plain1/ws HTTP/1.1\r\nHost: a\r\n${upgrade}\r\n`);
    expect(await waitUntil(() => statusesOf(client).length === 1, 120_000)).toBe(true);
    client.socket.write("GET /plain1/next HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(await waitUntil(() => statusesOf(client).length === 2, 120_000)).toBe(true);
    expect(served.stored.map((invocation) => eventOf(invocation).path)).toEqual(["/ws", "/next"]);
    expect(statusesOf(client)).toEqual(["200", "200"]);
  });

  it("with HEAD runs the source and gets no body; with TRACE is not echoed", async () => {
    const head = await send("HEAD /plain1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    const trace = await send("TRACE /plain1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Secret: hush\r\n\r\n");
    expect(await waitUntil(() => head.isClosed() && trace.isClosed(), 120_000)).toBe(true);
    expect(head.received()).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\n$/);
    expect(trace.received()).not.toContain("hush");
    expect(served.stored.map((invocation) => eventOf(invocation).method).toSorted()).toEqual(["HEAD", "TRACE"]);
  });

  it("reads a query of thousands of parameters", async () => {
    const client = await send(`GET /plain1?${"a&".repeat(7_000)} HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(await waitUntil(() => statusesOf(client).length === 1, 120_000)).toBe(true);
    expect(eventOf(served.stored[0]).query["a"]).toHaveLength(7_000);
    expect(statusesOf(client)).toEqual(["200"]);
  });
});
