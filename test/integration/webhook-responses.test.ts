import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { createEgress } from "../../platform/http/egress.ts";
import { createWebhookClient } from "../../platform/http/webhook-client.ts";

const keepBytes = 16 * 1024;
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** Posts to a server that answers like this, and returns what is kept of the response. */
async function received(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const { post } = await endpoint(answer);
  const result = await post();
  if (result.outcome !== "answered" || result.received === undefined) throw new Error(`nothing was received: ${JSON.stringify(result)}`);
  const { headers, body, isCut } = result.received;
  return { status: result.status, headers, body: Buffer.from(body), isCut };
}

async function endpoint(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const sockets = new Set<Socket>();
  const server = createServer({ maxHeaderSize: 1_000 }, (request, response) => {
    sockets.add(request.socket);
    request.resume().on("end", () => answer(request, response));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = createWebhookClient({ egress: createEgress({ allow: ["127.0.0.1/32"] }), timeoutMs: 60_000, connections: 1 });
  ends.push(async () => {
    server.closeAllConnections();
    await Promise.all([client.close(), new Promise((resolve) => server.close(resolve))]);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`; // Listening on TCP.
  return {
    sockets,
    post: (kept: { readonly keepBytes?: number } = { keepBytes }) => client.post({ url, headers: {}, body: "{}", ...kept }),
  };
}

describe("of a response", () => {
  it("headers and body are returned if they are asked for", async () => {
    const answer = (_request: IncomingMessage, response: ServerResponse): void =>
      void response.writeHead(503, { "x-reason": "busy", "set-cookie": ["a=1", "b=2"] }).end("try later");
    expect(await received(answer)).toMatchObject({
      status: 503,
      headers: { "x-reason": "busy", "set-cookie": ["a=1", "b=2"] },
      body: Buffer.from("try later"),
      isCut: false,
    });
    const { post } = await endpoint(answer);
    expect(await post({})).toEqual({ outcome: "answered", status: 503, retryAfter: undefined });
  });

  it.each([
    [0, false],
    [keepBytes, false],
    [keepBytes + 1, true],
    [60_000, true],
  ])("with %i bytes the first 16 KiB are kept, and the connection is used again", async (size, isCut) => {
    const { post, sockets } = await endpoint((_request, response) => response.end("x".repeat(size)));
    for (let n = 0; n < 2; n++)
      expect(await post()).toMatchObject({ received: { body: { length: Math.min(size, keepBytes) }, isCut }, status: 200 });
    expect(sockets.size).toBe(1);
  });

  it("that arrives byte by byte all bytes are kept in order", async () => {
    const text = Array.from({ length: 300 }, (_, n) => String(n)).join(",");
    const answer = async (_request: IncomingMessage, response: ServerResponse): Promise<void> => {
      for (const character of text) await new Promise<void>((resolve) => response.write(character, () => resolve()));
      response.end();
    };
    expect((await received((...each) => void answer(...each))).body.toString()).toBe(text);
  });

  it("without end the beginning is kept, and the attempt ends", async () => {
    const flood = (_request: IncomingMessage, response: ServerResponse): void => {
      const write = (): void => {
        while (!response.destroyed && response.write("y".repeat(10_000)));
      };
      response.on("drain", write);
      write();
    };
    const { status, body, isCut } = await received(flood);
    expect([status, body.length, isCut]).toEqual([200, keepBytes, true]);
  });

  it.each<readonly [string, (response: ServerResponse) => void]>([
    ["stays open", (response) => void response.write("some")],
    ["breaks off", (response) => void response.writeHead(200, { "content-length": 9 }).write("some", () => response.destroy())],
  ])("whose body %s what has arrived is kept", async (_, answer) => {
    const { status, body, isCut } = await received((_request, response) => answer(response));
    expect([status, body.toString(), isCut]).toEqual([200, "some", true]);
  });

  it("that is compressed the bytes are kept as they are", async () => {
    const zipped = gzipSync("hello");
    const { body, headers } = await received((_request, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(zipped));
    expect([body, headers["content-encoding"]]).toEqual([zipped, "gzip"]);
  });

  it("with 64 KiB of headers nothing is kept: the attempt has failed", async () => {
    const { post } = await endpoint((_request, response) => response.writeHead(200, { "x-large": "v".repeat(64 * 1024) }).end());
    expect(await post()).toMatchObject({ outcome: "unreachable", code: "UND_ERR_HEADERS_OVERFLOW" });
  });
});
