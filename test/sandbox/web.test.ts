import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { evaluateInNode, startSnippets } from "./web-support.ts";
import type { Snippets } from "./web-support.ts";

let snippets: Snippets;
beforeAll(async () => {
  snippets = await startSnippets();
});
afterAll(() => snippets.stop());

/** Calls a function and answers what it returned or how it failed. */
const attempt = `const attempt = async (act) => { try { return await act(); } catch (error) { return [error?.name, error instanceof TypeError || error instanceof RangeError || error instanceof DOMException]; } };\n`;

const url = {
  "parts of a URL": `const u = new URL("https://user:pa%20ss@exAMPLE.com:8080/a/../b%2Fc?x=1&x=2#h"); return [u.href, u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash, String(u), JSON.stringify(u)];`,
  "relative URLs": `return ["../x", "?q", "#f", "//h/p", "/r", "a b", "http:foo"].map((r) => new URL(r, "https://e.com/a/b/c?d#e").href);`,
  "odd hosts": `return ["http://0x7f.1/", "http://[::ffff:1.2.3.4]/", "http://2130706433/", "http://a.b.c./", "http://\u00fcber.de/", "http://xn--ber-goa.de", "http://\u4f8b\u3048.jp/\u30d1\u30b9?\u30af=1", "http://FA\u00df.de"].map((t) => new URL(t).href);`,
  "wrong URLs": `return Promise.all(["", "nope", "http://", "http://a b/", "http://[::1", "http://a:99999/", "http://xn--a/", "http://%zz/"].map((t) => attempt(() => new URL(t).href)));`,
  "code of a wrong URL": `try { new URL("nope"); } catch (e) { return [e.code, e.message, e.input]; }`,
  "setting parts": `const u = new URL("http://a/b"); u.protocol = "https"; u.port = "443"; u.pathname = "x y"; u.search = "a=\u00e9'"; u.hash = "z z"; u.username = "@"; u.hostname = "b.c"; u.port = "8"; return u.href;`,
  "canParse and parse": `return [URL.canParse("x:y"), URL.canParse("/a"), URL.canParse("/a", "http://b"), URL.parse("nope"), URL.parse("/a", "http://b").href];`,
  "instanceof and class names": `const u = new URL("http://a"); return [u instanceof URL, u.constructor === URL, URL.name, Object.prototype.toString.call(u), u.searchParams instanceof URLSearchParams];`,
  "search parameters": `const p = new URLSearchParams("a=1&b=2&a=3&c=%20+x&d"); p.append("e", "\u20ac&="); p.delete("b"); p.set("a", "9"); p.sort(); return [String(p), [...p], p.getAll("a"), p.has("a", "9"), p.size, [...p.keys()], Object.fromEntries(p)];`,
  "search parameters from many things": `return [new URLSearchParams({ a: 1, b: "x y" }), new URLSearchParams([["q", "1"], ["q", "2"]]), new URLSearchParams(new Map([["m", "n"]])), new URLSearchParams("?lead")].map(String);`,
  "search parameters of a URL live": `const u = new URL("http://a/?x=1"); u.searchParams.append("y", "a b"); const s = u.href; u.search = ""; return [s, [...u.searchParams].length];`,
};

const encoding = {
  "round trips": `const e = new TextEncoder(), d = new TextDecoder(); return ["", "abc", "\u00e9\u20ac\ud83d\ude00", "a\\ud800b", "\\udc00", "\u0000\u007f\u0080\u07ff\u0800\uffff"].map((t) => [[...e.encode(t)], d.decode(e.encode(t))]);`,
  "long text": `const t = "\u00e4\ud83d\ude00x".repeat(20000); const b = new TextEncoder().encode(t); return [b.length, new TextDecoder().decode(b) === t, new TextDecoder().decode(new TextEncoder().encode("x".repeat(100001))).length];`,
  "wrong bytes": `const d = new TextDecoder(); return [[0xff], [0xc0, 0x80], [0xe2, 0x82], [0xe2, 0x82, 0x41], [0xf0, 0x9f, 0x98], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0x80, 0x41], [0xf0, 0x80, 0x80, 0x80], [0xe0, 0x80, 0x41], [0xc3, 0xc3, 0xa9]].map((b) => d.decode(new Uint8Array(b)));`,
  fatal: `return Promise.all([[0xff], [0xe2, 0x82], [0x41]].map((b) => attempt(() => new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(b)))));`,
  "streaming byte by byte": `const bytes = new TextEncoder().encode("\ufeffa\u00e9\u20ac\ud83d\ude00z"); const d = new TextDecoder(); const out = []; for (const b of bytes) out.push(d.decode(new Uint8Array([b]), { stream: true })); out.push(d.decode()); return out;`,
  "streaming what stays unfinished": `const d = new TextDecoder(); return [d.decode(new Uint8Array([0x41, 0xe2, 0x82]), { stream: true }), d.decode(), d.decode(new Uint8Array([0xe0, 0x41]), { stream: true }), d.decode(new Uint8Array([0xf0, 0x80]), { stream: true }), d.decode()];`,
  "byte order marks": `const b = new Uint8Array([0xef, 0xbb, 0xbf, 0x41]); return [new TextDecoder().decode(b).length, new TextDecoder("utf-8", { ignoreBOM: true }).decode(b).length];`,
  "utf-16le and latin1": `const u = new TextDecoder("utf-16le"); return [u.decode(new Uint8Array([0x41, 0, 0x3d, 0xd8, 0x00, 0xde])), u.decode(new Uint8Array([0x41])), new TextDecoder("latin1").decode(new Uint8Array([0x41, 0x80, 0x9f, 0xe9, 0xff])), u.encoding, new TextDecoder("LATIN1").encoding];`,
  "other sources of bytes": `const d = new TextDecoder(); const b = new TextEncoder().encode("xhellox"); return [d.decode(b.buffer), d.decode(new DataView(b.buffer, 1, 5)), d.decode(b.subarray(1, 6)), d.decode(), d.decode(new Uint16Array([0x6568]))];`,
  encodeInto: `const t = new Uint8Array(5); return [new TextEncoder().encodeInto("a\u20ac\u20ac", t), [...t], new TextEncoder().encodeInto("\ud83d\ude00\ud83d\ude00", new Uint8Array(7))];`,
  "unknown labels": `return Promise.all(["klingon", ""].map((l) => attempt(() => new TextDecoder(l).encoding)));`,
  base64: `return [btoa(""), btoa("a"), btoa("ab"), btoa("abc"), btoa("\u00ff\u00fe\u00fd"), atob("YQ"), atob("YQ=="), atob(" Y W I = "), atob("YWJj"), atob("/+8=").length].concat(await Promise.all(["a", "a===", "!!!!", "YQ=", "YWJj="].map((t) => attempt(() => atob(t))).concat(attempt(() => btoa("\u20ac")))));`,
};

const events = {
  listeners: `const t = new EventTarget(), log = []; const f = (e) => log.push(["f", e.type, e.target === t, e.eventPhase]); t.addEventListener("x", f); t.addEventListener("x", f); t.addEventListener("x", { handleEvent() { log.push("object"); } }, { once: true }); t.dispatchEvent(new Event("x")); t.removeEventListener("x", f); t.dispatchEvent(new Event("x")); return log;`,
  "prevented and stopped": `const t = new EventTarget(), log = []; t.addEventListener("x", (e) => { e.preventDefault(); e.stopImmediatePropagation(); log.push(1); }); t.addEventListener("x", () => log.push(2)); return [t.dispatchEvent(new Event("x", { cancelable: true })), t.dispatchEvent(new Event("x")), log];`,
  "listeners with a signal": `const t = new EventTarget(), c = new AbortController(); let n = 0; t.addEventListener("x", () => n++, { signal: c.signal }); t.dispatchEvent(new Event("x")); c.abort(); t.dispatchEvent(new Event("x")); return n;`,
  "custom events": `const e = new CustomEvent("x", { detail: { a: 1 }, bubbles: true }); return [e.detail, e.bubbles, e instanceof Event, Object.prototype.toString.call(e)];`,
  aborting: `const c = new AbortController(), log = []; c.signal.onabort = (e) => log.push(e.type); c.signal.addEventListener("abort", () => log.push(c.signal.reason.name)); c.abort(); c.abort("again"); try { c.signal.throwIfAborted(); } catch (e) { log.push([e.name, e.code, e.message, e instanceof DOMException, e instanceof Error]); } return log;`,
  "abort reasons": `return [AbortSignal.abort("why").reason, AbortSignal.abort().reason.name, new AbortController().signal.aborted];`,
  "signals of several": `const a = new AbortController(), b = new AbortController(); const s = AbortSignal.any([a.signal, b.signal]); b.abort("b"); return [s.aborted, s.reason, AbortSignal.any([AbortSignal.abort("x")]).reason, AbortSignal.any([]).aborted];`,
  timeouts: `const s = AbortSignal.timeout(5); await new Promise((r) => s.addEventListener("abort", r)); return [s.reason.name, s.reason.code, s.reason.message];`,
  "illegal constructors": `return Promise.all([() => new AbortSignal(), () => new CryptoKey(), () => new Crypto(), () => new SubtleCrypto()].map(attempt));`,
  DOMException: `const e = new DOMException("m", "DataCloneError"); return [e.name, e.message, e.code, DOMException.ABORT_ERR, e instanceof Error, String(e), new DOMException().name, new DOMException("m", { name: "X", cause: 1 }).cause, e.constructor.name];`,
};

const bodies = {
  headers: `const h = new Headers({ "X-B": " v ", a: 1 }); h.append("a", "2"); h.append("Set-Cookie", "x=1"); h.append("set-cookie", "y=2"); return [[...h], h.get("A"), h.get("set-cookie"), h.getSetCookie(), h.has("x-b"), h.get("nope"), [...h.keys()], [...new Headers([["q", "1"], ["q", "2"]])], [...new Headers(h)], [...new Headers(new Map([["m", "1"]]))]];`,
  "wrong headers": `return Promise.all([() => new Headers({ "a b": "1" }), () => new Headers({ a: "x\\ny" }), () => new Headers([["a"]]), () => new Headers("x"), () => new Headers(null), () => new Headers({ a: "\u20ac" })].map((f) => attempt(() => [...f()])));`,
  "a response": `const r = new Response("h\u00e9llo", { status: 201, statusText: "Made", headers: { a: "b" } }); return [r.status, r.ok, r.statusText, [...r.headers], r.type, r.url, r.redirected, r.bodyUsed, await r.text(), r.bodyUsed, await attempt(() => r.text())];`,
  statuses: `return Promise.all([199, 600, 204, 200].map((status) => attempt(() => new Response(status === 204 ? "x" : null, { status }).status)));`,
  "static responses": `const j = Response.json({ a: [1] }, { status: 202 }); const r = Response.redirect("http://a/b", 301); const e = Response.error(); return [j.status, [...j.headers], await j.json(), r.status, [...r.headers], e.type, e.status];`,
  "kinds of bodies": `const all = ["text", new Uint8Array([104, 105]), new Uint8Array([1, 104, 105]).subarray(1), new Uint8Array([104, 105]).buffer, new URLSearchParams({ a: "b c" }), new Blob(["bl", "ob"], { type: "Text/X" }), new DataView(new Uint8Array([104]).buffer), 12, new ReadableStream({ start(c) { c.enqueue(new Uint8Array([120])); c.close(); } }), null, undefined]; return Promise.all(all.map(async (b) => { const r = new Response(b); return [r.headers.get("content-type"), r.body === null, await r.text()]; }));`,
  "an async iterable as body": `async function* gen() { yield new TextEncoder().encode("a"); yield new TextEncoder().encode("b"); } return new Response(gen()).text();`,
  "ways to read": `const make = () => new Response(" {\\"a\\":1} "); return [await make().json(), [...new Uint8Array(await make().arrayBuffer())].length, (await make().bytes()).length, (await (await make().blob()).text()).length, await attempt(() => new Response("{").json())];`,
  "an empty body read": `const r = new Response(); return [r.body, await r.text(), r.bodyUsed, await r.text(), (await new Response("").text()), new Response("").body === null];`,
  "a body as a stream": `const r = new Response("abc"); const reader = r.body.getReader(); const { value, done } = await reader.read(); return [new TextDecoder().decode(value), done, r.bodyUsed, (await reader.read()).done, await attempt(() => r.text())];`,
  "iterating a body": `let t = ""; for await (const c of new Response("abcdef").body) t += new TextDecoder().decode(c); return t;`,
  clones: `const r = new Response("abc", { headers: { x: "y" }, status: 299 }); const c = r.clone(); const d = c.clone(); return [await r.text(), await c.text(), await d.text(), c.headers.get("x"), c.status, await attempt(() => r.clone())];`,
  "clones of a stream": `const r = new Response(new ReadableStream({ start(c) { c.enqueue(new Uint8Array([97])); c.enqueue(new Uint8Array([98])); c.close(); } })); const c = r.clone(); return [await c.text(), await r.text()];`,
  "a byte order mark in a body": `const b = new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0x7d]); return [await new Response(b).json(), (await new Response(b).text()).length];`,
  "a request": `const r = new Request("http://a/b", { method: "post", body: "x", headers: { h: "v" }, redirect: "manual", keepalive: true }); const c = new Request(r, { headers: { z: "1" } }); return [r.url, r.method, [...r.headers], r.redirect, r.keepalive, r.signal.aborted, r.bodyUsed, [...c.headers], await c.text(), c.method, r.credentials, r.mode, r.cache, r.duplex];`,
  "wrong requests": `return Promise.all([() => new Request("nope"), () => new Request("http://u:p@a/"), () => new Request("http://a", { body: "x" }), () => new Request("http://a", { method: "CONNECT" }), () => new Request("http://a", { method: "a b" }), () => new Request("http://a", { redirect: "x" }), () => new Request("http://a", { signal: {} })].map((f) => attempt(() => f().url)));`,
  "clones of requests": `const r = new Request("http://a", { method: "PUT", body: "abc" }); const c = r.clone(); return [await r.text(), await c.text(), c.method, c.headers.get("content-type")];`,
  methods: `return ["get", "Post", "PATCH", "PURGE", "purge"].map((method) => new Request("http://a", { method }).method);`,
  blobs: `const b = new Blob(["a\u20ac", new Uint8Array([65, 66]), new Blob(["z"])], { type: "TEXT/Plain" }); return [b.size, b.type, await b.text(), await b.slice(0, 1).text(), await b.slice(-1).text(), b.slice(1, 2, "x/y").type, (await b.arrayBuffer()).byteLength, new Blob([1, {}]).size, new Blob(["x"], { type: "\u00e9" }).type];`,
  files: `const f = new File(["abc"], "a.txt", { type: "text/plain", lastModified: 5 }); return [f.name, f.size, f.lastModified, f.type, f instanceof Blob, await f.text(), Object.prototype.toString.call(f), await attempt(() => new File(["x"]))];`,
  "form data": `const f = new FormData(); f.append("a", "1"); f.append("a", 2); f.append("b", new Blob(["x"]), "n.txt"); f.set("c", "3"); f.set("a", "9"); return [f.get("a"), f.getAll("a"), f.has("b"), f.get("b").name, f.get("b") instanceof File, f.get("z"), [...f.keys()], await attempt(() => f.append("x")), [...f].length];`,
  "multipart there and back": `const f = new FormData(); f.append("a\\"b", "x\\ny"); f.append("f", new File(["\\u0000\\u00ff--bin\\r\\n--"], "n\\"m.bin", { type: "x/y" })); f.append("e", ""); const r = new Response(f); const type = r.headers.get("content-type"); const g = await r.formData(); const file = g.get("f"); return [/^multipart\\/form-data; boundary=.+/.test(type), [...g.keys()], g.get('a"b'), file.name, file.type, [...await file.bytes()], g.get("e")];`,
  "multipart from elsewhere": `const body = "--B\\r\\nContent-Disposition: form-data; name=\\"one\\"\\r\\n\\r\\n1\\r\\n--B\\r\\ncontent-disposition: form-data; name=\\"f\\"; filename=\\"x.json\\"\\r\\nContent-Type: application/json\\r\\n\\r\\n{}\\r\\n--B--\\r\\n"; const f = await new Response(body, { headers: { "content-type": "multipart/form-data; boundary=B" } }).formData(); return [f.get("one"), f.get("f").name, f.get("f").type, await f.get("f").text()];`,
  "a form that is urlencoded": `const f = await new Response(new URLSearchParams("a=1&b=%20x")).formData(); return [...f];`,
  "not a form": `return attempt(() => new Response("x").formData());`,
  "data URLs": `const a = await fetch("data:text/plain;base64,aGVsbG8="); const b = await fetch("data:,a%20b"); return [await a.text(), a.headers.get("content-type"), await b.text(), b.headers.get("content-type"), a.status];`,
};

const values = {
  "clones of plain values": `return structuredClone({ a: 1, b: [1, , 3], n: null, u: undefined, s: "x", nested: { t: true } });`,
  "clones of types": `const o = { d: new Date(5), r: /a/gi, m: new Map([[1, { a: 2 }]]), s: new Set([1, 2]), e: new RangeError("m", { cause: 1 }), b: 10n, u: new Uint8Array([1, 2]), f: new Float64Array([1.5]), v: new DataView(new ArrayBuffer(3)), w: new Number(3), i: Infinity, z: -0 }; const c = structuredClone(o); return [c.d.getTime(), String(c.r), c.m.get(1), [...c.s], c.e.name, c.e.message, c.e instanceof RangeError, c.e.cause, String(c.b), [...c.u], c.u.constructor.name, c.f[0], c.v.byteLength, c.w instanceof Number, c.i === Infinity, Object.is(c.z, -0), c.d !== o.d];`,
  "clones of cycles": `const a = { n: 1 }; a.self = a; const m = new Map(); m.set("m", m); const c = structuredClone({ a, b: a, m }); return [c.a.self === c.a, c.a === c.b, c.m.get("m") === c.m];`,
  "clones of shared buffers": `const b = new ArrayBuffer(4); const c = structuredClone([new Uint8Array(b), new Uint8Array(b, 2, 1)]); c[0][2] = 7; return [c[1][0], c[1].byteOffset, c[0].buffer === c[1].buffer];`,
  "what cannot be cloned": `return Promise.all([() => {}, Symbol("s"), { f() {} }, new WeakMap(), Promise.resolve()].map((v) => attempt(() => structuredClone(v) === undefined)));`,
  "class instances and getters": `class P { constructor() { this.x = 1; } get y() { return 2; } } return [structuredClone(new P()), structuredClone(new P()).constructor === Object, structuredClone({ get g() { return 5; } })];`,
  "transferred buffers": `const b = new ArrayBuffer(8); const c = structuredClone({ b }, { transfer: [b] }); return [b.byteLength, c.b.byteLength];`,
  "message channels": `const { port1, port2 } = new MessageChannel(); const got = new Promise((r) => { port2.onmessage = (e) => r(e.data); }); port1.postMessage({ a: [1] }); const answer = await got; port1.close(); return answer;`,
  microtasks: `const log = []; setTimeout(() => log.push("timer"), 0); queueMicrotask(() => log.push("micro")); Promise.resolve().then(() => log.push("promise")); log.push("sync"); await new Promise((r) => setTimeout(r, 10)); return log;`,
  performance: `const t = performance.now(); performance.mark("a"); performance.measure("m", "a"); return [typeof t, t >= 0, performance.timeOrigin > 1e12, performance.getEntriesByName("m").length, performance.getEntriesByType("mark")[0].name];`,
  "random values": `const a = crypto.getRandomValues(new Uint32Array(4)); return [a.length, a.some((x) => x > 0), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()), crypto.randomUUID() !== crypto.randomUUID(), await attempt(() => crypto.getRandomValues(new Uint8Array(65537))), await attempt(() => crypto.getRandomValues(new Float32Array(1)))];`,
  tags: `return [new Headers(), new FormData(), new Blob(), new Response(), new Request("http://a"), new AbortController(), new EventTarget(), crypto, crypto.subtle, new TextEncoder(), new URLSearchParams(), new ReadableStream()].map((o) => [Object.prototype.toString.call(o), o.constructor.name]);`,
};

const subtle = {
  digests: `return Promise.all(["SHA-1", "SHA-256", "SHA-384", { name: "SHA-512" }].map(async (a) => [...new Uint8Array(await crypto.subtle.digest(a, new TextEncoder().encode("abc")))].slice(0, 4)));`,
  HMAC: `const k = await crypto.subtle.importKey("raw", new TextEncoder().encode("key"), { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]); const s = await crypto.subtle.sign("HMAC", k, new TextEncoder().encode("m")); return [s instanceof ArrayBuffer, [...new Uint8Array(s)], await crypto.subtle.verify("HMAC", k, s, new TextEncoder().encode("m")), await crypto.subtle.verify("HMAC", k, s, new TextEncoder().encode("n")), k.type, k.extractable, k.algorithm, k.usages, k instanceof CryptoKey, await attempt(() => crypto.subtle.exportKey("raw", k))];`,
  "AES-GCM": `const k = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, true, ["encrypt", "decrypt"]); const iv = new Uint8Array(12); const c = await crypto.subtle.encrypt({ name: "AES-GCM", iv, additionalData: new Uint8Array([1]) }, k, new TextEncoder().encode("secret")); return [new TextDecoder().decode(await crypto.subtle.decrypt({ name: "AES-GCM", iv, additionalData: new Uint8Array([1]) }, k, c)), c.byteLength, (await crypto.subtle.exportKey("raw", k)).byteLength, await attempt(() => crypto.subtle.decrypt({ name: "AES-GCM", iv }, k, c))];`,
  PBKDF2: `const k = await crypto.subtle.importKey("raw", new TextEncoder().encode("pw"), "PBKDF2", false, ["deriveBits", "deriveKey"]); const b = await crypto.subtle.deriveBits({ name: "PBKDF2", salt: new Uint8Array(8), iterations: 1000, hash: "SHA-256" }, k, 128); const d = await crypto.subtle.deriveKey({ name: "PBKDF2", salt: new Uint8Array(8), iterations: 1000, hash: "SHA-256" }, k, { name: "AES-CBC", length: 128 }, true, ["encrypt"]); return [[...new Uint8Array(b)], [...new Uint8Array(await crypto.subtle.exportKey("raw", d))]];`,
  "key pairs and JWK": `const p = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]); const s = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, p.privateKey, new Uint8Array([1])); const jwk = await crypto.subtle.exportKey("jwk", p.publicKey); const q = await crypto.subtle.importKey("jwk", jwk, { name: "ECDSA", namedCurve: "P-256" }, true, ["verify"]); return [jwk.kty, jwk.crv, Object.keys(jwk).sort(), await crypto.subtle.verify({ name: "ECDSA", hash: "SHA-256" }, q, s, new Uint8Array([1])), p.publicKey.type, p.privateKey.usages];`,
  RSA: `const p = await crypto.subtle.generateKey({ name: "RSASSA-PKCS1-v1_5", modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" }, true, ["sign", "verify"]); const s = await crypto.subtle.sign("RSASSA-PKCS1-v1_5", p.privateKey, new Uint8Array([1])); return [s.byteLength, [...p.publicKey.algorithm.publicExponent], p.publicKey.algorithm.hash, (await crypto.subtle.exportKey("spki", p.publicKey)) instanceof ArrayBuffer];`,
  "wrong algorithms": `return Promise.all([() => crypto.subtle.digest("MD5", new Uint8Array(1)), () => crypto.subtle.importKey("raw", new Uint8Array(1), "nope", false, [])].map(attempt));`,
};

const streams = {
  "reading and cancelling": `let cancelled; const s = new ReadableStream({ pull(c) { c.enqueue("x"); }, cancel(r) { cancelled = r; } }); const r = s.getReader(); const first = await r.read(); await r.cancel("enough"); return [first, cancelled, s.locked];`,
  pipes: `const out = []; await new ReadableStream({ start(c) { c.enqueue("a"); c.enqueue("b"); c.close(); } }).pipeThrough(new TransformStream({ transform(x, c) { c.enqueue(x.toUpperCase()); } })).pipeTo(new WritableStream({ write(x) { out.push(x); } })); return out;`,
  "tee and iterate": `const [a, b] = ReadableStream.from([1, 2, 3]).tee(); const read = async (s) => { const out = []; for await (const x of s) out.push(x); return out; }; return Promise.all([read(a), read(b)]);`,
  "text streams": `const s = ReadableStream.from(["\u20ac", "\\ud83d", "\\ude00"]).pipeThrough(new TextEncoderStream()); const bytes = []; for await (const c of s) bytes.push(...c); const t = new ReadableStream({ start(c) { for (const b of bytes) c.enqueue(new Uint8Array([b])); c.close(); } }).pipeThrough(new TextDecoderStream()); let text = ""; for await (const c of t) text += c; return [bytes, text];`,
  compression: `const out = []; for (const f of ["gzip", "deflate", "deflate-raw"]) { const packed = await new Response(new Blob(["hello ".repeat(1000)]).stream().pipeThrough(new CompressionStream(f))).bytes(); const text = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream(f))).text(); out.push([packed.length < 200, text.length]); } return out;`,
  "byte streams": `const s = new ReadableStream({ type: "bytes", start(c) { c.enqueue(new Uint8Array([1, 2, 3])); c.close(); } }); const r = s.getReader({ mode: "byob" }); const a = await r.read(new Uint8Array(2)); const b = await r.read(new Uint8Array(2)); return [[...a.value], [...b.value], (await r.read(new Uint8Array(2))).done];`,
  errors: `const s = new ReadableStream({ start(c) { c.error(new RangeError("bad")); } }); return attempt(() => s.getReader().read());`,
};

describe.each(Object.entries({ url, encoding, events, bodies, values, subtle, streams }))("%s", (_, table) => {
  it.each(Object.entries(table))("%s are as in Node", async (_name, code) => {
    const snippet = code.includes("attempt(") || code.includes("(attempt)") ? attempt + code : code;
    expect(await snippets.evaluate(snippet)).toEqual(await evaluateInNode(snippet));
  });
});
