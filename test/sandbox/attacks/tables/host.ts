import type { Attack, AttackClass } from "../attack-table.ts";
import { decoyKey, endlessKey, maskedKey, pem } from "../hostile-keys.ts";

/** What isolates of one process share and no limit of an isolate counts: the host's thread, the threads of its pool, its memory. */
const codeOf = `(e) => e.cause?.code ?? e.code ?? e.message`;
const refused = /^returned:"(limit_exceeded|ERR_INVALID_ARG_VALUE)"$/;
const opened = (what: string, key: Buffer | string, given = ""): Attack => [
  what,
  `try { __builtin("crypto").createPrivateKey({ key: ${typeof key === "string" ? JSON.stringify(key) : `Buffer.from("${key.toString("hex")}", "hex"), format: "der", type: "pkcs8"`}, passphrase: "p" ${given} }); return "opened"; } catch (e) { return e.code; }`,
  refused,
];
const overTls = (what: string, given: string): Attack => [
  what,
  `const out = []; for (const make of [(o) => __builtin("tls").connect(o), (o) => __builtin("https").get(o)]) out.push(await new Promise((ok) => make({ host: "127.0.0.1", port: event, rejectUnauthorized: false, ${given} }).on("error", (e) => ok(e.code)).on("secureConnect", () => ok("open")))); return out;`,
  /^returned:\["limit_exceeded","limit_exceeded"\]$/,
];
const keys: readonly Attack[] = [
  opened("two thousand million rounds", pem("ENCRYPTED PRIVATE KEY", endlessKey())),
  opened("the same as bytes", endlessKey()),
  opened("the same under the name of a key that is not encrypted", pem("PRIVATE KEY", endlessKey())),
  opened("the same behind a key of another kind", pem("PUBLIC KEY", Buffer.alloc(9)) + pem("PRIVATE KEY", endlessKey())),
  opened("its algorithm spelled another way", endlessKey("068109")),
  opened("another algorithm, and a decoy of this one", decoyKey()),
  opened("the decoy as text", pem("ENCRYPTED PRIVATE KEY", decoyKey())),
  opened("bytes that pass for a text", maskedKey()),
  overTls("one to prove who connects", `key: ${JSON.stringify(pem("ENCRYPTED PRIVATE KEY", endlessKey()))}, passphrase: "p"`),
  overTls("the same under another name", `key: ${JSON.stringify(pem("PRIVATE KEY", endlessKey()))}, passphrase: "p"`),
];

const hostThread: readonly Attack[] = [
  overTls(
    "authorities without end",
    `ca: Array.from({ length: 60 }, () => Buffer.alloc(500_000, "-----BEGIN CERTIFICATE-----\\nMIIB\\n-----END CERTIFICATE-----\\n"))`,
  ),
  [
    "TLS in TLS in TLS",
    `const { setTimeout: sleep } = __builtin("timers/promises"); let s = __builtin("net").connect(event, "127.0.0.1"); s.on("error", () => {}); for (let i = 0; i < 200; i++) { s = __builtin("tls").connect({ socket: s }); s.on("error", () => {}); } await sleep(200); return 1;`,
    /^(returned|threw|limited):/,
  ],
  ...["/interim", "/pieces"].map((path): Attack => [
    `fifty responses of ${path}`,
    `return (await Promise.all(Array.from({ length: 50 }, () => fetch("http://127.0.0.1:" + event + "${path}").then((r) => r.arrayBuffer()).then(() => "read", ${codeOf})))).filter((x) => x !== "response_too_large")`,
    /^(returned:\[\]|limited:run_timeout)$/,
  ]),
  ...["/interim", "/pieces", "/reset-content"].map((path): Attack => [
    `${path} again and again`,
    `await Promise.all(Array.from({ length: 20 }, async () => { for (;;) await fetch("http://127.0.0.1:" + event + "${path}").then((r) => r.arrayBuffer()).catch(() => {}); }));`,
    /^limited:run_timeout$/,
  ]),
  [
    "what the bridge weighs, hidden deep inside",
    `const a = { name: "SHA-256" }; let at = a; for (let i = 0; i < 7; i++) at = at.x = {}; at.x = new Uint8Array(3e7); for (;;) await crypto.subtle.digest(a, new Uint8Array(1)).catch(() => {});`,
    /^limited:(bridge_limit|memory_limit|run_timeout)$/,
  ],
];

const unseenMemory: readonly Attack[] = [
  [
    "compressors of Brotli with the largest windows",
    `const zlib = __builtin("zlib"); const { constants: c } = zlib; const chunk = Buffer.alloc(1_000_000); const open = Array.from({ length: 30 }, () => new Promise((ok) => { const b = zlib.createBrotliCompress({ params: { [c.BROTLI_PARAM_LGWIN]: 24, [c.BROTLI_PARAM_LARGE_WINDOW]: 1, [c.BROTLI_PARAM_QUALITY]: 5 } }); b.on("data", () => {}); b.on("error", () => ok()); b.write(chunk, ok); })); await Promise.all(open); return 1;`,
    /^(returned:1|limited:bridge_limit)$/,
  ],
  [
    "two dozen decompressors that keep their windows, of which sixteen fit",
    `const zlib = __builtin("zlib"); const { constants: c } = zlib; const one = zlib.brotliCompressSync(Buffer.alloc(16e6), { params: { [c.BROTLI_PARAM_QUALITY]: 1 } }); let refused = 0; const open = Array.from({ length: 24 }, () => new Promise((ok) => { const b = zlib.createBrotliDecompress({ chunkSize: 2 ** 20 }); b.on("data", () => {}); b.on("error", () => { refused++; ok(); }); b.write(one.subarray(0, one.length - 2), ok); })); await Promise.all(open); return refused;`,
    /^returned:([7-9]|1\d|2[0-3])$/,
  ],
];

export const host: readonly AttackClass[] = [
  { title: "keys that take forever to open", attacks: keys, server: "http" },
  { title: "the host's thread", attacks: hostThread, server: "http", timeoutMs: 1_500, isAlone: true },
  { title: "memory that V8 does not see", attacks: unseenMemory },
];
