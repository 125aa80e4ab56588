import { once } from "node:events";
import { Agent, createServer, request, type IncomingMessage } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { drainable } from "../../platform/http/drainable.ts";

const ends: (() => void)[] = [];
afterEach(() => ends.splice(0).forEach((end) => end()));

const never = new AbortController().signal;

async function serve(lingerMs: number) {
  const held: (() => void)[] = [];
  const server = createServer((asked, response) => {
    if (asked.url === "/held") held.push(() => response.end("late"));
    else response.end("ok");
  });
  const drain = drainable(server, lingerMs);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ends.push(() => server.closeAllConnections());
  return { server, drain, port: (server.address() as AddressInfo).port, answer: () => held.splice(0).forEach((each) => each()) };
}

/** A client that keeps one connection. */
function client(port: number): (path: string) => Promise<{ text: string; connection: string | undefined }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  ends.push(() => agent.destroy());
  return async (path) => {
    const sent = request({ host: "127.0.0.1", port, path, agent }).end();
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    let text = "";
    for await (const chunk of answer) text += String(chunk);
    return { text, connection: answer.headers.connection };
  };
}

async function idle(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  ends.push(() => socket.destroy());
  return socket;
}

it("responds to requests on a kept connection with Connection: close, and accepts no new connection", async () => {
  const { drain, port } = await serve(60_000);
  const ask = client(port);
  expect(await ask("/")).toEqual({ text: "ok", connection: "keep-alive" });
  const drained = drain(never);
  await expect(idle(port)).rejects.toThrow("ECONNREFUSED");
  expect(await ask("/")).toEqual({ text: "ok", connection: "close" });
  await drained; // Well before 60 s, because no request is in progress.
});

it("closes idle connections", async () => {
  const { drain, port } = await serve(100);
  const [unused, ask] = [await idle(port), client(port)];
  await ask("/");
  const closed = once(unused, "close");
  await drain(never);
  await expect(closed).resolves.toEqual([false]); // Closed without an error.
});

it("finishes requests in progress, however long they take", async () => {
  const { server, drain, port, answer } = await serve(20);
  const unused = await idle(port);
  const held = client(port)("/held");
  await once(server, "request");
  const swept = once(unused, "close");
  const drained = drain(never);
  await swept; // The time limit of idle connections is over.
  answer();
  expect((await held).text).toBe("late");
  await drained;
});

it("cuts off unfinished requests when the signal aborts", async () => {
  const { server, drain, port } = await serve(60_000);
  const held = client(port)("/held").catch((error: unknown) => error);
  await once(server, "request");
  const abort = new AbortController();
  const drained = drain(abort.signal);
  abort.abort();
  await drained;
  expect(await held).toBeInstanceOf(Error);
});
