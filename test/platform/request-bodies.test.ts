import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { HeadwaterError } from "../../domain/errors.ts";
import { RequestBodies } from "../../platform/http/request-bodies.ts";
import { waitUntil } from "../../domain/retry.ts";

const ends: (() => void)[] = [];
afterEach(() => ends.splice(0).forEach((end) => end()));

interface Served {
  readonly bodies: RequestBodies;
  readonly port: number;
  /** The result of each read, in order. */
  readonly outcomes: (Buffer | string)[];
}

/** Reads each body; the path is the holder. */
async function serve(maxBytes: number, limitBytes: number): Promise<Served> {
  const bodies = new RequestBodies(maxBytes);
  const outcomes: (Buffer | string)[] = [];
  const read = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      outcomes.push(await bodies.read(request, response, { limitBytes, holder: request.url ?? "" }));
      response.end("ok");
    } catch (error) {
      if (!(error instanceof HeadwaterError)) throw error;
      outcomes.push(error.code);
      if (!response.destroyed) response.writeHead(error.status).end(error.code);
    }
  };
  const serveOne = (request: IncomingMessage, response: ServerResponse): void => void read(request, response); // Handles all errors.
  const server = createServer(serveOne);
  server.on("checkContinue", serveOne);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ends.push(() => server.closeAllConnections(), server.close.bind(server));
  return { bodies, port: (server.address() as AddressInfo).port, outcomes }; // Listening on TCP.
}

interface Client {
  readonly socket: Socket;
  readonly received: () => string;
}

async function client(port: number, text: string): Promise<Client> {
  const socket = connect(port, "127.0.0.1");
  let received = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => (received += chunk));
  socket.on("error", () => undefined); // A refused client is cut off.
  await once(socket, "connect");
  socket.write(text);
  ends.push(() => socket.destroy());
  return { socket, received: () => received };
}

const chunkedHead = (path: string): string => `POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`;
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

describe("a body in chunks", () => {
  it("is joined into one buffer of at most twice its size", async () => {
    const { bodies, port, outcomes } = await serve(2 ** 20, 100_000);
    const { socket } = await client(port, chunkedHead("/a"));
    for (let sent = 0; sent < 2_000; sent++) socket.write(chunk("0123456789abcdefghijklmnopqrstuv"));
    expect(await waitUntil(() => bodies.heldBytes >= 64_000, 120_000)).toBe(true);
    expect(bodies.heldBytes).toBeLessThanOrEqual(100_000);
    socket.write("0\r\n\r\n");
    expect(await waitUntil(() => outcomes.length === 1, 120_000)).toBe(true);
    expect(outcomes[0]?.toString("latin1")).toBe("0123456789abcdefghijklmnopqrstuv".repeat(2_000));
    expect(bodies.heldBytes).toBe(0);
  });

  it("is refused when its chunks are tiny, except for a few", async () => {
    const { port, outcomes, bodies } = await serve(2 ** 20, 2 ** 20);
    await client(port, chunkedHead("/a") + chunk("x").repeat(500) + "0\r\n\r\n");
    const flooding = await client(port, chunkedHead("/b"));
    flooding.socket.write(chunk("x").repeat(20_000));
    expect(await waitUntil(() => outcomes.length === 2, 120_000)).toBe(true);
    expect(outcomes.map((each) => (typeof each === "string" ? each : each.length)).toSorted()).toEqual([500, "too_many_chunks"]);
    expect(await waitUntil(() => flooding.received().startsWith("HTTP/1.1 413"), 120_000)).toBe(true);
    expect(bodies.heldBytes).toBe(0);
  });

  it("releases its memory when its client disconnects", async () => {
    const { bodies, port, outcomes } = await serve(2 ** 20, 100_000);
    const { socket } = await client(port, chunkedHead("/a") + chunk("x".repeat(1_000)));
    expect(await waitUntil(() => bodies.heldBytes === 1_000, 120_000)).toBe(true);
    socket.destroy();
    expect(await waitUntil(() => outcomes.length === 1, 120_000)).toBe(true);
    expect([outcomes, bodies.heldBytes]).toEqual([["malformed"], 0]);
  });
});

describe("when bodies exceed the memory budget", () => {
  const part = (path: string, bytes: number): string =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\n${"x".repeat(bytes)}`;

  it("the oldest body of the largest holder is refused, and those of others are accepted", async () => {
    const { port, outcomes, bodies } = await serve(10_000, 9_000);
    const greedy: Client[] = [];
    for (let nth = 1; nth <= 3; nth++) {
      greedy.push(await client(port, part("/greedy", 3_000)));
      expect(await waitUntil(() => bodies.heldBytes === nth * 3_000, 120_000)).toBe(true);
    }
    const modest = await client(port, part("/modest", 4_000));
    expect(await waitUntil(() => greedy[0]?.received().startsWith("HTTP/1.1 503") === true, 120_000)).toBe(true);
    expect([outcomes, bodies.heldBytes]).toEqual([["overloaded"], 10_000]);
    expect(modest.received()).toBe("");
  });

  it("a new body of the largest holder is refused", async () => {
    const { port, outcomes, bodies } = await serve(10_000, 9_000);
    await client(port, part("/first", 4_000));
    await client(port, part("/second", 4_000));
    expect(await waitUntil(() => bodies.heldBytes === 8_000, 120_000)).toBe(true);
    const greedy = await client(port, part("/third", 5_000));
    expect(await waitUntil(() => greedy.received().startsWith("HTTP/1.1 503"), 120_000)).toBe(true);
    expect([outcomes, bodies.heldBytes]).toEqual([["overloaded"], 8_000]);
  });

  it("bodies that arrive complete are still accepted", async () => {
    const { port, outcomes, bodies } = await serve(10_000, 9_000);
    await client(port, part("/slow", 9_000 - 1));
    expect(await waitUntil(() => bodies.heldBytes === 9_000 - 1, 120_000)).toBe(true);
    await client(port, `POST /fast HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\n${"y".repeat(9_000)}`);
    expect(await waitUntil(() => outcomes.length === 1, 120_000)).toBe(true);
    expect(outcomes[0]?.length).toBe(9_000);
  });
});

describe("Expect: 100-continue", () => {
  const head = (bytes: number): string => `POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ${bytes}\r\n\r\n`;

  it("is answered with 100 Continue when the body is read", async () => {
    const { port } = await serve(2 ** 20, 1_000);
    const { socket, received } = await client(port, head(3));
    expect(await waitUntil(() => received().startsWith("HTTP/1.1 100 Continue\r\n\r\n"), 120_000)).toBe(true);
    socket.write("abc");
    expect(await waitUntil(() => received().includes("HTTP/1.1 200 OK"), 120_000)).toBe(true);
  });

  it("is refused at once when the body is too large", async () => {
    const { port } = await serve(2 ** 20, 1_000);
    const { received } = await client(port, head(1_001));
    expect(await waitUntil(() => received().startsWith("HTTP/1.1 413"), 120_000)).toBe(true);
  });
});
