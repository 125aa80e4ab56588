import type { Attack, AttackClass } from "../attack-table.ts";

/** Memory: a run that exhausts it is ended, and its neighbour in the process is not affected. */
const memory = /^(limited:(memory_limit|bridge_limit)|threw:(RangeError|Error|TypeError|DOMException|InvalidCharacterError))/;
/** What fills it so slowly that the time limit may come before. */
const slowly = /^(limited:(memory_limit|run_timeout)|threw:(RangeError|Error))/;
const hoards: readonly Attack[] = [
  ["filled holes", `const all = []; for (;;) all.push(Array.from({ length: 1e4 }, (_, i) => i + 0.5));`, memory],
  ["concatenated strings", `const all = []; for (let i = 0; ; i++) all.push(("x" + i).repeat(1e4).split("").join("-"));`, memory],
  ["typed arrays", `const all = []; for (;;) all.push(new Float64Array(2 ** 17).fill(1));`, memory],
  ["buffers of Node", `const all = []; for (;;) all.push(Buffer.alloc(2 ** 20, 1));`, memory],
  ["one buffer of a terabyte", `return new ArrayBuffer(2 ** 40).byteLength;`, memory],
  [
    "maps, sets and weak ones",
    `const m = new Map(); const w = new WeakMap(); for (let i = 0; ; i++) { const k = { i }; m.set(k, new Set([i])); w.set(k, [i]); }`,
    memory,
  ],
  [
    "closures and generators",
    `const all = []; for (;;) { const x = new Array(20).fill(all.length); all.push(() => x, (function* () { yield x; })()); }`,
    memory,
  ],
  ["promises that wait", `const all = []; for (;;) all.push(new Promise(() => {}).then(() => all));`, memory],
  ["matches", `const all = []; for (;;) all.push(..."x1".repeat(2e4).matchAll(/x(\\d)/g));`, memory],
  [
    "expressions of their own",
    `const all = []; for (let i = 0; ; i++) { const r = new RegExp(("(a" + i + "|b){1,50}").repeat(5)); r.test("a"); all.push(r); }`,
    memory,
  ],
  ["JSON that expands", `const all = []; const text = "[" + "[],".repeat(1e5) + "[]]"; for (;;) all.push(JSON.parse(text));`, memory],
  [
    "clones",
    `const all = []; const one = Array.from({ length: 1e4 }, (_, i) => ({ i })); for (;;) all.push(structuredClone(one));`,
    slowly,
  ],
  [
    "compiled code",
    `const all = []; for (let i = 0; ; i++) { const f = Function("return [" + "0,".repeat(1e3) + i + "]"); f(); all.push(f); }`,
    slowly,
  ],
  [
    "errors with endless stacks",
    `Error.stackTraceLimit = Infinity; const all = []; const f = (n) => n === 0 ? all.push(new Error("x").stack) : f(n - 1); for (;;) f(500);`,
    slowly,
  ],
  [
    "what zlib gives",
    `const zlib = __builtin("zlib"); const one = zlib.deflateSync(Buffer.alloc(1e6)); const all = []; for (;;) all.push(zlib.inflateSync(one));`,
    memory,
  ],
  ["random bytes", `const { randomBytes } = __builtin("crypto"); const all = []; for (;;) all.push(randomBytes(2 ** 20));`, memory],
  [
    "blobs and forms",
    `const all = []; const form = new FormData(); for (let i = 0; ; i++) { form.append("f" + i, new Blob(["x".repeat(1e5) + i])); all.push(form); }`,
    memory,
  ],
  [
    "formatters",
    `const all = []; for (let i = 0; ; i++) all.push(new Intl.NumberFormat("de", { minimumFractionDigits: i % 10 }));`,
    slowly,
  ],
  ["encoded text", `const all = []; const encoder = new TextEncoder(); for (;;) all.push(encoder.encode("€".repeat(1e5)));`, memory],
  ["proxies of proxies", `let p = {}; const all = []; for (;;) { p = new Proxy(p, {}); all.push([p, {}]); }`, memory],
];
/** V8 gives such buffers memory beside the isolate's. They are refused, and cost nothing. */
const refused = /^threw:RangeError/;
const growing: readonly Attack[] = [
  [
    "buffers that grow",
    `const all = []; for (;;) { const b = new ArrayBuffer(0, { maxByteLength: 2 ** 26 }); b.resize(2 ** 22); new Uint8Array(b).fill(1); all.push(b); }`,
    refused,
  ],
  [
    "buffers that are large at once and could grow",
    `const all = []; for (;;) { const b = new ArrayBuffer(2 ** 20, { maxByteLength: 2 ** 26 }); new Uint8Array(b).fill(1); all.push(b); }`,
    refused,
  ],
  [
    "one buffer that grows",
    `const b = new ArrayBuffer(0, { maxByteLength: 2 ** 31 }); for (let i = 1; ; i++) b.resize(i * 2 ** 20);`,
    refused,
  ],
  [
    "buffers that grow in other hands",
    `const all = []; for (;;) all.push(new ArrayBuffer(0, { maxByteLength: 2 ** 26 }).transfer(2 ** 22));`,
    refused,
  ],
  [
    "buffers of a class of one's own",
    `const { constructor } = ArrayBuffer.prototype; class Grows extends constructor {} const all = []; for (;;) { const b = new Grows(0, { maxByteLength: 2 ** 22 }); b.resize(2 ** 22); all.push(b); }`,
    refused,
  ],
  [
    "a length that counts its readers",
    `const all = []; for (;;) { let reads = 0; const b = new ArrayBuffer(0, { maxByteLength: 2 ** 22 }); b.resize({ valueOf: () => reads++ === 0 ? 2 ** 22 : 0 }); if (b.byteLength !== 2 ** 22) return "shrank"; all.push(b); }`,
    refused,
  ],
  [
    "a buffer that grows and shrinks",
    `const b = new ArrayBuffer(0, { maxByteLength: 2 ** 22 }); for (let i = 0; i < 500; i++) { b.resize(2 ** 22); b.resize(0); } return b.resizable;`,
    /^returned:true/,
  ],
];
/** What grows by doubling may find no room for its next step before V8 can ask: then it ends with its process, on some machines. */
const leaps: readonly Attack[] = [["keys of one object", `const o = {}; for (let i = 0; ; i++) o["k" + i + "x".repeat(100)] = i;`, slowly]];

export const hoarding: readonly AttackClass[] = [
  { title: "buffers that grow", attacks: growing, memoryMb: 16 },
  { title: "hoarding", attacks: hoards, memoryMb: 16 },
  { title: "hoarding by leaps", attacks: leaps, memoryMb: 16, costsProcess: "sometimes" },
];
