import fc from "fast-check";
import { anything, bytes, text, type Subject } from "./node-differential.ts";

/** `events`, streams, timers, `assert` and the web's classes beside Node's own, on generated programs. */
const name = fc.constantFrom("a", "b", "error");
const step = (...names: string[]): fc.Arbitrary<string> => fc.constantFrom(...names);

const headerName = fc.constantFrom("a", "X-B", "content-type", "Set-Cookie", "cookie", "a b", "", "é");
const headerValue = fc.constantFrom("1", " v ", "", "x, y", "a\nb", "é", "€", "\u0000", "k=v; path=/");
const headerSteps = fc.array(fc.tuple(step("append", "set", "delete", "get", "has"), headerName, headerValue), { maxLength: 6 });

const body = fc.constantFrom(
  `null`,
  `"text é"`,
  `new Uint8Array([104, 105])`,
  `new URLSearchParams("a=b c")`,
  `new Blob(["x"], { type: "a/b" })`,
  `new Uint8Array([1, 2, 3]).buffer`,
  `ReadableStream.from([new Uint8Array([120])])`,
);

/** What is to be done, and what that starts: at most four deep, and nothing that takes another turn of the loop within what did. */
type Task = readonly [kind: string, inner: readonly Task[]];
const soon = ["tick", "tick", "microtask", "promise", "await", "reject"];
const taskOf = (depth: number, kinds: readonly string[]): fc.Arbitrary<Task> =>
  fc.constantFrom(...kinds).chain((kind) => {
    const within = kind === "immediate" || kind === "timeout" ? soon : kinds;
    const inner: fc.Arbitrary<readonly Task[]> = depth === 0 ? fc.constant([]) : fc.array(taskOf(depth - 1, within), { maxLength: 2 });
    return fc.tuple(fc.constant(kind), inner);
  });
const task = taskOf(3, [...soon, "immediate", "timeout"]);

export const flowSubjects: Readonly<Record<string, Subject>> = {
  events: {
    inputs: fc.array(
      fc.tuple(
        step(
          "on",
          "once",
          "prependListener",
          "prependOnceListener",
          "off",
          "emit",
          "emit",
          "emit",
          "removeAllListeners",
          "count",
          "names",
          "onOff",
        ),
        name,
        fc.integer({ min: 0, max: 2 }),
      ),
      { maxLength: 14 },
    ),
    body: `const E = require("events"); const e = new E(); const log = []; const listeners = [0, 1, 2].map((n) => function (...args) { log.push([n, ...args, this === e]); }); e.on("newListener", (type) => log.push("new " + type)); e.on("removeListener", (type) => log.push("gone " + type)); input.forEach(([act, type, n], i) => { switch (act) { case "emit": return log.push(attempt(() => e.emit(type, i))); case "removeAllListeners": return e.removeAllListeners(n === 0 ? undefined : type); case "count": return log.push(e.listenerCount(type), e.listenerCount(type, listeners[n]), e.rawListeners(type).length); case "names": return log.push(e.eventNames()); case "onOff": return e.on(type, function once() { log.push("self"); e.off(type, once); }); default: e[act](type, listeners[n]); } }); return log;`,
    runs: 400,
  },
  "timers, immediates and promises in order": {
    inputs: fc.array(
      fc.tuple(
        step("timeout", "immediate", "promise", "microtask", "await"),
        fc.array(step("promise", "microtask", "await"), { maxLength: 3 }),
      ),
      { maxLength: 8 },
    ),
    body: `const log = []; const start = { timeout: (f) => setTimeout(f, 0), immediate: setImmediate, promise: (f) => Promise.resolve().then(f), microtask: queueMicrotask, await: async (f) => { await null; f(); } }; await new Promise((ok) => setTimeout(() => { const wanted = input.reduce((sum, [, inner]) => sum + 1 + inner.length, 0); const check = () => log.length === wanted ? ok() : setTimeout(check, 2); const mixed = input.some(([kind]) => kind === "immediate"); input.forEach(([given, inner], i) => { const kind = mixed && given === "timeout" ? "immediate" : given; start[kind](() => { log.push(i + kind); inner.forEach((k, j) => start[k](() => log.push(i + "." + j + k))); }); }); check(); }, 0)); return log;`,
    runs: 120,
  },
  // Begun in a timer: then Node, too, has one order for immediates and timers. What these start is settled before the next of them.
  "ticks, promises, immediates and timers in order": {
    inputs: fc.array(task, { maxLength: 5 }),
    body: `const log = []; let open = 0; let finish; const end = new Promise((ok) => (finish = ok)); const start = { tick: (f) => process.nextTick(f), microtask: queueMicrotask, promise: (f) => Promise.resolve().then(f), await: async (f) => { await null; f(); }, reject: (f) => Promise.reject(1).catch(f), immediate: setImmediate, timeout: (f) => setTimeout(f, 0) }; const run = (tasks, path) => tasks.forEach(([kind, inner], i) => { open++; start[kind](() => { log.push(path + i + kind); run(inner, path + i + "."); if (--open === 0) finish(); }); }); setTimeout(() => { run(input, ""); if (open === 0) finish(); log.push("sync"); }, 0); await end; return log;`,
    runs: 300,
  },
  "ticks after a wait": {
    inputs: fc.array(task, { maxLength: 5 }),
    body: `const log = []; let open = 0; let finish; const end = new Promise((ok) => (finish = ok)); const start = { tick: (f) => process.nextTick(f), microtask: queueMicrotask, promise: (f) => Promise.resolve().then(f), await: async (f) => { await null; f(); }, reject: (f) => Promise.reject(1).catch(f), immediate: setImmediate, timeout: (f) => setTimeout(f, 0) }; const run = (tasks, path) => tasks.forEach(([kind, inner], i) => { open++; start[kind](() => { log.push(path + i + kind); run(inner, path + i + "."); if (--open === 0) finish(); }); }); await new Promise((ok) => setTimeout(ok, 0)); run(input, ""); if (open === 0) finish(); log.push("sync"); await end; return log;`,
    runs: 300,
  },
  "timers cleared and repeated": {
    inputs: fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), step("keep", "clear", "unref", "refresh", "interval", "number")), {
      maxLength: 6,
    }),
    body: `const log = []; const all = input.map(([n, act], i) => { let count = 0; const t = act === "interval" ? setInterval(() => { log.push(i); if (++count === 2) clearInterval(t); }, 1) : setTimeout(() => log.push(i), 1 + n * 12); if (act === "clear") clearTimeout(t); if (act === "number") clearTimeout(+t); if (act === "refresh") t.refresh(); return [typeof t.hasRef(), t.unref() === t, typeof +t]; }); const due = input.reduce((sum, [, act]) => sum + ({ interval: 2, clear: 0, number: 0 }[act] ?? 1), 0); do await new Promise((ok) => setTimeout(ok, 60)); while (log.length < due); return [log.toSorted(), all];`,
    runs: 12,
  },
  // How bytes are split into chunks is not compared: Node 26 iterates over those that were pushed, and the sandbox joins what is buffered.
  "pipelines of streams": {
    inputs: fc.tuple(
      fc.array(
        text.filter((each) => each !== ""),
        { maxLength: 5 },
      ),
      fc.array(step("upper", "double", "drop", "generator", "pass", "late"), { maxLength: 3 }),
      fc.constantFrom("none", "source", "middle", "sink"),
      fc.integer({ min: 1, max: 40 }),
    ),
    body: `const { Readable, Transform, PassThrough, Writable } = require("stream"); const { pipeline } = require("stream/promises"); const [chunks, steps, broken, mark] = input; const make = { upper: () => new Transform({ highWaterMark: mark, transform(c, e, cb) { cb(null, String(c).toUpperCase()); } }), double: () => new Transform({ transform(c, e, cb) { this.push(c); this.push(c); cb(); } }), drop: () => new Transform({ transform(c, e, cb) { cb(null, c.length > 3 ? c : undefined); }, flush(cb) { cb(null, "end"); } }), generator: () => async function* (s) { for await (const c of s) yield String(c); yield "!"; }, pass: () => new PassThrough({ highWaterMark: mark }), late: () => new Transform({ transform(c, e, cb) { setImmediate(cb, null, c); } }) }; const out = []; const source = broken === "source" ? (function* () { yield "x"; throw new Error("source"); })() : chunks; const middle = steps.map((s) => make[s]()); if (broken === "middle") middle.push(new Transform({ transform(c, e, cb) { cb(new Error("middle")); } })); const sink = new Writable({ highWaterMark: mark, write(c, e, cb) { if (broken === "sink") return cb(new Error("sink")); out.push(String(c)); setImmediate(cb); } }); const failed = await pipeline(Readable.from(source), ...middle, sink).then(() => null, (e) => [e.message, e.code]); return [broken === "none" ? out.join("") : failed === null ? out : "", failed, sink.destroyed, sink.writableFinished];`,
    runs: 200,
  },
  // Node 26 leaves a piped stream flowing after its end, and the sandbox does not.
  "what a Readable says": {
    inputs: fc.tuple(
      fc.array(fc.array(fc.integer({ min: 97, max: 122 }), { minLength: 1, maxLength: 8 }), { maxLength: 5 }),
      fc.constantFrom("data", "readable", "iterate", "read 3", "pipe"),
      fc.constantFrom(null, "utf8", "hex", "base64"),
      fc.integer({ min: 1, max: 12 }),
    ),
    body: `const { Readable, PassThrough } = require("stream"); const [chunks, way, encoding, mark] = input; if (encoding === "base64") return 0; const log = []; const left = chunks.map((c) => Buffer.from(c)); const r = new Readable({ highWaterMark: mark, read() { this.push(left.shift() ?? null); } }); if (encoding) r.setEncoding(encoding); for (const type of ["end", "close", "error", "pause", "resume"]) r.on(type, () => log.push(type)); const closed = new Promise((ok) => r.on("close", ok)); const see = (c) => log.push(String(c)); if (way === "data") r.on("data", see); else if (way === "readable") r.on("readable", () => { let c; while ((c = r.read()) !== null) see(c); }); else if (way === "read 3") r.on("readable", () => { let c; while ((c = r.read(3)) !== null) see(c); if (r.readableLength) see(r.read() ?? ""); }); else if (way === "pipe") r.pipe(new PassThrough()).on("data", see); else for await (const c of r) see(c); await closed; await new Promise((ok) => setImmediate(ok)); return [way === "data" ? log : [log.filter((l) => !["end", "close", "pause", "resume"].includes(l)).join(""), log.includes("end"), log.includes("close")], r.readableEnded, r.destroyed, way === "pipe" || r.readableFlowing];`,
    runs: 250,
  },
  "what a Writable says": {
    inputs: fc.tuple(
      fc.array(text, { maxLength: 5 }),
      fc.integer({ min: 1, max: 30 }),
      fc.constantFrom("sync", "late", "fail"),
      fc.boolean(),
      fc.boolean(),
    ),
    body: `const { Writable } = require("stream"); const [texts, mark, way, cork, writev] = input; const log = []; let n = 0; const done = (cb) => way === "fail" && ++n === 2 ? cb(new Error("no")) : way === "late" ? setImmediate(cb) : cb(); const w = new Writable({ highWaterMark: mark, write(c, e, cb) { log.push([String(c), e]); done(cb); }, ...(writev && { writev(all, cb) { log.push(all.map((a) => String(a.chunk))); done(cb); } }), final(cb) { log.push("final"); cb(); } }); for (const type of ["drain", "finish", "close", "error"]) w.on(type, () => log.push(type)); const closed = new Promise((ok) => w.on("close", ok)); if (cork) w.cork(); for (const t of texts) { const more = w.write(t, () => {}); if (way === "late") log.push(more); } if (cork) w.uncork(); w.end("last"); log.push(attempt(() => w.write("after", (e) => log.push(e?.code))), w.writableEnded); await closed; return [log, w.writableFinished, w.writableLength, w.errored?.code];`,
    runs: 250,
  },
  "helpers of Readable": {
    inputs: fc.tuple(
      fc.array(fc.integer({ min: -5, max: 9 }), { maxLength: 8 }),
      fc.array(fc.tuple(step("map", "filter", "take", "drop", "flatMap"), fc.integer({ min: 0, max: 3 })), { maxLength: 3 }),
    ),
    body: `const { Readable } = require("stream"); let r = Readable.from(input[0]); for (const [act, n] of input[1]) r = act === "map" ? r.map((x) => x + n) : act === "filter" ? r.filter((x) => x > n) : act === "flatMap" ? r.flatMap((x) => [x, n]) : r[act](n); return [await r.toArray(), await Readable.from(input[0]).reduce((a, b) => a + b, 0), await Readable.from(input[0]).some((x) => x > 3), await Readable.from(input[0]).find((x) => x > 2)];`,
    runs: 120,
  },
  "streams of the web": {
    inputs: fc.tuple(fc.array(bytes(8), { maxLength: 4 }), fc.constantFrom("iterate", "tee", "through", "toNode", "fromNode", "cancel")),
    body: `const { Readable } = require("stream"); const make = () => new ReadableStream({ start(c) { for (const b of input[0]) c.enqueue(new Uint8Array(b)); c.close(); } }); const read = async (s) => { const all = []; for await (const c of s) all.push(...c); return all; }; switch (input[1]) { case "iterate": return read(make()); case "tee": return Promise.all(make().tee().map(read)); case "through": return read(make().pipeThrough(new TransformStream({ transform(c, t) { t.enqueue(c.map((x) => x ^ 1)); } }))); case "toNode": return read(Readable.fromWeb(make())); case "fromNode": return read(Readable.toWeb(Readable.from(input[0].filter((b) => b.length).map((b) => Buffer.from(b))))); default: { const s = make(); await s.cancel(); return [s.locked, (await s.getReader().read()).done]; } }`,
    runs: 150,
  },
  structuredClone: {
    inputs: anything,
    body: `const { inspect } = require("util"); const v = value(input); return attempt(() => inspect(structuredClone(v), { depth: 6 }));`,
    runs: 400,
  },
  Headers: {
    inputs: fc.tuple(
      fc.oneof(fc.array(fc.tuple(headerName, headerValue), { maxLength: 4 }), fc.dictionary(headerName, headerValue, { maxKeys: 3 })),
      headerSteps,
    ),
    body: `return attempt(() => { const h = new Headers(input[0]); const log = input[1].map(([act, name, to]) => attempt(() => act === "append" || act === "set" ? h[act](name, to) : h[act](name))); return [log, [...h], h.getSetCookie()]; });`,
    runs: 400,
  },
  Response: {
    inputs: fc.tuple(
      body,
      fc.constantFrom(200, 204, 304, 404, 599, 99, 600),
      fc.constantFrom("text", "json", "arrayBuffer", "blob", "bytes", "formData"),
      fc.boolean(),
    ),
    body: `const [body, status, read, clone] = input; return await (async () => { const r = new Response(value(body), { status, headers: { "x-a": "b" } }); const c = clone ? r.clone() : r; const got = await c[read](); return [r.ok, [...r.headers], got instanceof Blob ? [got.size, got.type] : got instanceof FormData ? [...got] : got, c.bodyUsed, r.bodyUsed, await c.text().catch((e) => e.name)]; })().catch((e) => e.name);`,
    runs: 250,
  },
  Request: {
    inputs: fc.tuple(
      fc.constantFrom("http://a/b", "/x", "http://u:p@a/", "http://a/é?q#h", "ftp://a/"),
      fc.record(
        {
          method: fc.constantFrom("get", "POST", "patch", "TRACE", "x y"),
          body: fc.constantFrom("text", null),
          headers: fc.constantFrom({ a: "b" }, { "Content-Type": "x/y" }),
          redirect: fc.constantFrom("follow", "manual", "nope"),
          keepalive: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
    ),
    body: `return await (async () => { const r = new Request(input[0], input[1]); return [r.method, r.url, [...r.headers], r.redirect, r.keepalive, await r.clone().text(), new Request(r, { headers: { z: "1" } }).headers.get("z")]; })().catch((e) => e.name);`,
    runs: 250,
  },
  "FormData and multipart": {
    inputs: fc.array(fc.tuple(text, text, fc.boolean()), { maxLength: 4 }).filter((all) => !JSON.stringify(all).includes("\\\\")),
    body: `const f = new FormData(); for (const [k, v, isFile] of input) isFile ? f.append(k, new Blob([v], { type: "a/b" }), "f" + v) : f.append(k, v); const g = await new Response(f).formData(); return Promise.all([...g].map(async ([k, v]) => [k, typeof v === "string" ? v : [v.name, v.type, await v.text()]]));`,
    runs: 200,
  },
  aborting: {
    inputs: fc.array(fc.tuple(step("abort", "any", "listen", "throw", "once", "remove"), fc.integer({ min: 0, max: 2 })), { maxLength: 8 }),
    body: `const controllers = [0, 1, 2].map(() => new AbortController()); const log = []; const signals = controllers.map((c) => c.signal); const f = (e) => log.push(["f", e.type]); for (const [act, n] of input) { const s = signals[n]; if (act === "abort") controllers[n].abort(n === 0 ? undefined : n); if (act === "any") signals.push(AbortSignal.any([s, signals.at(-1)])); if (act === "listen") s.addEventListener("abort", f); if (act === "remove") s.removeEventListener("abort", f); if (act === "once") s.onabort = () => log.push(["on", n]); if (act === "throw") log.push(attempt(() => s.throwIfAborted()) ?? null); } return [log, signals.map((s) => [s.aborted, s.reason?.name ?? s.reason ?? null])];`,
    runs: 250,
  },
  "events of the web": {
    inputs: fc.array(
      fc.tuple(
        step("add", "once", "capture", "object", "remove", "dispatch", "dispatch", "stop", "prevent"),
        fc.integer({ min: 0, max: 2 }),
      ),
      { maxLength: 10 },
    ),
    body: `const t = new EventTarget(); const log = []; const fs = [0, 1, 2].map((n) => (e) => { log.push([n, e.type, e.target === t]); }); for (const [act, n] of input) { if (act === "add") t.addEventListener("x", fs[n]); if (act === "once") t.addEventListener("x", fs[n], { once: true }); if (act === "capture") t.addEventListener("x", fs[n], true); if (act === "object") t.addEventListener("x", { handleEvent: fs[n] }); if (act === "remove") t.removeEventListener("x", fs[n]); if (act === "stop") t.addEventListener("x", (e) => e.stopImmediatePropagation()); if (act === "prevent") t.addEventListener("x", (e) => e.preventDefault()); if (act === "dispatch") { const e = new Event("x", { cancelable: n > 0 }); log.push([t.dispatchEvent(e), e.defaultPrevented]); } } return log;`,
    runs: 250,
  },
  "assert.throws, match and messages": {
    inputs: fc.tuple(
      text,
      fc.constantFrom(
        "/a/",
        "TypeError",
        "Error",
        "{ message: 'a' }",
        "{ name: 'TypeError' }",
        "(e) => e.message.length > 2",
        "undefined",
        "'text'",
      ),
      fc.constantFrom("throw new TypeError(t)", "throw new Error(t)", "throw t", "1"),
    ),
    body: `const a = require("assert"); const passes = (act) => { try { act(); return true; } catch (e) { return [e.name, e.code ?? null, e.generatedMessage ?? null]; } }; const t = input[0]; const act = new Function("t", input[2]); return [passes(() => a.throws(() => act(t), value(input[1]))), input[1].startsWith("{") ? 0 : passes(() => a.doesNotThrow(() => act(t), value(input[1]))), passes(() => a.match(t, /a/)), passes(() => a.doesNotMatch(t, /a/)), passes(() => a.ok(t, "m")), await a.rejects(async () => act(t), value(input[1])).then(() => true, (e) => [e.name, e.code ?? null])];`,
    runs: 250,
  },
};
