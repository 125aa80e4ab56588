import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { certificate } from "./certificate.ts";
import { startSnippets } from "../web-support.ts";
import { withSnippetServers } from "./snippet-servers.ts";

const net = withSnippetServers();

const names = ["http", "https", "net", "tls", "dns", "zlib", "stream", "util", "events"] as const;
const imports = names
  .map((name) => `import * as ${name}Module from "${name}"; const ${name} = ${name}Module.default ?? ${name}Module;`)
  .join("\n");

/** Collects a response, or how the request failed. */
const helpers = `
const read = (res) => new Promise((ok, no) => { const c = []; res.on("data", (d) => c.push(d)); res.on("end", () => ok(Buffer.concat(c))); res.on("error", no); });
const send = (module, url, options = {}, body) => new Promise((ok, no) => { const args = typeof url === "string" || url instanceof URL ? [url, options] : [url]; const req = module.request(...args, async (res) => { try { const b = await read(res); ok({ status: res.statusCode, message: res.statusMessage, headers: res.headers, rawHeaders: res.rawHeaders, trailers: res.trailers, complete: res.complete, text: b.toString(), length: b.length }); } catch (e) { no(e); } }); req.on("error", no); req.end(body); });
const failure = (e) => [e.name, e.code, e.message];
`;

async function inNode(code: string): Promise<unknown> {
  const require = createRequire(import.meta.url);
  const run = new Function(...names, `return (async () => {\n${code}\n})()`) as (...modules: unknown[]) => Promise<unknown>;
  return JSON.parse(JSON.stringify((await run(...names.map((name) => require(`node:${name}`)))) ?? null));
}

const variables = (): string =>
  `const base = ${JSON.stringify(net.servers.http)}, secure = ${JSON.stringify(net.servers.https)}, closed = ${JSON.stringify(net.servers.closed)}, port = ${net.servers.httpPort}, tcpPort = ${net.servers.tcpPort}, tlsPort = ${net.servers.tlsPort}, ca = ${JSON.stringify(certificate)};`;

const http = {
  "an answer": `const r = await send(http, base + "/echo?x='{}'"); const b = JSON.parse(r.text); return [r.status, r.message, r.headers["x-multi"], r.headers["set-cookie"], r.rawHeaders.filter((h) => /multi/i.test(h)), r.complete, b.method, b.url, b.rawHeaders];`,
  "options instead of a URL": `const r = await send(http, { hostname: "127.0.0.1", port, path: "/echo", method: "put", headers: { "X-A": 1, "x-b": ["1", "2"] }, auth: "u:p" }, {}, "body"); const b = JSON.parse(r.text); return [b.method, b.body, b.headers];`,
  "a URL object and options": `const r = await send(http, new URL(base + "/echo"), { method: "DELETE" }); return JSON.parse(r.text).method;`,
  "a body in pieces": `const r = await new Promise((ok, no) => { const q = http.request(base + "/echo", { method: "POST" }, async (res) => ok((await read(res)).toString())); q.on("error", no); q.write("a"); q.write(Buffer.from("b")); setTimeout(() => q.end("c"), 5); }); return JSON.parse(r).body;`,
  get: `return new Promise((ok) => http.get(base + "/status?code=404&body=no", async (res) => ok([res.statusCode, (await read(res)).toString(), http.STATUS_CODES[404]])));`,
  trailers: `const r = await send(http, base + "/chunked"); return [r.text, r.trailers];`,
  "redirects left alone": `const r = await send(http, base + "/redirect"); return [r.status, r.headers.location, r.text];`,
  "compressed bodies left alone": `const r = await new Promise((ok) => http.get(base + "/encoded?coding=gzip", async (res) => ok([res.headers["content-encoding"], zlib.gunzipSync(await read(res)).length]))); return r;`,
  "a body piped through gunzip": `return new Promise((ok, no) => http.get(base + "/encoded?coding=gzip", (res) => { let n = 0; stream.pipeline(res, zlib.createGunzip(), new stream.Writable({ write(c, e, cb) { n += c.length; cb(); } }), (e) => e ? no(e) : ok(n)); }));`,
  "ten megabytes": `const r = await send(http, base + "/big?bytes=10000000"); return r.length;`,
  "async iteration": `return new Promise((ok) => http.get(base + "/slow", async (res) => { let t = ""; for await (const c of res) t += c; ok(t); }));`,
  "text by setEncoding": `return new Promise((ok) => http.get(base + "/chunked", (res) => { res.setEncoding("utf8"); let t = ""; res.on("data", (d) => (t += typeof d === "string" ? d : "?")); res.on("end", () => ok(t)); }));`,
  "a refused connection": `return send(http, closed).catch((e) => [...failure(e), e.syscall]);`,
  "a timeout": `return new Promise((ok) => { const q = http.request(base + "/never", { timeout: 30 }); const log = []; q.on("timeout", () => { log.push("timeout"); q.destroy(); }); q.on("error", (e) => log.push(failure(e))); q.on("close", () => ok([...log, q.destroyed])); q.end(); });`,
  "a timeout by setTimeout": `return new Promise((ok) => { const q = http.get(base + "/never"); q.on("error", (e) => ok(failure(e))); q.setTimeout(30, () => q.destroy(new Error("mine"))); });`,
  "destroying with an error": `return new Promise((ok) => { const q = http.get(base + "/never"); q.on("error", (e) => ok(failure(e))); setTimeout(() => q.destroy(new RangeError("why")), 20); });`,
  aborting: `return new Promise((ok) => { const q = http.get(base + "/never"); const log = []; q.on("abort", () => log.push("abort")); q.on("error", (e) => log.push(failure(e))); q.on("close", () => ok([...log, q.aborted])); setTimeout(() => q.abort(), 20); });`,
  "a signal": `return new Promise((ok) => { const c = new AbortController(); const q = http.get(base + "/never", { signal: c.signal }); q.on("error", (e) => ok(failure(e))); setTimeout(() => c.abort(), 20); });`,
  "a body cut short": `return new Promise((ok) => http.get(base + "/cut", (res) => { const log = []; res.resume(); res.on("aborted", () => log.push("aborted")); res.on("error", (e) => log.push(failure(e))); res.on("close", () => ok([...log, res.complete])); }));`,
  "order of events": `return new Promise((ok) => { const log = []; const q = http.request(base + "/chunked"); for (const n of ["socket", "finish", "response", "close"]) q.on(n, () => log.push(n)); q.on("response", (res) => { res.on("end", () => log.push("end")); res.on("close", () => log.push("res close")); res.resume(); }); q.on("close", () => ok(log)); q.end(); });`,
  "headers of a request": `const q = http.request(base + "/echo"); q.on("error", () => {}); q.setHeader("X-Aa", "1"); q.appendHeader("x-aa", "2"); const out = [q.getHeader("x-AA"), q.hasHeader("X-aa"), q.getHeaderNames().sort(), q.getRawHeaderNames().includes("X-Aa"), q.path, q.method, q.host, q.protocol]; q.removeHeader("x-aa"); out.push(q.hasHeader("x-aa")); q.destroy(); return out;`,
  "wrong arguments": `return [() => http.request(base, { method: "A B" }), () => http.request({ path: "/a b" }), () => http.request("https://a/"), () => http.request("nope"), () => http.request(base, { headers: { "a b": "1" } }), () => http.request(base, { headers: { a: "x\\r\\ny" } })].map((f) => { try { f().destroy(); return "made"; } catch (e) { return [e.name, e.code]; } });`,
  "many at once": `const all = await Promise.all(Array.from({ length: 60 }, (_, i) => send(http, base + "/echo?i=" + i))); return all.every((r, i) => JSON.parse(r.text).url === "/echo?i=" + i);`,
  "a big upload by pipe": `return new Promise((ok, no) => { const q = http.request(base + "/length", { method: "POST" }, async (res) => ok((await read(res)).toString())); q.on("error", no); stream.Readable.from([Buffer.alloc(1e6), Buffer.alloc(2e6)]).pipe(q); });`,
  "TLS that is trusted": `const r = await send(https, secure + "/echo", { ca }); return [r.status, JSON.parse(r.text).method];`,
  "TLS that is not trusted": `return send(https, secure + "/echo").catch((e) => [e.code, e.message]);`,
  "TLS that need not be trusted": `const r = await send(https, secure + "/echo", { agent: new https.Agent({ rejectUnauthorized: false }) }); return r.status;`,
  "names of the module": `return [http.METHODS.includes("PATCH"), http.maxHeaderSize, typeof http.Agent, http.globalAgent instanceof http.Agent, https.globalAgent instanceof http.Agent, http.globalAgent.protocol, https.globalAgent.defaultPort, Object.keys(http.STATUS_CODES).length];`,
};

const sockets = {
  "a conversation": `return new Promise((ok, no) => { const s = net.connect(tcpPort, "127.0.0.1"); let t = ""; s.setEncoding("utf8"); s.on("connect", () => s.write("echo 1\\n")); s.on("data", (d) => { t += d; if (t.endsWith("echo 1\\n")) s.write("quit"); }); s.on("end", () => (t += "end")); s.on("close", (e) => ok([t, e, s.destroyed])); s.on("error", no); });`,
  "options and events": `return new Promise((ok, no) => { const log = []; const s = net.createConnection({ host: "localhost", port: tcpPort, family: 4 }, () => { log.push(s.remoteAddress, s.remotePort === tcpPort, s.connecting, s.readyState); s.end("quit"); }); log.push(s.connecting); s.resume(); s.on("close", () => ok(log)); s.on("error", no); });`,
  "writes before the connection": `return new Promise((ok) => { const s = new net.Socket(); s.connect(tcpPort, "127.0.0.1"); s.write("a"); s.write("b\\n"); let t = ""; s.on("data", (d) => { t += d; if (t.includes("b")) { s.destroy(); ok(t.replace("hello\\n", "")); } }); });`,
  "a megabyte there and back": `return new Promise((ok) => { const s = net.connect(tcpPort, "127.0.0.1"); let n = 0; s.on("data", (d) => { n += d.length; if (n === 1000006) { s.destroy(); ok(n); } }); s.write(Buffer.alloc(1000000, "y")); });`,
  "a refused socket": `return new Promise((ok) => { const s = net.connect(Number(new URL(closed).port), "127.0.0.1"); s.on("error", (e) => ok([e.code, e.syscall])); });`,
  "a silent socket": `return new Promise((ok) => { const s = net.connect(tcpPort, "127.0.0.1"); s.resume(); s.setTimeout(40, () => { s.destroy(); ok("timeout"); }); });`,
  "a wrong port": `try { net.connect(70000); } catch (e) { return [e.name, e.code]; }`,
  TLS: `return new Promise((ok, no) => { const s = tls.connect({ host: "localhost", port: tlsPort, ca, family: 4 }, () => { const out = [s.authorized, s.encrypted, s.getProtocol()]; s.once("data", (d) => { s.destroy(); ok([...out, String(d)]); }); s.write("ping"); }); s.on("error", no); });`,
  "TLS that is refused": `return new Promise((ok) => { const s = tls.connect(tlsPort, "127.0.0.1"); s.on("error", (e) => ok(e.code)); });`,
  STARTTLS: `return new Promise((ok, no) => { const s = net.connect(tcpPort, "127.0.0.1"); s.on("error", no); s.once("data", () => { s.write("STARTTLS"); s.once("data", (d) => { const log = [String(d)]; const t = tls.connect({ socket: s, ca, servername: "localhost" }, () => t.write("secret")); t.on("error", no); t.once("data", (x) => { log.push(String(x), t.authorized); t.on("close", () => ok(log)); t.end(); }); }); }); });`,
  addresses: `return ["1.2.3.4", "1.2.3", "256.1.1.1", "01.2.3.4", "::", "::1", "1::2::3", "fe80::1%eth0", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7", "x", ""].map((a) => [net.isIP(a), net.isIPv4(a), net.isIPv6(a)]);`,
  names: `const one = await util.promisify(dns.lookup)("localhost", { family: 4 }); const all = await dns.promises.lookup("127.0.0.1", { all: true }); const cb = await new Promise((ok) => dns.lookup("127.0.0.1", (e, a, f) => ok([e, a, f]))); return [one, all, cb];`,
};

const zlib = {
  "round trips": `const text = Buffer.from("squeeze me ".repeat(500)); const out = []; for (const [a, b] of [["gzip", "gunzip"], ["deflate", "inflate"], ["deflateRaw", "inflateRaw"], ["brotliCompress", "brotliDecompress"], ["gzip", "unzip"], ["deflate", "unzip"]]) { const s = zlib[a + "Sync"](text); const p = await util.promisify(zlib[a])(text); const streamed = await new Promise((ok, no) => { const c = []; const z = zlib["create" + b[0].toUpperCase() + b.slice(1)](); z.on("data", (d) => c.push(d)).on("end", () => ok(Buffer.concat(c))).on("error", no); for (let i = 0; i < p.length; i += 7) z.write(p.subarray(i, i + 7)); z.end(); }); out.push([a, s.length, s.equals(p), Buffer.isBuffer(p), zlib[b + "Sync"](s).equals(text), (await util.promisify(zlib[b])(p)).equals(text), streamed.equals(text)]); } return out;`,
  options: `const t = "abc".repeat(1000); return [zlib.gzipSync(t, { level: 0 }).length > 3000, zlib.deflateSync(t, { level: 9, dictionary: Buffer.from("abcabc") }).length < 40, zlib.brotliCompressSync(t, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }).length < 100];`,
  "broken input": `const out = []; try { zlib.gunzipSync("nope"); } catch (e) { out.push([e.code, e.errno, e.message]); } await new Promise((ok) => zlib.inflate(Buffer.from("nope"), (e) => { out.push([e.code, e.errno]); ok(); })); await new Promise((ok) => zlib.createGunzip().on("error", (e) => { out.push([e.code, e.errno]); ok(); }).end("nope")); return out;`,
  "truncated input": `const z = zlib.gzipSync("hello".repeat(100)).subarray(0, 20); const out = []; try { zlib.gunzipSync(z); } catch (e) { out.push(e.code, e.message); } out.push(zlib.gunzipSync(z, { finishFlush: zlib.constants.Z_SYNC_FLUSH }).length >= 0); return out;`,
  flush: `return new Promise((ok) => { const z = zlib.createGzip(); const c = []; z.on("data", (d) => c.push(d)); z.write("part"); z.flush(() => { const early = zlib.gunzipSync(Buffer.concat(c), { finishFlush: 2 }).toString(); z.end("rest"); z.on("end", () => ok([early, zlib.gunzipSync(Buffer.concat(c)).toString()])); }); });`,
  reset: `return new Promise((ok) => { const z = zlib.createDeflateRaw(); const out = []; let c = []; z.on("data", (d) => c.push(d)); const part = (then) => { z.write("hello hello"); z.flush(zlib.constants.Z_SYNC_FLUSH, () => { out.push(Buffer.concat(c).toString("hex")); c = []; z.reset(); then(); }); }; part(() => part(() => { z.close(); ok(out); })); });`,
  "calls without new": `return [zlib.Gzip() instanceof stream.Transform, typeof zlib.createBrotliCompress().close, zlib.constants.Z_BEST_SPEED, zlib.Z_BEST_SPEED, zlib.codes.Z_OK, zlib.crc32("hello"), zlib.crc32(Buffer.from("lo"), zlib.crc32("hel"))];`,
  "too much output": `const bomb = zlib.gzipSync(Buffer.alloc(3000000)); try { zlib.gunzipSync(bomb, { maxOutputLength: 1000000 }); } catch (e) { return [e.name, e.code, e.message]; }`,
};

describe.each(Object.entries({ http, sockets, zlib }))("%s", (_, table) => {
  it.each(Object.entries(table))("%s: as in Node", async (_name, code) => {
    const snippet = `${variables()}\n${helpers}\n${code}`;
    expect(await net.snippets.evaluate(snippet, imports)).toEqual(await inNode(snippet));
  });
});

describe("unsupported requests", () => {
  it.each([
    ["listening", `http.createServer();`],
    ["listening with TLS", `https.createServer();`],
    ["listening on TCP", `net.createServer();`],
    ["a socket path", `http.request({ socketPath: "/var/run/docker.sock" });`],
    ["a local socket", `net.connect("/var/run/docker.sock");`],
  ])("%s reports that and the alternative", async (_, code) => {
    const answer = await net.snippets.evaluate(`${variables()} try { ${code} } catch (e) { return [e.code, e.message]; }`, imports);
    expect(answer).toEqual(["ERR_SANDBOX_UNSUPPORTED", expect.stringMatching(/not available to components: ./)]);
  });

  it("more than 20 sockets", async () => {
    const codes = await net.snippets.evaluate(
      `${variables()} return Promise.all(Array.from({ length: 25 }, () => new Promise((ok) => { const s = net.connect(tcpPort, "127.0.0.1"); s.on("data", () => ok("open")); s.on("error", (e) => ok(e.code)); })));`,
      imports,
    );
    expect((codes as string[]).filter((code) => code === "open")).toHaveLength(20);
    expect((codes as string[]).filter((code) => code === "EMFILE")).toHaveLength(5);
  });

  it("more than 64 MiB of one call that decompresses", async () => {
    const codes = await net.snippets.evaluate(
      `const part = zlib.gzipSync(Buffer.alloc(10_000_000)); const bomb = Buffer.concat(Array(7).fill(part)); const code = (work) => { try { return work().length; } catch (e) { return e.code; } }; return [code(() => zlib.gunzipSync(bomb)), code(() => zlib.gunzipSync(part)), await util.promisify(zlib.gunzip)(bomb).catch((e) => e.code)];`,
      imports,
    );
    expect(codes).toEqual(["ERR_BUFFER_TOO_LARGE", 10_000_000, "ERR_BUFFER_TOO_LARGE"]);
  });
});

it("keeps connections alive between requests of a run", async () => {
  const before = net.servers.connections();
  await net.snippets.evaluate(`${variables()}${helpers} for (let i = 0; i < 5; i++) await send(http, base + "/echo"); return 1;`, imports);
  expect(net.servers.connections() - before).toBe(1);
});

it("sockets obey the egress policy", async () => {
  const closed = await startSnippets([]);
  try {
    const codes = await closed.evaluate(
      `const open = (module, port) => new Promise((ok) => { const s = module.connect({ host: "127.0.0.1", port }); s.on("error", (e) => ok(e.code)); s.on("connect", () => ok("reached")); }); return [await open(net, ${net.servers.tcpPort}), await open(tls, ${net.servers.tlsPort}), await dns.promises.lookup("localhost").catch((e) => e.code), await new Promise((ok) => http.get("http://localhost:${net.servers.httpPort}/").on("error", (e) => ok(e.code)))];`,
      imports,
    );
    expect(codes).toEqual(["egress_denied", "egress_denied", "egress_denied", "egress_denied"]);
  } finally {
    await closed.stop();
  }
});
