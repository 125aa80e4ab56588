import { hostname } from "node:os";
import type { Attack, AttackClass } from "../attack-table.ts";

/** Ways out of the isolate, and values that lie about themselves on their way to the host. */
const nothing = /^returned:\[\]$/;
const leaks = `const found = []; const look = (name, f) => { try { const v = f(); if (v !== undefined && v !== null && v !== false) found.push(name); } catch {} };`;

const escapes: readonly Attack[] = [
  [
    "constructors of every kind of function make functions of the guest's own realm",
    `const found = []; for (const f of [function () {}, async () => {}, function* () {}, async function* () {}, class {}, Reflect.apply, (() => {}).bind(), new Proxy(() => {}, {})]) {
      const made = f.constructor("return typeof require + typeof module")();
      const value = typeof made?.next === "function" ? (await made.next()).value : await made;
      if (value !== "undefinedundefined" && !(f.constructor === Object)) found.push(f.constructor.name + value);
    } return found;`,
    nothing,
  ],
  [
    "a function made with another's new.target",
    `${leaks} look("f", () => Reflect.construct(Function, ["return typeof require !== 'undefined'"], class extends Array {})()); return found;`,
    nothing,
  ],
  [
    "callers of callers",
    `${leaks} function f() { return f.caller ?? arguments.callee.caller; } look("caller", () => f()); look("callee", () => (0, eval)("(function () { return arguments.callee.caller; })")()); return found.filter((n) => n !== "caller");`,
    nothing,
  ],
  [
    "call sites of asynchronous stacks",
    `Error.prepareStackTrace = (_, sites) => sites; const out = []; const look = () => { for (const s of new Error().stack) out.push(s.getFunction?.(), s.getThis?.(), s.getEvalOrigin?.()); };
     await null; look(); await new Promise((ok) => setTimeout(() => { look(); ok(); }, 1)); queueMicrotask(look); await new Promise((ok) => setTimeout(ok, 2)); return out.filter((x) => typeof x === "function" || (typeof x === "object" && x !== null));`,
    nothing,
  ],
  [
    "internal modules and loaders",
    `${leaks} const known = globalThis.__builtin ?? __builtin; for (const name of ["internal/bootstrap/realm", "internal/process/execution", "node:internal/modules/cjs/loader", "constructor", "__proto__", "prototype", "../../../fs", "fs\\0", "isolated-vm", "/etc/passwd"]) look(name, () => known(name)); return found;`,
    nothing,
  ],
  [
    "modules that reach out of a process",
    `${leaks} for (const [name, call] of [["child_process", (m) => m.execSync("id")], ["child_process", (m) => m.fork("x")], ["worker_threads", (m) => new m.Worker("1", { eval: true })], ["vm", (m) => m.runInNewContext("process")], ["vm", (m) => m.runInThisContext("process") === process ? undefined : "another"],
       ["inspector", (m) => m.open()], ["inspector", (m) => new m.Session().connect()], ["cluster", (m) => m.fork()], ["repl", (m) => m.start()], ["v8", (m) => m.setFlagsFromString("--allow-natives-syntax") ?? true], ["v8", (m) => m.writeHeapSnapshot()], ["module", (m) => m.createRequire("/")("child_process").execSync("id")], ["module", (m) => m._load("child_process").execSync("id")], ["wasi", (m) => new m.WASI({ version: "preview1" })], ["trace_events", (m) => m.createTracing({ categories: ["node"] }).enable() ?? true], ["dgram", (m) => m.createSocket("udp4").bind(0)]])
       look(name, () => call(__builtin(name))); return found;`,
    nothing,
  ],
  [
    "contexts of vm, which are of the guest's own realm",
    `${leaks} const vm = __builtin("vm"); for (const code of ["typeof require", "typeof __bind", "typeof __shared", "this.constructor.constructor('return typeof __bind + typeof require')()", "(function () { return arguments.callee.caller?.caller?.caller })()", "[].constructor.constructor('return this')().__shared", "Object.keys(arguments[0].constructor).filter((k) => k.startsWith('__'))[0]"])
       look(code, () => { const v = vm.runInNewContext(code); return /^(undefined)*$/.test(v) ? undefined : v; }); return found;`,
    nothing,
  ],
  [
    "what Node's process has and this one must not",
    `${leaks} const p = __builtin("process"); for (const [name, f] of [["binding", () => p.binding("fs")], ["_linkedBinding", () => p._linkedBinding("fs")], ["dlopen", () => p.dlopen({ exports: {} }, "/x.node") ?? true], ["mainModule", () => p.mainModule], ["getBuiltinModule", () => p.getBuiltinModule("fs").readFileSync("/etc/passwd")], ["kill", () => p.kill(p.ppid ?? 1, 0)], ["chdir", () => p.chdir("/etc") ?? p.cwd() === "/etc"], ["setuid", () => p.setuid(0) ?? true], ["permission", () => p.permission?.has("fs.write")], ["report", () => p.report?.getReport()], ["moduleLoadList", () => p.moduleLoadList], ["_rawDebug", () => p._rawDebug?.("x") ?? undefined], ["env", () => Object.keys(p.env).filter((k) => !/^(PD_COMPONENT|NODE_ENV)$/.test(k)).length || undefined]]) look(name, f); return found;`,
    nothing,
  ],
  [
    "files of the machine",
    `${leaks} const fs = __builtin("fs"); for (const path of ["/etc/passwd", "/proc/self/environ", "/proc/self/mem", "/proc/1/cmdline", "/var/run/secrets/kubernetes.io/serviceaccount/token", "/tmp/../etc/passwd", "//etc//passwd", "file:///etc/passwd"]) look(path, () => fs.readFileSync(path)); look("url", () => fs.readFileSync(new URL("file:///etc/passwd"))); look("dir", () => fs.readdirSync("/etc")); look("write", () => { fs.writeFileSync("/etc/x", "1"); return true; }); look("link", () => { fs.symlinkSync("/etc/passwd", "/tmp/p"); return fs.readFileSync("/tmp/p"); }); return found;`,
    nothing,
  ],
  ["natives of V8 by name", `try { (0, eval)("%DebugPrint(1)"); return "ran"; } catch (e) { return e.name; }`, /^returned:"SyntaxError"$/],
  ["a realm in a realm", `return typeof ShadowRealm`, /^returned:"undefined"$/],
  [
    "import by every road",
    `const roads = [(n) => (0, eval)("(n) => import(n)")(n), (n) => Function("n", "return import(n)")(n), (n) => (async () => {}).constructor("n", "return await import(n)")(n)]; const out = []; for (const road of roads) for (const n of ["fs", "node:fs", "/etc/passwd", "https://example.com/x.mjs", "data:text/javascript,1", "blob:x"]) out.push(await road(n).then(() => n, () => 0)); return out.filter(Boolean);`,
    nothing,
  ],
  [
    "a stack that reveals the host",
    `const e = {}; Error.captureStackTrace(e); Error.stackTraceLimit = Infinity; const stacks = [e.stack, new Error("x").stack]; try { null.x; } catch (x) { stacks.push(x.stack); } return stacks.filter((s) => /file:|\\/work|node:internal|isolated-vm|\\/runner\\//.test(s));`,
    nothing,
  ],
  [
    "names of the machine",
    `const os = __builtin("os"); return [os.hostname() === ${JSON.stringify(hostname())}, os.userInfo?.().username === "root", Object.keys(os.networkInterfaces?.() ?? {}).length > 0].filter(Boolean)`,
    nothing,
  ],
  [
    "a species that catches promises of the host",
    `let caught = 0; class P extends Promise { constructor(f) { super(f); caught++; } } Object.defineProperty(Promise, Symbol.species, { get: () => P, configurable: true }); Promise.prototype.constructor = P; await fetch("http://127.0.0.1:1/").catch(() => {}); return typeof caught;`,
    /^(returned:"number"|threw:)/,
  ],
  [
    "messages that carry functions",
    `const { port1, port2 } = new MessageChannel(); try { port1.postMessage(() => 1); return "sent"; } catch (e) { return e.name; }`,
    /^returned:"DataCloneError"$/,
  ],
  [
    "the collector's callbacks",
    `const r = new FinalizationRegistry(() => { globalThis.called = 1; }); for (let i = 0; i < 1e5; i++) r.register({ i }, i); await new Promise((ok) => setTimeout(ok, 50)); return typeof globalThis.called`,
    /^returned:"undefined"$/,
  ],
];

/** They settle by themselves. */
const settled = /^(returned|threw):/;
/** A limit may end them. */
const contained = /^(returned|threw|limited):/;
const liars: readonly Attack[] = [
  [
    "a payload whose toJSON returns another with a toJSON without end",
    `const x = { toJSON() { return { a: x }; } }; this.$emit(x);`,
    /^(threw:TypeError|limited:run_timeout)/,
  ],
  ["a cycle", `const a = {}; a.a = a; this.$emit(a);`, /^threw:TypeError/],
  ["a BigInt", `this.$emit({ n: 1n });`, /^threw:TypeError/],
  ["an id that changes while it is read", `let n = 0; this.$emit(1, { get id() { return n++ ? {} : "a"; } });`, settled],
  ["an id that is an object with toString", `this.$emit(1, { id: { toString: () => "x", [Symbol.toPrimitive]: () => 1 } });`, settled],
  [
    "names that are no texts",
    `this.$emit(1, { name: { toString() { for (;;); } }, summary: [[[]]], ts: { valueOf() { for (;;); } } });`,
    contained,
  ],
  [
    "meta that is a revoked proxy",
    `const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); this.$emit(1, proxy);`,
    /^threw:TypeError/,
  ],
  [
    "keys of the db that are no texts",
    `for (const k of [{ toString: () => "__proto__" }, Symbol("x"), null, undefined, 1n, [], "__proto__", "constructor", "\\0", "\\ud800"]) try { this.db.set(k, 1); this.db.get(k); } catch {} return ({}).polluted === undefined;`,
    /^returned:true$/,
  ],
  [
    "a db value that writes to the db while it is read",
    `const db = this.db; let n = 0; db.set("a", { toJSON() { if (n++ < 100) db.set("a" + n, this); return 1; } }); return n > 0;`,
    settled,
  ],
  [
    "headers that iterate without end",
    `this.http.respond({ status: 200, headers: { [Symbol.iterator]: function* () { for (;;) yield ["a", "b"]; } } });`,
    settled,
  ],
  ["headers of getters that throw", `this.http.respond({ status: 200, headers: { get a() { throw new Error("no"); } } });`, /^threw:/],
  ["a status that is an object", `this.http.respond({ status: { valueOf: () => 200, toString: () => "200" } });`, settled],
  [
    "a body that is a stream without end",
    `this.http.respond({ status: 200, body: new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(1e6)); } }) });`,
    /^limited:(cpu_limit|bridge_limit|run_timeout)$/,
  ],
  [
    "a body whose buffer is detached",
    `const b = new Uint8Array(8); b.buffer.transfer(); this.http.respond({ status: 200, body: b });`,
    settled,
  ],
  [
    "bytes that are detached while they are read",
    `const b = new Uint8Array(1e6); const zlib = __builtin("zlib"); return zlib.gzipSync(b, { get level() { b.buffer.transfer(); return 1; } }).length > 0;`,
    settled,
  ],
  [
    "bytes of a buffer that grows",
    `const buffer = new ArrayBuffer(8, { maxByteLength: 2 ** 31 }); const b = new Uint8Array(buffer); crypto.getRandomValues(b); buffer.resize(2 ** 20); return (await crypto.subtle.digest("SHA-256", b)).byteLength;`,
    settled,
  ],
  [
    "random bytes in a detached array",
    `const b = new Uint8Array(8); b.buffer.transfer(); crypto.getRandomValues(b); return b.length;`,
    settled,
  ],
  [
    "a text of half a pair, everywhere",
    `this.$emit("\\ud800", { id: "\\udfff", summary: "\\ud800" }); this.db.set("\\ud800", "\\udfff"); console.log("\\ud800"); this.http.respond({ status: 200, body: "\\ud800" });`,
    settled,
  ],
  [
    "an error of a stack that is no text",
    `const e = new Error("m"); Object.defineProperty(e, "stack", { value: new Proxy([], { get() { for (;;); } }) }); throw e;`,
    contained,
  ],
  [
    "an error that is a hundred thousand causes",
    `let e = new Error("end"); for (let i = 0; i < 1e5; i++) e = new Error("m", { cause: e }); throw e;`,
    contained,
  ],
  [
    "an error of a hundred thousand errors",
    `throw new AggregateError(Array.from({ length: 1e5 }, (_, i) => new Error(String(i))), "many");`,
    contained,
  ],
  ["an error of fifty million characters", `throw new Error("x".repeat(5e7));`, settled],
  ["an error whose name spans lines", `throw Object.assign(new Error("m"), { name: "A\\n    at host (file:///x)" });`, /^threw:/],
  [
    "a log of a value that inspects itself forever",
    `console.log({ [Symbol.for("nodejs.util.inspect.custom")]() { for (;;); } });`,
    contained,
  ],
  [
    "a log of something that looks back",
    `const x = {}; x.x = x; x.get = new Proxy(x, { get: (t, k) => x }); console.dir(x, { depth: Infinity }); console.log(new Map([[x, x]]), new Set([x]));`,
    settled,
  ],
  ["a log of ten million members", `console.log(Array.from({ length: 1e7 }, () => 1));`, contained],
  ["a table of a proxy", `console.table(new Proxy([], { get: (_, k) => k === "length" ? 1e9 : {}, ownKeys: () => ["0"] }));`, settled],
  [
    "a request whose body never ends",
    `await fetch("http://127.0.0.1:1/", { method: "POST", duplex: "half", body: new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(1e6)); } }) });`,
    settled,
  ],
  [
    "a request whose body is no bytes",
    `await fetch("http://127.0.0.1:1/", { method: "POST", duplex: "half", body: new ReadableStream({ pull(c) { c.enqueue({ toString() { for (;;); } }); } }) });`,
    settled,
  ],
  ["a request whose signal is none", `await fetch("http://127.0.0.1:1/", { signal: Object.create(AbortSignal.prototype) });`, settled],
  ["an address that is an object", `await fetch({ toString() { return "http://127.0.0.1:1/" }, get url() { for (;;); } });`, settled],
  ["algorithms of getters that loop", `await crypto.subtle.digest({ get name() { for (;;); } }, new Uint8Array(1));`, contained],
  [
    "keys that another made",
    `await crypto.subtle.encrypt({ name: "AES-GCM", iv: new Uint8Array(12) }, Object.create(CryptoKey.prototype, { algorithm: { value: { name: "AES-GCM" } }, id: { value: 1 }, handle: { value: 1 } }), new Uint8Array(1));`,
    /^threw:/,
  ],
  ["a result that is a thenable of itself", `const t = { then(ok) { ok(t); } }; return t;`, /^limited:/],
  ["a clone of a value with an endless getter", `structuredClone({ get a() { for (;;); } });`, /^limited:/],
  ["a response with an endless getter", `this.http.respond({ get status() { for (;;); } });`, /^limited:/],
  [
    "a re-entry from each callback",
    `const { $emit, db, http } = this; $emit({ get a() { db.set("k", { toJSON() { http.respond({ get status() { $emit(2); return 200; } }); return 1; } }); return 1; } });`,
    settled,
  ],
];

export const containment: readonly AttackClass[] = [
  { title: "escape", attacks: escapes },
  { title: "values that lie", attacks: liars },
];
