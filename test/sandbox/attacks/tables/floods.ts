import type { Attack, AttackClass } from "../attack-table.ts";

/** Requests to the host in masses, most of them refused. What a refusal costs the host must not grow with their number. */
const pause = `await new Promise((ok) => setTimeout(ok, 100)); return 1;`;
const times = (count: number, body: string): string => `for (let i = 0; i < ${count}; i++) { ${body} }`;
const net = `const net = __builtin("net");`;

const over: RegExp = /^(returned|threw|limited):/;
const withOutcome = ([name, body]: readonly [string, string]): Attack => [name, body, over];

const requests: readonly (readonly [string, string])[] = [
  [
    "frames of a WebSocket",
    `const s = new WebSocket("ws://127.0.0.1:" + event + "/silent"); await new Promise((ok) => (s.onopen = ok)); ${times(1e5, `s.send("x");`)} ${pause}`,
  ],
  ["sockets to a private address", `${net} ${times(1e4, `net.connect(80, "10.0.0.1").on("error", () => {});`)} ${pause}`],
  ["sockets without an answer", `${net} ${times(1e4, `net.connect(1, "127.0.0.1").on("error", () => {});`)} ${pause}`],
  ["sockets one after the other", `${net} ${times(1e4, `await new Promise((ok) => net.connect(80, "10.0.0.1").on("error", ok));`)}`],
  ["fetches of a private address", `${times(1e4, `fetch("http://10.0.0.1/").catch(() => {});`)} ${pause}`],
  ["names", `const { lookup } = __builtin("dns").promises; ${times(1e4, `lookup("10.0.0.1").catch(() => {});`)} ${pause}`],
  ["unknown digests", `${times(1e4, `crypto.subtle.digest("no", new Uint8Array(1)).catch(() => {});`)} ${pause}`],
  ["invalid archives", `const zlib = __builtin("zlib"); ${times(1e4, `zlib.gunzip("x", () => {});`)} ${pause}`],
  ["timers that are cleared", times(1e5, `clearTimeout(setTimeout(() => {}, 1000));`)],
  ["lines of the log, and values of the db", times(3e4, `console.log(i); this.db.set("k", i); this.db.get("k");`)],
];

/** On the host's thread each took about two seconds. */
const synchronous: readonly (readonly [string, string])[] = [
  ["key pairs", `__builtin("crypto").generateKeyPairSync("rsa", { modulusLength: 4096 }); return 1;`],
  ["keys from passwords", `__builtin("crypto").pbkdf2Sync("p", "s", 2e6, 20, "sha512"); return 1;`],
  ["keys that take memory", `__builtin("crypto").scryptSync("p", "s", 64, { N: 2 ** 17, r: 8, maxmem: 2 ** 30 }); return 1;`],
  ["compression at its best", `__builtin("zlib").brotliCompressSync(Buffer.alloc(16e6, "abc").fill("x", 0, 1e6)); return 1;`],
];

export const hostFloods: readonly AttackClass[] = [
  {
    title: "masses of requests of one run",
    attacks: requests.map(withOutcome),
    server: "websocket",
    timeoutMs: 12_000,
    memoryMb: 256,
  },
  { title: "synchronous work of seconds", attacks: synchronous.map(withOutcome), timeoutMs: 12_000, memoryMb: 256 },
];
