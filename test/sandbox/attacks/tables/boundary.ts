import type { Attack, AttackClass } from "../attack-table.ts";

/** What crosses the wall of the isolate: texts that weigh nothing until they are copied, intrinsics replaced while the host is asked, frames of WebSockets. */
/** V8 stores a concatenated string as a rope: 32 MB, the memory of the isolate, take a kilobyte until the string is flattened. */
const rope = `let s = "x"; for (let i = 0; i < 25; i++) s += s;`;
/** More than a message may have. */
const longRope = `${rope} s += s + s;`;
const whole = /^(limited:(memory_limit|run_timeout|emit_too_large|bridge_limit)|threw:|returned:)/;
const ropes: readonly Attack[] = [
  ["in the log", `${rope} console.log(s); return 1`, whole],
  ["as an event", `${rope} this.$emit(s)`, whole],
  ["as a summary", `${rope} this.$emit(1, { summary: s })`, whole],
  ["as a channel", `${rope} this.$emit(1, { name: s })`, /^threw:TypeError: emit 1 of this run: its name/],
  ["as a key of the db", `${longRope} this.db.set(s, 1)`, /^threw:RangeError: an argument has more than \d+ bytes/],
  ["as a response", `${rope} this.http.respond({ status: 200, body: s })`, whole],
  ["as an error", `${rope} throw Object.assign(new Error(s), { name: s, code: s, stack: s })`, whole],
  ["as a result", `${rope} return s`, whole],
  ["as names", `${rope} try { await __builtin("dns").promises.lookup(s); } catch (e) { return e.name; }`, whole],
  [
    "as four hundred megabytes for a socket",
    `const s = __builtin("net").connect(event, "127.0.0.1"); await new Promise((ok) => s.on("connect", ok)); s.write(Buffer.alloc(4e8)); return 1;`,
    whole,
  ],
];

const opened = (path: string): string =>
  `return await new Promise((ok) => { const w = new WebSocket("ws://127.0.0.1:" + event + "${path}"); w.onerror = (e) => ok(e.message); w.onclose = () => ok("closed"); });`;
const frames = (path: string, outcome: RegExp): Attack => [path.slice(1), opened(path), outcome];
const webSockets: readonly Attack[] = [
  frames("/huge", /^returned:"a message is larger than 33554432 bytes/),
  frames("/negative", /^returned:"a message is larger than 33554432 bytes/),
  frames("/parts", /^(returned:"|limited:(run_timeout|memory_limit))/),
  frames("/empty-parts", /^limited:(run_timeout|memory_limit)/),
  frames("/parts-again", /^returned:"the server sent frames out of order"/),
  frames("/pings", /^limited:(run_timeout|cpu_limit|bridge_limit)/),
  frames("/messages", /^limited:(run_timeout|cpu_limit)/),
  frames("/compressed", /^returned:"the server sent a frame that is compressed or masked"/),
  frames("/masked", /^returned:"the server sent a frame that is compressed or masked"/),
  frames("/broken-text", /^returned:"The encoded data was not valid/),
  frames("/silent", /^limited:run_timeout/),
  [
    "private addresses",
    `const out = []; for (const host of ["10.0.0.1", "[::ffff:10.0.0.1]", "0xa000001", "169.254.169.254."]) out.push(await new Promise((ok) => { const w = new WebSocket("ws://" + host + "/"); w.onopen = () => ok("open"); w.onerror = (e) => ok(/denied/.test(e.message)); })); return out;`,
    /^returned:\[true,true,true,true\]$/,
  ],
];

const speak = `this.$emit({ a: [1] }); this.db.set("k", [1]); console.log("x", [1]); await new Promise((ok) => setTimeout(ok, 2));`;
/** They settle by themselves. */
const own = /^(returned|threw):/;
const intrinsics: readonly Attack[] = [
  ["iterators of arrays", `Array.prototype[Symbol.iterator] = function* () { yield "no"; }; ${speak} return 1`, own],
  [
    "what promises do next",
    `const { then } = Promise.prototype; const seen = []; Promise.prototype.then = function (...all) { seen.push(1); return then.apply(this, all); }; await fetch("http://127.0.0.1:1/").catch(() => {}); ${speak} return 1`,
    own,
  ],
  [
    "call, apply, bind",
    `for (const k of ["call", "apply", "bind"]) Function.prototype[k] = () => { throw new Error(k); }; Reflect.apply = () => { throw 1; }; ${speak} return 1`,
    /^returned:1$/,
  ],
  ["JSON", `JSON.stringify = () => "no"; JSON.parse = () => { for (;;); }; ${speak} return { a: 1 }`, /^returned:\{"a":1\}$/],
  [
    "members of every object, by number",
    `for (let i = 0; i < 300; i++) Object.defineProperty(Object.prototype, i, { configurable: true, set() { globalThis.leaked = true; } }); try { ${speak} } catch {} return globalThis.leaked === true ? "heard" : "nothing"`,
    own,
  ],
  ["descriptors", `Object.prototype.get = () => 5; ${speak} return 1`, own],
  [
    "the prototype of the global object",
    `Object.setPrototypeOf(globalThis, new Proxy({}, { has: () => true, get(_, k) { if (k === "x") for (;;); } })); ${speak} return 1`,
    own,
  ],
  [
    "views of bytes",
    `const typed = Object.getPrototypeOf(Uint8Array.prototype); for (const k of ["length", "buffer", "byteLength"]) Object.defineProperty(typed, k, { get() { return 2 ** 40; } }); return __builtin("crypto").createHash("sha256").update("x").digest("hex").length`,
    own,
  ],
  [
    "the stack, which ends in each call of the host",
    `const zlib = __builtin("zlib"); let n = 0; const f = () => { n++; try { f(); } catch (e) { if (n-- > 5_000) try { zlib.gzipSync("x"); } catch {} throw e; } }; try { f(); } catch {} return 1`,
    /^(returned|threw|limited):/,
  ],
];

/** V8 does not ask whether it should stop while it does these: they cost the process, and count against their source. */
const late = /^limited:(run_timeout|cpu_limit|memory_limit)/;
const never: readonly Attack[] = [
  ["sorting an array of holes", `const a = []; a.length = 2 ** 31; a.sort();`, late],
  ["reversing an array of holes", `Array.prototype.reverse.call({ length: 2 ** 53 - 1 });`, late],
  ["searching an array of holes", `Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1);`, late],
  ["filling an array of 2^32 - 1", `const a = []; a.length = 2 ** 32 - 1; a.fill(0);`, late],
];

/** These may cost it. */
const lateAgain: readonly Attack[] = [
  ["the last element of an array of holes", `const s = "a".repeat(1e6); for (;;) (s + s).lastIndexOf("a".repeat(5e5) + "b");`, late],
  ["digits of huge integers", `(2n ** 50000000n).toString().length;`, late],
  [
    "arguments with a sparse array of four thousand million",
    `await crypto.subtle.generateKey(Object.assign({ name: "AES-GCM" }, { x: Object.assign([], { length: 4e9 }) }), true, []);`,
    /^(threw|limited):/,
  ],
  [
    "arguments with a hundred thousand members",
    `await crypto.subtle.importKey("jwk", Object.fromEntries(Array.from({ length: 1e5 }, (_, i) => ["k" + i, i])), "AES-GCM", true, []);`,
    /^(threw|limited):/,
  ],
];

export const boundary: readonly AttackClass[] = [
  { title: "texts that are made whole when they cross", attacks: ropes, server: "websocket", timeoutMs: 800, memoryMb: 32 },
  { title: "servers of WebSockets", attacks: webSockets, server: "websocket", timeoutMs: 600 },
  { title: "intrinsics that are replaced while the host is asked", attacks: intrinsics },
  { title: "what is never interrupted", attacks: never, costsProcess: "always" },
  { title: "what is interrupted late or never, again", attacks: lateAgain, costsProcess: "sometimes" },
];
