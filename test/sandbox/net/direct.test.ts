import { createRequire } from "node:module";
import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServers, type TestServers } from "./servers.ts";
import { startAll } from "../packages/servers/listen.ts";
import { startProxy } from "../packages/servers/proxy.ts";
import { startWebSocket } from "../packages/servers/websocket.ts";
import { listen } from "../packages/servers/listen.ts";
import { startSnippets, type Snippets } from "../web-support.ts";

/** Requests over connections of the component's own (upgrades, tunnels, proxies, `createConnection`), and WebSocket, beside Node's. */
let servers: TestServers;
let snippets: Snippets;
let more: Awaited<ReturnType<typeof startAll<"proxy" | "websocket" | "raw">>>;
beforeAll(async () => {
  servers = await startServers();
  more = await startAll({ proxy: startProxy, websocket: startWebSocket, raw: startRaw });
  snippets = await startSnippets();
});
afterAll(async () => {
  await snippets.stop();
  await more.stop();
  await servers.close();
});

/** Answers with the bytes that the path names, whatever they are: what servers should not say is said by some. */
async function startRaw(): ReturnType<typeof listen> {
  return await listen(
    createServer((socket) => {
      socket.once("data", (chunk) => {
        const path = /^\S+ (\S+)/.exec(chunk.toString("latin1"))?.[1] ?? "/";
        const parts = decodeURIComponent(path.slice(1)).split("|");
        const say = (): void => {
          const part = parts.shift();
          if (part === undefined) return void socket.end();
          socket.write(part, "latin1", () => setImmediate(say));
        };
        say();
      });
    }),
  );
}

const names = ["http", "https", "net", "stream"] as const;
const imports = names
  .map((name) => `import * as ${name}Module from "${name}"; const ${name} = ${name}Module.default ?? ${name}Module;`)
  .join("\n");

const helpers = `
const read = (res) => new Promise((ok) => { const c = []; res.on("data", (d) => c.push(d)); res.on("end", () => ok(Buffer.concat(c).toString("latin1"))); res.on("error", (e) => ok("broken " + e.code)); });
const ask = (options, more) => new Promise((ok) => { const req = http.request({ host: "127.0.0.1", port, createConnection: (o) => net.connect(o), ...options }, async (res) => ok([res.statusCode, res.statusMessage, res.httpVersion, await read(res), res.trailers, res.complete])); req.on("error", (e) => ok([e.name, e.code])); if (more) more(req); else req.end(); });
const raw = (text, options) => ask({ port: rawPort, path: "/" + encodeURIComponent(text), ...options });
const head = "HTTP/1.1 200 OK\\r\\n";`;

const variables = (): string =>
  `const port = ${servers.httpPort}, rawPort = ${more.ports.raw}, proxyPort = ${more.ports.proxy}, wsPort = ${more.ports.websocket}, tcpPort = ${servers.tcpPort}, base = ${JSON.stringify(servers.http)};`;

async function inNode(code: string): Promise<unknown> {
  const require = createRequire(import.meta.url);
  const run = new Function(...names, `return (async () => {\n${code}\n})()`) as (...modules: unknown[]) => Promise<unknown>;
  return JSON.parse(JSON.stringify((await run(...names.map((name) => require(`node:${name}`)))) ?? null));
}

const direct = {
  createConnection: `const [status, , , text] = await ask({ path: "/echo?a=b", method: "POST", headers: { "x-a": "1" } }, (r) => r.end("body")); const seen = JSON.parse(text); return [status, seen.method, seen.url, seen.headers["x-a"], seen.body];`,
  "bodies by length, by chunks, to the end": `return [await ask({ path: "/length" }), await ask({ path: "/chunked" }), await raw(head + "\\r\\nto the| end"), await raw(head + "content-length: 0\\r\\n\\r\\n"), await raw("HTTP/1.0 200\\r\\n\\r\\nold")];`,
  "bodies in the smallest parts": `return raw([...(head + "transfer-encoding: chunked\\r\\n\\r\\n3\\r\\nabc\\r\\n1;x=y\\r\\nd\\r\\n0\\r\\nt: v\\r\\n\\r\\n")].join("|"));`,
  "no body": `return [await ask({ path: "/big?bytes=10", method: "HEAD" }), await ask({ path: "/status?code=204" }), await ask({ path: "/status?code=304" })];`,
  "megabytes, read slowly": `const all = []; for (let i = 0; i < 20; i++) all.push(await new Promise((ok, no) => { http.get({ host: "127.0.0.1", port, path: "/big?bytes=1000000", createConnection: (o) => net.connect(o) }, async (res) => { let n = 0; for await (const c of res) { n += c.length; await new Promise((r) => setTimeout(r, 1)); } ok(n); }).on("error", no); })); return all;`,
  "a request's body in chunks": `const [, , , text] = await ask({ path: "/echo", method: "POST", headers: { "transfer-encoding": "chunked" } }, (r) => { r.write("one "); r.end("two"); }); return JSON.parse(text).body;`,
  "cut short": `const cut = await ask({ path: "/cut" }); return [cut[0], cut[3], await raw("|"), await raw(head + "content-length: 5\\r\\n\\r\\nabc")].map((r) => Array.isArray(r) ? [r[0], r[3] ?? r[1]] : r);`,
  "no listener": `return ask({ port: 1 });`,
  "an agent that connects": `class Own extends http.Agent { createConnection(options, done) { if (options.late) { setTimeout(() => done(null, super.createConnection(options)), 5); return undefined; } return super.createConnection(options); } } const get = (late) => new Promise((ok, no) => http.get(base + "/status?code=201&body=x", { agent: new Own(), late }, async (res) => ok([res.statusCode, await read(res)])).on("error", no)); return [await get(false), await get(true)];`,
  "an agent that fails": `class Own extends http.Agent { createConnection(options, done) { setTimeout(() => done(Object.assign(new Error("no way"), { code: "EOWN" })), 1); } } return new Promise((ok) => http.get(base, { agent: new Own() }).on("error", (e) => ok([e.message, e.code])));`,
  "aborted and timed out": `return [await ask({ path: "/never" }, (r) => { r.end(); r.setTimeout(30, () => r.destroy(new Error("late"))); }), await ask({ path: "/never" }, (r) => { r.end(); setTimeout(() => r.destroy(), 30); })];`,
  "an upgrade": `return new Promise((ok, no) => { const req = http.request({ host: "127.0.0.1", port: wsPort, headers: { connection: "Upgrade", upgrade: "websocket", "sec-websocket-key": "x", "sec-websocket-version": 13 } }); req.on("error", no); req.on("upgrade", (res, socket, first) => { socket.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 104, 105])); socket.on("data", (d) => { socket.destroy(); ok([res.statusCode, res.headers.upgrade, first.length, [...d], socket instanceof stream.Duplex]); }); }); req.end(); });`,
  "an upgrade that is refused": `return ask({ createConnection: undefined, path: "/status?code=200&body=no", headers: { connection: "Upgrade", upgrade: "x" } });`,
  "a refused upgrade": `return new Promise((ok) => { const req = http.request({ host: "127.0.0.1", port: wsPort, headers: { connection: "Upgrade", upgrade: "websocket" } }); req.on("close", () => ok("closed")); req.on("error", (e) => ok(e.code)); req.end(); });`,
  "bytes that come with the upgrade": `return new Promise((ok, no) => { const req = http.request({ host: "127.0.0.1", port: rawPort, path: "/" + encodeURIComponent("HTTP/1.1 101 Switching\\r\\nupgrade: x\\r\\nconnection: upgrade\\r\\n\\r\\nfirst"), headers: { connection: "Upgrade", upgrade: "x" } }); req.on("error", no); req.on("upgrade", (res, socket, first) => { ok([String(first), res.statusMessage]); socket.destroy(); }); req.end(); });`,
  "a tunnel": `return new Promise((ok, no) => { const req = http.request({ host: "127.0.0.1", port: proxyPort, method: "CONNECT", path: "127.0.0.1:" + port }); req.on("error", no); req.on("connect", async (res, socket) => { const [status, , , text] = await ask({ path: "/echo", createConnection: () => socket }); ok([res.statusCode, status, JSON.parse(text).url]); }); req.end(); });`,
  "a proxy": `const [status, , , text] = await ask({ createConnection: undefined, port: proxyPort, path: base + "/echo?p" }); const seen = JSON.parse(text); return [status, seen.url, seen.headers.via];`,
  "what is no HTTP": `const codes = []; for (const text of ["nonsense\\r\\n\\r\\n", "HTTP/1.1 200 OK\\r\\nno colon\\r\\n\\r\\n"]) codes.push((await raw(text))[1].slice(0, 4)); return codes;`,
};

const websocket = {
  messages: `return new Promise((ok) => { const log = []; const s = new WebSocket("ws://127.0.0.1:" + wsPort + "/a?b", ["p", "q"]); log.push(s.readyState, s.url.replace(/:\\d+/, ""), s.binaryType); s.onopen = () => { log.push("open", s.protocol, s.readyState); s.send("h\u00e9llo"); s.binaryType = "arraybuffer"; s.send(new Uint8Array([1, 2])); s.send(new Blob(["x"])); s.send("y".repeat(300)); }; s.onmessage = (e) => { log.push(typeof e.data === "string" ? e.data : [e.data.constructor.name, ...new Uint8Array(e.data)]); if (log.length === 10) s.close(3001, "bye"); }; s.onclose = (e) => ok([log, e.code, e.reason, e.wasClean, s.readyState, e.constructor.name]); });`,
  "no listener": `return new Promise((ok) => { const log = []; const s = new WebSocket("ws://127.0.0.1:1/"); s.onerror = (e) => log.push(e.type); s.onclose = (e) => ok([log, e.code, e.wasClean]); });`,
  "a server that does not know it": `return new Promise((ok) => { const log = []; const s = new WebSocket(base.replace("http", "ws") + "/echo"); s.onerror = (e) => log.push(e.type); s.onclose = (e) => ok([log, e.code, e.wasClean]); });`,
  "wrong arguments": `const attempt = (f) => { try { return f().readyState; } catch (e) { return e.name; } }; return [attempt(() => new WebSocket("nope")), attempt(() => new WebSocket("ftp://x/")), attempt(() => new WebSocket("ws://x/#h")), attempt(() => new WebSocket("ws://x/", ["a", "a"])), attempt(() => new WebSocket("ws://x/", "a b")), attempt(() => { const s = new WebSocket("ws://127.0.0.1:1/"); s.onerror = () => {}; s.send("early"); }), attempt(() => { const s = new WebSocket("ws://127.0.0.1:1/"); s.onerror = () => {}; s.close(1001); }), WebSocket.OPEN, WebSocket.prototype.CLOSED];`,
};

describe.each(Object.entries({ direct, websocket }))("%s", (_, table) => {
  it.each(Object.entries(table))("%s: as in Node", async (_name, code) => {
    const snippet = `${variables()}\n${helpers}\n${code}`;
    expect(await snippets.evaluate(snippet, imports)).toEqual(await inNode(snippet));
  });
});

it("connections of a component's own obey the egress policy", async () => {
  const closed = await startSnippets([]);
  try {
    const seen = await closed.evaluate(
      `${variables()}${helpers} return [await ask({ path: "/echo" }), await ask({ createConnection: undefined, port: proxyPort, path: base }), await new Promise((ok) => { const s = new WebSocket("ws://127.0.0.1:" + wsPort); s.onerror = (e) => ok(e.message); })];`,
      imports,
    );
    expect(seen).toEqual([["Error", "egress_denied"], ["Error", "egress_denied"], expect.stringContaining("127.0.0.1")]);
  } finally {
    await closed.stop();
  }
});
