import type { Attack, AttackClass } from "../attack-table.ts";

/** Loops, timers, floods: a run that exhausts a resource is ended, and its neighbour in the process is not affected. */
const time = /^(limited:(run_timeout|cpu_limit|memory_limit|bridge_limit|timer_limit)|threw:)/;
const burns: readonly Attack[] = [
  ["alternatives that fail late", `/^(a|a?)+$/.test("a".repeat(60) + "b"); for (;;);`, time],
  ["lookbehind expressions", `/(?<=(x+x+)+)y/.test("x".repeat(5000));  for (;;);`, time],
  ["an endless replace", `let s = "ab".repeat(1e6); for (;;) s = s.replace(/ab/g, () => "ba");`, time],
  [
    "a sort whose order never settles",
    `const a = Array.from({ length: 1e6 }, (_, i) => i); for (;;) a.sort(() => Math.random() - 0.5);`,
    time,
  ],
  ["many integers of moderate size", `let n = 3n; for (;;) { n = (n ** 3n) % (2n ** 20000n); n += 3n; }`, time],
  ["spreading an endless iterator", `return [...(function* () { for (;;) yield 1; })()];`, time],
  ["a list that grows while it is walked", `const a = [1]; for (const x of a) a.push(x);`, time],
  ["dates", `for (;;) Date.parse("x".repeat(100)), new Date().toLocaleString("de", { timeZone: "Asia/Tokyo" });`, time],
  ["addresses", `for (let i = 0; ; i++) new URL("http://例え.jp/" + "a/../".repeat(1e4));`, time],
  [
    "microtasks that make two of each",
    `const f = () => { queueMicrotask(f); queueMicrotask(f); }; f(); await new Promise(() => {});`,
    time,
  ],
  ["ticks that make ticks", `const f = () => process.nextTick(f); f(); await new Promise(() => {});`, time],
  ["an endless asynchronous generator", `for await (const _ of (async function* () { for (;;) yield 1; })());`, time],
  ["endless thenables", `const t = { then(ok) { ok({ then: t.then }); } }; await t;`, time],
  ["hashes of everything", `const { createHash } = __builtin("crypto"); for (;;) createHash("sha256").update("x").digest();`, time],
  ["keys from passwords", `const { pbkdf2Sync } = __builtin("crypto"); for (;;) pbkdf2Sync("p", "s", 1e5, 64, "sha512");`, time],
  ["one key of a thousand million rounds", `__builtin("crypto").pbkdf2Sync("p", "s", 1e9, 64, "sha512");`, time],
  ["scrypt of a gigabyte", `__builtin("crypto").scryptSync("p", "s", 64, { N: 2 ** 20, r: 8, p: 1, maxmem: 2 ** 31 });`, time],
  ["key pairs", `const { generateKeyPairSync } = __builtin("crypto"); for (;;) generateKeyPairSync("rsa", { modulusLength: 4096 });`, time],
  ["primes", `__builtin("crypto").generatePrimeSync(8192, { safe: true }); for (;;);`, time],
  [
    "compression at its best",
    `const zlib = __builtin("zlib"); const b = __builtin("crypto").randomBytes(4e6); for (;;) zlib.brotliCompressSync(b);`,
    time,
  ],
];

const timers: readonly Attack[] = [
  ["a million at once", `for (let i = 0; i < 1e6; i++) setTimeout(() => {}, 1e6);`, /^(threw:|limited:timer_limit)/],
  [
    "delays that are none",
    `const seen = []; for (const d of [-1, NaN, Infinity, -Infinity, 2 ** 31, 2 ** 53, "x", null, {}, 1e-9]) { const t = setTimeout(() => seen.push(1), d); clearTimeout(t); } return seen;`,
    nothingOf(),
  ],
  [
    "ids that are others'",
    `for (const id of [-1, 0, 1, 2, 3, NaN, {}, "1", Symbol.iterator]) try { clearTimeout(id); clearInterval(id); clearImmediate(id); } catch {} return [];`,
    nothingOf(),
  ],
  [
    "timers that make two of each",
    `const f = () => { setTimeout(f, 0); setTimeout(f, 0); }; f(); await new Promise(() => {});`,
    /^(threw:|limited:)/,
  ],
  ["intervals of nothing", `setInterval(() => {}, 0); await new Promise(() => {});`, /^limited:run_timeout/],
  ["a promise that never settles", `await new Promise(() => {});`, /^limited:run_stalled/],
  ["a timer that is due in a month", `await new Promise((ok) => setTimeout(ok, 2_592_000_000));`, /^(limited:run_timeout|returned:)/],
  ["callbacks that throw each time", `setInterval(() => { throw new Error("again"); }, 1); await new Promise(() => {});`, /^threw:/],
  [
    "immediates that compute",
    `const f = () => { for (let end = Date.now() + 20; Date.now() < end; ); setImmediate(f); }; f(); await new Promise(() => {});`,
    /^limited:/,
  ],
  [
    "texts instead of functions",
    `setTimeout("globalThis.x = 1", 1); await new Promise((ok) => setTimeout(ok, 5)); return [];`,
    /^(threw:|returned:\[\])/,
  ],
];
function nothingOf(): RegExp {
  return /^returned:\[\]$/;
}

const floods: readonly Attack[] = [
  ["log lines", `for (;;) console.log("x");`, /^limited:bridge_limit/],
  ["one log line of fifty megabytes", `console.log("x".repeat(5e7));`, /^(returned|threw|limited):/],
  ["events", `for (let i = 0; ; i++) this.$emit(i, { id: i });`, /^threw:Error: a run may emit 10000 events/],
  ["an event of fifty megabytes", `this.$emit("x".repeat(5e7));`, /^(limited:(emit_too_large|run_timeout)|threw:)/],
  ["events of half a megabyte", `for (;;) this.$emit("x".repeat(5e5));`, /^limited:emit_limit/],
  [
    "names of events",
    `for (let i = 0; ; i++) this.$emit(1, { name: "n" + i + "x".repeat(900), summary: "s".repeat(1e5) });`,
    /^limited:bridge_limit/,
  ],
  ["keys of the db", `for (let i = 0; ; i++) this.db.set("k" + i, "v".repeat(1000));`, /^(limited:bridge_limit|threw:)/],
  [
    "requests",
    `for (let i = 0; ; i++) { fetch("http://127.0.0.1:1/" + i).catch(() => {}); if (i % 100 === 0) await null; }`,
    /^(limited|threw):/,
  ],
  [
    "names to resolve",
    `await Promise.allSettled(Array.from({ length: 1500 }, (_, i) => __builtin("dns").promises.lookup("n" + i + ".invalid"))); return 1;`,
    /^(limited|threw|returned):/,
  ],
];

/** V8 looks late or never whether it should stop while it does these: they may cost the process, and then count against their source. */
const stubborn: readonly Attack[] = [
  [
    "sorting by the rules of a language",
    `const a = Array.from({ length: 1e5 }, (_, i) => "é" + (i * 7919) % 1e5); const c = new Intl.Collator("de", { numeric: true }); for (;;) a.toSorted(c.compare);`,
    time,
  ],
  [
    "a payload of a proxy that has keys without end",
    `this.$emit(new Proxy({}, { ownKeys: () => Array.from({ length: 1e6 }, (_, i) => "k" + i), getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }) }));`,
    /^(threw|limited):/,
  ],
  ["an array-like of 2^32 - 2", `Array.from({ length: 2 ** 32 - 2 });`, time],
  ["texts in normal form", `const s = "\\u0041\\u030a".repeat(1e6); for (;;) s.normalize("NFC").normalize("NFD");`, time],
  ["JSON there and back", `const s = JSON.stringify(Array.from({ length: 1e5 }, (_, i) => ({ i }))); for (;;) JSON.parse(s);`, time],
  ["arrays in arrays", `let a = []; for (;;) a = [a, new Array(50).fill(a)];`, time],
];

export const exhaustion: readonly AttackClass[] = [
  { title: "computing", attacks: burns },
  { title: "timers", attacks: timers },
  { title: "floods", attacks: floods },
  { title: "what is interrupted late or never", attacks: stubborn, costsProcess: "sometimes" },
];
