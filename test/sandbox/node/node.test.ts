import { builtinModules } from "node:module";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compare, expectSame, type Comparison, type Snippets } from "./node-comparison.ts";
import { errorOf, shareSandbox, type SandboxFixture } from "../sandbox-fixture.ts";

/** The Node layer beside Node itself: the same snippets, the same output. */
const snippets: Snippets = {
  "buffer: encodings": `for (const e of ["utf8", "hex", "base64", "base64url", "latin1", "ascii", "utf16le"]) print(e, Buffer.from("héllo wörld ✓?>").toString(e), Buffer.byteLength("aGk_-w", e), Buffer.isEncoding(e)); print(Buffer.from("aGk_-w", "base64url"), Buffer.from("aGk=", "base64"), Buffer.from("zz", "hex"))`,
  "buffer: numbers": `const b = Buffer.alloc(16); b.writeUInt32BE(0xdeadbeef, 0); b.writeDoubleLE(1.5, 4); b.writeInt16LE(-2, 12); print(b, b.readUInt32BE(), b.readUint32BE(0), b.readDoubleLE(4), b.readInt16LE(12)); b.writeBigInt64BE(-5n, 0); print(b.readBigInt64BE(), b.readUIntBE(0, 6))`,
  "buffer: slices share memory": `const b = Buffer.from("abcdef"); const s = b.subarray(1, 3); s[0] = 120; print(b.toString(), s.toString(), b.slice(-2).toString(), b.indexOf("de"), b.includes("zz"), b.equals(Buffer.from("axcdef")), Buffer.compare(b, s), b.toJSON())`,
  "buffer: helpers": `const { Buffer: B, isUtf8, transcode, constants, kMaxLength } = require("buffer"); print(B === Buffer, isUtf8(Buffer.from([0xff])), transcode(Buffer.from("é€"), "utf8", "latin1"), Buffer.concat([Buffer.from("a"), new Uint8Array([98])]).toString(), Buffer.from("x").latin1Slice(), Buffer.alloc(3, "ab").toString(), Buffer.from([1, 2, 3]).fill(0).length, Buffer.isBuffer(new Uint8Array(1)), Buffer.from({ type: "Buffer", data: [1] }))`,
  "inspect: nesting": `const { inspect } = require("util"); class A { constructor() { this.x = 1; this.me = this; } } class B extends A {} const o = { a: { b: { c: { d: 1 } } }, arr: [[[[1]]]], m: new Map([["k", { v: 1 }]]), s: new Set(["a"]), f() {}, g: () => 1, k: class Foo extends Map {}, d: new Date(0), r: /x/gi, n: null, u: undefined, "a-b": 1, big: 10n, z: -0, [Symbol("q")]: 1 }; for (const v of [o, new A(), new B(), [1, 2, 3], [, 1], Object.create(null), new Uint8Array(3), Buffer.from("hi"), "it's", ["a\\nb"], new (class Empty {})(), Array.from({ length: 120 }, (_, i) => i), Array.from({ length: 30 }, (_, i) => "item" + i), { get a() { return 1; } }, new Number(3), function foo() {}]) print(inspect(v));`,
  "inspect: errors": `const { inspect } = require("util"); class E2 extends Error { constructor(m) { super(m); this.name = "E2"; this.code = 5; } } const e = new E2("boo"); e.stack = "E2: boo\\n    at x (f.js:1:2)"; print(inspect(e)); print(inspect({ e })); const w = new Error("no stack"); w.stack = undefined; print(inspect(Object.assign(new Error("m"), { stack: "Error: m" })));`,
  "inspect: custom and options": `const { inspect } = require("util"); print(inspect({ [inspect.custom](depth, o, i) { return "<" + depth + typeof o.stylize + (i === inspect) + ">"; } }), inspect({ a: { b: {} } }, { depth: 0 }), inspect({ b: 1, a: 2 }, { sorted: true }), inspect([1, 2, 3, 4], { maxArrayLength: 2 }), inspect({ a: 1 }, { colors: true }), inspect({ a: 1, b: [1] }, { compact: false }), inspect({ a: { b: 1 } }, { breakLength: 5 }))`,
  format: `const { format } = require("util"); print(format("%s %d %i %f %j %o %O %%", "a", "1.5", "2.7", "3.1", { a: 1 }, { b: 1 }, { c: { d: {} } }), format("a", "b", { c: 1 }), format(1, "x", null), format("%s", { a: 1 }), format("%s", Symbol("x")), format("%d", 5n), format("%s %s", "only"), format("%s", new Date(0)), format("%c x", "css"))`,
  "util: promisify, callbackify, deprecate": `const util = require("util"); const f = (a, cb) => cb(null, a + 1); print(await util.promisify(f)(1)); util.callbackify(async (x) => x * 2)(4, (e, v) => print(e, v)); await new Promise((r) => setTimeout(r, 5)); print(attempt(() => util.promisify(1))); function P() {} function C() {} util.inherits(C, P); print(new C() instanceof P, C.super_ === P); f[util.promisify.custom] = () => "custom"; print(util.promisify(f)());  print(await util.promisify(setTimeout)(1, "timer"))`,
  "util: types and equality": `const { types, isDeepStrictEqual: eq } = require("util"); for (const [n, v] of Object.entries({ map: new Map(), set: new Set(), date: new Date(), re: /x/, err: new TypeError(), u8: new Uint8Array(), ab: new ArrayBuffer(1), p: Promise.resolve(), f: async () => {}, g: function* () {}, box: Object(1n), args: (function () { return arguments; })() })) print(n, Object.keys(types).filter((t) => !["isProxy", "isExternal"].includes(t) && types[t](v)).sort()); print(eq({ a: [1, { b: new Map([[{ x: 1 }, new Set([1])]]) }] }, { a: [1, { b: new Map([[{ x: 1 }, new Set([1])]]) }] }), eq([1], ["1"]), eq(NaN, NaN), eq(0, -0), eq(new Date(1), new Date(2)), eq(new (class A {})(), {}), eq(Buffer.from("a"), Buffer.from("a")))`,
  "util: the rest": `const u = require("util"); print(u.stripVTControlCharacters("\\u001b[31mx\\u001b[39m"), u.toUSVString("\\ud800"), u.parseArgs({ args: ["-f", "--bar", "b", "pos", "--no-c"], options: { f: { type: "boolean", short: "f" }, bar: { type: "string" }, c: { type: "boolean" } }, allowPositionals: true, allowNegative: true }), attempt(() => u.parseArgs({ args: ["--x"] })).code, new u.MIMEType("text/html; charset=UTF-8;q=\\"a;b\\"").toString(), u.parseEnv("A=1\\nB='x y'\\n#c"), u.styleText("red", "x", { validateStream: false }), u.getSystemErrorName(-2), new u.TextEncoder().encode("é"))`,
  path: `const p = require("path"); for (const a of ["", ".", "..", "/", "//", "a/b", "/a/b/", "a//b/../c", "./a", "/..", ".a.b", "/x.y/z", "a/."]) print(p.normalize(a), p.dirname(a), p.basename(a), p.extname(a), p.isAbsolute(a), p.resolve(a), p.relative("/tmp/q", a)); print(p.join("a", "../..", "b"), p.parse("/home/u/file.txt"), p.format({ dir: "/x", name: "f", ext: "txt" }), p.basename("a.html", ".html"), p.win32.join("a", "b"), p.win32.parse("C:\\\\a\\\\b.c"), p.sep, p.posix === p, attempt(() => p.join(1)))`,
  url: `const u = require("url"); for (const a of ["http://user:pa%20ss@Host.com:8080/p/a?q=s#h", "/a/b?x=1&y=2", "mailto:a@b.c", "//h/p", "http://h/a b", "", "#a"]) { print({ ...u.parse(a) }); print(u.format(u.parse(a, true))); } for (const b of ["b", "/b", "../b", "?x", "#h", "//o/p", "http://z/", "", ".."]) print(u.resolve("http://a.com/x/y/z?q#f", b)); print(u.fileURLToPath("file:///a%20b"), u.pathToFileURL("/a b#?%").href, u.urlToHttpOptions(new URL("https://u:p@h.com:1/x?y")).auth, u.domainToASCII("español.com"), u.domainToUnicode("xn--espaol-zwa.com"), u.format(new URL("https://u:p@h/x#y"), { auth: false, fragment: false }))`,
  querystring: `const q = require("querystring"); print(q.parse("a=1&b=2&a=3&c=%zz&d=%E4%BD%A0&e+f=g+h&=x&&k"), q.stringify({ a: [1, "x y"], b: true, c: null, e: NaN, f: "!'()*~é" }), q.parse("a:1;b:2", ";", ":"), q.stringify({ a: 1, b: 2 }, ";", ":"), q.escape("a b&c"), q.unescape("a%20b%"))`,
  string_decoder: `const { StringDecoder } = require("string_decoder"); const d = new StringDecoder("utf8"); const b = Buffer.from("€uro✓"); print(d.write(b.subarray(0, 1)) + "|" + d.write(b.subarray(1, 4)) + "|" + d.write(b.subarray(4, 8)) + "|" + d.end()); const s = new StringDecoder("base64"); print(s.write(Buffer.from("ab")), s.end(Buffer.from("c")))`,
  punycode: `const p = require("punycode"); print(p.toASCII("mañana.com"), p.decode("maana-pta"), p.encode("mañana"), p.ucs2.decode("💩"))`,
  events: `const E = require("events"); const e = new E(); e.on("x", (...a) => print("on", a)); e.once("x", () => print("once")); e.prependListener("x", () => print("first")); e.emit("x", 1); e.emit("x", 2); print(e.listenerCount("x"), e.eventNames(), E.getEventListeners(e, "x").length, E.defaultMaxListeners); setTimeout(() => e.emit("y", 7)); print(await E.once(e, "y")); e.on(E.errorMonitor, (er) => print("monitor", er.message)); print(attempt(() => e.emit("error", new Error("bad"))).message); const c = new E({ captureRejections: true }); c.on("error", (er) => print("captured", er.message)); c.on("z", async () => { throw new Error("async"); }); c.emit("z"); await new Promise((r) => setTimeout(r, 5)); const ac = new AbortController(); setTimeout(() => { e.emit("q", 1); e.emit("q", 2); setTimeout(() => ac.abort()); }); try { for await (const v of E.on(e, "q", { signal: ac.signal })) print(v); } catch (er) { print(er.name, er.code); } print(await E.once(e, "never", { signal: AbortSignal.abort() }).catch((er) => er.name))`,
  "streams: pipeline": `const { Readable, Transform, Writable, pipeline, PassThrough, finished, Duplex } = require("stream"); const sp = require("stream/promises"); const out = []; await sp.pipeline(Readable.from(["a", "b", "c"]), new Transform({ transform(c, e, cb) { cb(null, String(c).toUpperCase()); } }), async function* (s) { for await (const c of s) yield c + ""; yield "!"; }, new Writable({ write(c, e, cb) { out.push(String(c)); cb(); } })); print(out.join("")); print(await sp.pipeline(Readable.from(["x"]), async function* (s) { throw new Error("mid"); }, new PassThrough()).catch((e) => e.message)); await new Promise((r) => pipeline(Readable.from([1]), new PassThrough({ objectMode: true }), (e) => { print("done", e); r(); }).resume()); const w = new Writable({ highWaterMark: 2, write(c, e, cb) { setTimeout(cb); } }); print(w.write("abc"), w.writableLength, w.writableNeedDrain); await new Promise((r) => w.once("drain", r)); print("drained"); print(await require("stream/consumers").text(Readable.from(["q", "r"])), await require("stream/consumers").json(Readable.from(['{"a":1}']))); print((await Readable.from([1, 2, 3, 4]).filter((x) => x % 2).map((x) => x * 2).toArray()))`,
  "streams: web": `const { Readable, Writable } = require("stream"); const web = Readable.toWeb(Readable.from([Buffer.from("ab"), Buffer.from("c")])); let t = ""; const rd = web.getReader(); for (;;) { const { done, value } = await rd.read(); if (done) break; t += Buffer.from(value).toString(); } print(t); const back = Readable.fromWeb(new ReadableStream({ start(c) { c.enqueue("x"); c.enqueue("y"); c.close(); } })); const parts = []; for await (const c of back) parts.push(String(c)); print(parts.join("")); const got = []; const ww = Writable.toWeb(new Writable({ write(c, e, cb) { got.push(String(c)); cb(); } })); const wr = ww.getWriter(); await wr.write("1"); await wr.close(); print(got)`,
  timers: `const tp = require("timers/promises"); print(await tp.setTimeout(1, "v"), await tp.setImmediate("i")); const ac = new AbortController(); const p = tp.setTimeout(1000, 0, { signal: ac.signal }).catch((e) => [e.name, e.code]); ac.abort(); print(await p); const order = []; setTimeout(() => order.push("timeout")); process.nextTick(() => order.push("tick")); Promise.resolve().then(() => order.push("micro")); await tp.setTimeout(10); print(order.sort(), order.indexOf("timeout"))`,
  assert: `const a = require("assert"); const m = (f) => { try { f(); return "ok"; } catch (e) { return [e.name, e.code, e.message.split("\\n")]; } }; print(m(() => a.strictEqual(1, 2))); print(m(() => a.deepStrictEqual({ a: 1, b: [1, 2] }, { a: 1, b: [1, 3] }))); print(m(() => a.equal(1, "1")), m(() => a.ok(0, "msg")), m(() => a.throws(() => { throw new TypeError("x"); }, TypeError)), m(() => a.throws(() => {})), m(() => a.notStrictEqual(1, 1)), m(() => a.match("abc", /x/)), m(() => a.fail()), m(() => a.ifError(new Error("e"))), m(() => a.equal(1, 2)), m(() => a.strictEqual("a".repeat(10), "b".repeat(10))), m(() => a.deepEqual([1, 2], [1, "2"])), m(() => a.rejects), await a.rejects(Promise.reject(new Error("r")), /r/).then(() => "rejected"), m(() => a.throws(() => { throw new Error("wrong"); }, /right/)), m(() => a.strict.equal(1, 1)), new a.AssertionError({ actual: 1, expected: 2, operator: "strictEqual" }).generatedMessage)`,
  fs: `const fs = require("fs"); const fsp = require("fs/promises"); const d = fs.mkdtempSync("/tmp/t-"); const p = d + "/a/b/c.txt"; fs.mkdirSync(d + "/a/b", { recursive: true }); fs.writeFileSync(p, "hello"); fs.appendFileSync(p, " world"); print(fs.readFileSync(p, "utf8"), fs.statSync(p).size, fs.statSync(d).isDirectory(), fs.readdirSync(d + "/a", { withFileTypes: true }).map((e) => [e.name, e.isDirectory()])); const code = (f) => { try { f(); return "ok"; } catch (e) { return [e.code, e.errno, e.syscall, e.message.replaceAll(d, "D")]; } }; print(code(() => fs.readFileSync(d + "/none")), code(() => fs.mkdirSync(d)), code(() => fs.rmdirSync(d)), code(() => fs.readdirSync(p)), code(() => fs.openSync(d, "w")), code(() => fs.unlinkSync(d + "/z")), code(() => fs.closeSync(999)), code(() => fs.writeFileSync(p + "/x", "")), code(() => fs.renameSync(d + "/q", d + "/r"))); fs.copyFileSync(p, d + "/copy"); fs.renameSync(d + "/copy", d + "/moved"); print(fs.existsSync(d + "/copy"), (await fsp.readFile(d + "/moved")).toString()); const fd = fs.openSync(d + "/fd", "w+"); print(fs.writeSync(fd, "abcdef"), fs.writeSync(fd, Buffer.from("XY"), 0, 2, 1)); const b = Buffer.alloc(4); print(fs.readSync(fd, b, 0, 4, 0), b.toString()); fs.closeSync(fd); await new Promise((r) => fs.stat(d + "/fd", (e, s) => { print(e, s.size, s.isFile()); r(); })); const w = fs.createWriteStream(d + "/s"); w.write("one"); w.end("two"); await require("events").once(w, "close"); let t = ""; for await (const c of fs.createReadStream(d + "/s", { encoding: "utf8", start: 1, end: 4 })) t += c; print(t, w.bytesWritten); await new Promise((r) => fs.createReadStream(d + "/nope").on("error", (e) => { print(e.code); r(); })); const h = await fsp.open(d + "/h", "w"); await h.write("zz"); await h.close(); print(fs.readdirSync(d).sort()); fs.truncateSync(d + "/h", 1); print(fs.readFileSync(d + "/h", "latin1")); await fsp.rm(d, { recursive: true, force: true }); print(fs.existsSync(d), await fsp.access(d).catch((e) => e.code))`,
  readline: `const rl = require("readline"); const { Readable } = require("stream"); const lines = []; for await (const l of rl.createInterface({ input: Readable.from(["a\\nb", "c\\r\\nd"]), crlfDelay: Infinity })) lines.push(l); print(lines)`,
  "AsyncLocalStorage: one run at a time": `const { AsyncLocalStorage, AsyncResource } = require("async_hooks"); const s = new AsyncLocalStorage(); print(s.getStore(), s.run(1, () => [s.getStore(), s.run(2, () => s.getStore()), s.getStore()])); print(await s.run("a", async () => { await null; return s.getStore(); }), s.getStore()); const bound = s.run("b", () => AsyncResource.bind(() => s.getStore())); print(bound())`,
  diagnostics_channel: `const dc = require("diagnostics_channel"); const c = dc.channel("x"); print(c.hasSubscribers); dc.subscribe("x", (m, n) => print(m, n)); c.publish({ a: 1 }); print(c.hasSubscribers)`,
  process: `print(Object.prototype.toString.call(process), process.platform, typeof process.version, typeof process.hrtime.bigint(), process.hrtime().length, process.cwd(), typeof process.memoryUsage().heapUsed, process.stdout.isTTY ?? false, require("process") === process, typeof process.on, typeof global, require("node:util") === require("util"), attempt(() => require("nope")).code)`,
};

let fixture: SandboxFixture;
let results: Comparison;
beforeAll(async () => {
  fixture = await shareSandbox();
  results = await compare(fixture, snippets);
});
afterAll(() => fixture.stop());

describe("a snippet prints the same in the sandbox as in Node", () => {
  it.each(Object.keys(snippets))("%s", (name) => expectSame(results, name));
});

async function evaluate(body: string): Promise<unknown> {
  const execution = await fixture.run(
    `export default { name: "node", async run() { const attempt = (f) => { try { return f(); } catch (e) { return [e.code, e.message]; } }; const require = (name) => globalThis.__builtin(name); void process; ${body} } }`,
  );
  return execution.outcome === "returned" ? JSON.parse(execution.result ?? "null") : errorOf(execution);
}

describe("a module that the sandbox cannot offer", () => {
  it("loads, and its use throws an error that names the alternative", async () => {
    const calls = [
      `require("child_process").spawn("ls")`,
      `new (require("worker_threads").Worker)("x")`,
      `require("http2").connect("https://x")`,
      `require("dgram").createSocket("udp4")`,
      `new (require("sqlite").DatabaseSync)(":memory:")`,
      `require("fs").watch("/tmp")`,
      `require("repl").start()`,
    ];
    const errors = (await evaluate(`return [${calls.map((call) => `attempt(() => ${call})`).join(", ")}]`)) as [string, string][];
    for (const [code, message] of errors) {
      expect(code).toBe("ERR_SANDBOX_UNSUPPORTED");
      expect(message).toMatch(/is not available to components: ./);
    }
    expect(errors).toHaveLength(calls.length);
  });

  it("a module that Node does not have is not found", async () => {
    expect(await evaluate(`return attempt(() => require("left-pad"))`)).toEqual(["MODULE_NOT_FOUND", expect.stringContaining("left-pad")]);
  });

  it("every module of Node loads", async () => {
    const names = builtinModules.filter((name) => !name.startsWith("_"));
    expect(
      await evaluate(
        `return ${JSON.stringify(names)}.map((name) => [name, attempt(() => typeof require("node:" + name.replace(/^node:/, "")))]).filter(([, type]) => type !== "object" && type !== "function")`,
      ),
    ).toEqual([]);
  });

  it("process.exit ends the run with a clear error", async () => {
    expect(await evaluate(`process.exit(1)`)).toMatchObject({
      outcome: "threw",
      message: expect.stringContaining("a component ends by returning from run"),
    });
  });

  it("process.env holds only what the host set", async () => {
    expect(await evaluate(`return { ...process.env }`)).toEqual({ PD_COMPONENT: "dc_1" });
  });

  it("files beyond 64 MB, and outside of /tmp, are refused", async () => {
    const body = `const fs = require("fs"); const block = Buffer.alloc(16 * 1024 * 1024); return [attempt(() => { for (let i = 0; i < 5; i++) fs.writeFileSync("/tmp/f" + i, block); })[0], attempt(() => fs.writeFileSync("/etc/x", ""))[0], attempt(() => fs.readFileSync("/etc/passwd"))[0]]`;
    expect(await evaluate(body)).toEqual(["ENOSPC", "EACCES", "ENOENT"]);
  });

  it("stdout and stderr are lines of the log", async () => {
    const execution = await fixture.run(
      `export default { name: "node", run() { process.stdout.write("a\\nb"); process.stderr.write("c\\n"); } }`,
    );
    expect("logs" in execution ? execution.logs.map((line) => JSON.stringify(line)).join() : "").toMatch(/a.*c/s);
  });
});
