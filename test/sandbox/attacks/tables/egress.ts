import type { Attack, AttackClass } from "../attack-table.ts";

/** Requests to private addresses, and decompression bombs. Of the non-public addresses only 127.0.0.0/8 is allowed here. */
const closed = /^returned:"(egress_denied|ERR_INVALID_URL|ERR_INVALID_PROTOCOL|ENOTFOUND|EAI_AGAIN|TypeError)"$/;
const code = `(e) => e.cause?.code ?? e.code ?? e.name`;
const fetched = (url: string): Attack => [
  `fetch ${url}`,
  `try { return await fetch(${JSON.stringify(url)}, { redirect: "manual" }).then(() => "open", ${code}); } catch (e) { return e.code ?? e.name; }`,
  closed,
];
const spellings: readonly Attack[] = [
  "http://10.1/",
  "http://167772161/",
  "http://0xa.0.0.1/",
  "http://012.0.0.01/",
  "http://0x0a000001/",
  "http://00000012.0.0.1/",
  "http://10。0。0。1/",
  "http://⑩.0.0.1/",
  "http://192.168.1/",
  "http://172.16.0.1:80/",
  "http://[::ffff:192.168.0.1]/",
  "http://[::ffff:c0a8:1]/",
  "http://[0:0:0:0:0:ffff:a00:1]/",
  "http://[::10.0.0.1]/",
  "http://[64:ff9b::10.0.0.1]/",
  "http://[64:ff9b:1::a00:1]/",
  "http://[2002:a00:1::1]/",
  "http://[2001:0:a9fe:a9fe::1]/",
  "http://[fd12:3456::1]/",
  "http://[fec0::1]/",
  "http://[fe80::1%25eth0]/",
  "http://[::1]/",
  "http://169.254.170.2/",
  "http://169.254.169.254:80/latest/meta-data/",
  "http://example.com@169.254.169.254/",
  "http://user:password@10.0.0.1/",
  "http://10.0.0.1#@example.com/",
  "http://10.0.0.1\\@example.com/",
  "http:10.0.0.1",
  "http:\\\\10.0.0.1",
  "http://10.0.0.1%00.example.com/",
  "http://10.0.0.1%2eexample.com/..",
  "http://10.0.0.1.:80/",
  "http://ⓜetadata.google.internal/",
  "http://metadata/",
  "http://kubernetes.default.svc/",
  "http://nats.headwater.svc.cluster.local:4222/",
  "gopher://10.0.0.1/",
  "dict://10.0.0.1/",
  "unix:/var/run/docker.sock",
  "file://10.0.0.1/share",
  "jar:http://10.0.0.1!/",
].map(fetched);

const connected = (what: string, connect: string): Attack => [
  what,
  `return await new Promise((ok) => { try { const s = ${connect}; s.on("connect", () => ok("open")); s.on("secureConnect", () => ok("open")); s.on("response", () => ok("open")); s.on("error", (e) => ok(e.code ?? e.name)); s.end?.(); } catch (e) { ok(e.code ?? e.name); } })`,
  /^returned:"(egress_denied|EACCES|ENOTFOUND|EAI_AGAIN|ERR_[A-Z_]+)"$/,
];
const sockets: readonly Attack[] = [
  connected("a decimal address", `__builtin("net").connect({ host: "167772161", port: 80 })`),
  connected("a hexadecimal one", `__builtin("net").connect({ host: "0x0a000001", port: 80 })`),
  connected("a mapped one", `__builtin("net").connect({ host: "::ffff:10.0.0.1", port: 80 })`),
  connected("one with a zone", `__builtin("net").connect({ host: "fe80::1%lo", port: 80 })`),
  connected(
    "a lookup of the guest's own",
    `__builtin("net").connect({ host: "example.com", port: 80, lookup: (h, o, done) => done(null, o?.all ? [{ address: "10.0.0.1", family: 4 }] : "10.0.0.1", 4) })`,
  ),
  connected(
    "a lookup of its own for requests",
    `__builtin("http").get({ host: "169.254.169.254", port: 80, lookup: (h, o, done) => done(null, "8.8.8.8", 4) })`,
  ),
  connected(
    "TLS to a private address by another's name",
    `__builtin("tls").connect({ host: "10.0.0.1", port: 443, servername: "example.com" })`,
  ),
  connected("a socket of the machine", `__builtin("net").connect({ path: "/var/run/docker.sock" })`),
  connected("an abstract socket", `__builtin("net").connect({ path: "\\0nats" })`),
  connected("an agent's socket of the machine", `__builtin("http").get({ socketPath: "/run/containerd/containerd.sock", path: "/" })`),
  connected("a port that is none", `__builtin("net").connect({ host: "127.0.0.1", port: 70000 })`),
  connected("another local address", `__builtin("net").connect({ host: "10.0.0.1", port: 80, localAddress: "127.0.0.1" })`),
];

const get = (path: string): string =>
  `await fetch("http://127.0.0.1:" + event + "${path}").then(async (r) => (await r.text()).length, ${code}).catch(${code})`;
/** A call of zlib unfolds up to 64 MiB, the isolate's memory, on the thread pool. */
const bomb =
  /^(returned:40000000|returned:"(response_too_large|ECONNRESET|limit_exceeded|ERR_BUFFER_TOO_LARGE|RangeError|TypeError)"|limited:(memory_limit|run_timeout))/;
const unfolded = (codec: string, name: string): Attack => [
  `${name}, unfolded by the component`,
  `const zlib = __builtin("zlib"); const bytes = Buffer.from(await (await fetch("http://127.0.0.1:" + event + "/raw/${codec}")).arrayBuffer()); try { return zlib.${name}(bytes).length; } catch (e) { return e.code ?? e.name; }`,
  bomb,
];
const unfolding: readonly Attack[] = [
  ...["gzip", "deflate", "br"].map((encoding): Attack => [`a body of ${encoding}`, `return ${get(`/bomb/${encoding}`)}`, bomb]),
  ["a zstd body, which stays compressed", `return ${get("/bomb/zstd")}`, /^returned:\d{1,5}$/],
  ["many at once", `return (await Promise.all(Array.from({ length: 20 }, (_, i) => ${get("/bomb/gzip").replace("await ", "")})))[0]`, bomb],
  unfolded("gzip", "gunzipSync"),
  unfolded("deflate", "inflateSync"),
  unfolded("br", "brotliDecompressSync"),
  [
    "one that is streamed",
    `const zlib = __builtin("zlib"); const bytes = Buffer.from(await (await fetch("http://127.0.0.1:" + event + "/raw/gzip")).arrayBuffer()); let n = 0; return await new Promise((ok) => { const g = zlib.createGunzip(); g.on("data", (c) => { n += c.length; }); g.on("end", () => ok(n > 0 ? "RangeError" : "open")); g.on("error", (e) => ok(e.code)); g.end(bytes); });`,
    bomb,
  ],
  [
    "one that says how much it may be",
    `const zlib = __builtin("zlib"); const bytes = Buffer.from(await (await fetch("http://127.0.0.1:" + event + "/raw/gzip")).arrayBuffer()); try { return zlib.gunzipSync(bytes, { maxOutputLength: 2 ** 40 }).length; } catch (e) { return e.code ?? e.name; }`,
    bomb,
  ],
];

export const egress: readonly AttackClass[] = [
  { title: "spellings of private addresses", attacks: spellings },
  { title: "sockets", attacks: sockets },
  { title: "bombs", attacks: unfolding, server: "http", timeoutMs: 5_000 },
];
