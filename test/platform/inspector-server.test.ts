import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { afterEach, beforeEach, expect, it } from "vitest";
import { InspectorServer } from "../../platform/http/inspector-server.ts";
import { until } from "../support/until.ts";

/** The address at which a debugger reaches an isolate. */
let server: InspectorServer;
let url: URL;
beforeEach(async () => {
  server = new InspectorServer("a test");
  url = new URL(await server.start(0));
});
afterEach(() => server.stop());

const handshake = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

/** Status of an attempt to attach; 101 if it is accepted. */
async function attach(headers: Readonly<Record<string, string>>, path: string = url.pathname): Promise<number | undefined> {
  const attempt = request({ host: url.hostname, port: url.port, path, headers: { ...handshake, ...headers } });
  const status = new Promise<number | undefined>((resolve) => {
    attempt.on("upgrade", (response, socket) => {
      socket.on("error", () => {});
      resolve(response.statusCode);
    });
    attempt.on("response", (response) => resolve(response.statusCode));
  });
  attempt.end();
  return status;
}

it("listens on 127.0.0.1 only", async () => {
  expect(url.hostname).toBe("127.0.0.1");
  const others = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  for (const { address } of others.filter(({ family, internal }) => family === "IPv4" && !internal)) {
    const socket = connect(Number(url.port), address);
    await expect(once(socket, "connect")).rejects.toThrow();
  }
});

it("refuses pages of a browser, names of other machines, other paths, and a second debugger", async () => {
  expect(await attach({ origin: "https://evil.example" })).toBe(403);
  expect(await attach({ host: "evil.example" })).toBe(400);
  expect(await attach({}, "/")).toBe(404);
  const rebound = await fetch(`http://127.0.0.1:${url.port}/json`, { method: "POST" });
  expect(rebound.status).toBe(200);
  expect(await attach({ origin: "devtools://devtools" })).toBe(101);
  expect(await attach({})).toBe(409);
});

it("names a port that is in use", async () => {
  await expect(new InspectorServer("another").start(Number(url.port))).rejects.toThrow(`port ${url.port} cannot be used`);
});

it("passes messages of any length in both directions, early ones too, and disables the debugger when it leaves", async () => {
  const [toIsolate, toDebugger]: [string[], string[]] = [[], []];
  server.send("early");
  const socket = new WebSocket(url);
  socket.addEventListener("message", ({ data }) => toDebugger.push(String(data)));
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  const texts = ["", "x".repeat(125), "ü".repeat(40_000), "y".repeat(200_000)];
  for (const text of texts) socket.send(text);
  server.attach((message) => toIsolate.push(message));
  for (const text of texts) server.send(text);
  await until(() => toIsolate.length === texts.length && toDebugger.length === texts.length + 1, "all messages have arrived");
  expect([toIsolate, toDebugger]).toEqual([texts, ["early", ...texts]]);
  socket.close();
  await until(() => toIsolate.length > texts.length, "the debugger has left");
  expect(toIsolate.at(-1)).toContain("Debugger.disable");
});

it("closes the connection of a client that does not mask its frames, or sends one that is too long", async () => {
  for (const frame of [Buffer.from([0x81, 1, 0x61]), Buffer.from([0x81, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0])]) {
    const socket = connect(Number(url.port), "127.0.0.1");
    const head = Object.entries({ host: url.host, ...handshake }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET ${url.pathname} HTTP/1.1\r\n${head.join("")}\r\n`);
    await once(socket, "data");
    const closed = once(socket, "close");
    socket.on("error", () => {}).resume();
    socket.write(frame);
    await closed;
    expect(socket.destroyed).toBe(true);
  }
});
