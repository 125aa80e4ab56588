import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Execution } from "../../../runner/sandbox/port.ts";
import { isSoak, sampleCases } from "../../support/soak.ts";
import { openRange } from "./attack-range.ts";
import { type Attack, attackTable } from "./attack-table.ts";
import { decoyKey, endlessKey, maskedKey, pem } from "./hostile-keys.ts";
import { type HostileServer, startHostileServer } from "./hostile-server.ts";
import { ended, requestFor } from "../sandbox-fixture.ts";

/** What isolates of one process share and no limit of an isolate counts: the host's thread, the threads of its pool, its memory. */
const range = openRange();
let server: HostileServer;
beforeAll(async () => {
  server = await startHostileServer();
});
afterAll(() => server.stop());
const options = { isSampled: true, timeoutMs: 4_000, event: () => JSON.stringify(server.port) };

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
attackTable(
  "keys that take forever to open",
  range,
  [
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
  ],
  options,
);

attackTable(
  "the host's thread",
  range,
  [
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
  ],
  options,
);

attackTable(
  "memory that V8 does not see",
  range,
  [
    [
      "compressors of Brotli with the largest windows",
      `const zlib = __builtin("zlib"); const { constants: c } = zlib; const chunk = Buffer.alloc(1_000_000); const open = Array.from({ length: 30 }, () => new Promise((ok) => { const b = zlib.createBrotliCompress({ params: { [c.BROTLI_PARAM_LGWIN]: 24, [c.BROTLI_PARAM_LARGE_WINDOW]: 1, [c.BROTLI_PARAM_QUALITY]: 5 } }); b.on("data", () => {}); b.on("error", () => ok()); b.write(chunk, ok); })); await Promise.all(open); return 1;`,
      /^(returned:1|limited:(bridge_limit|run_timeout))$/,
    ],
    [
      "a hundred decompressors that keep their windows",
      `const zlib = __builtin("zlib"); const { constants: c } = zlib; const one = zlib.brotliCompressSync(Buffer.alloc(16e6), { params: { [c.BROTLI_PARAM_QUALITY]: 1 } }); let refused = 0; const open = Array.from({ length: 100 }, () => new Promise((ok) => { const b = zlib.createBrotliDecompress(); b.on("data", () => {}); b.on("error", () => { refused++; ok(); }); b.write(one.subarray(0, one.length - 2), ok); })); await Promise.all(open); return refused;`,
      /^(returned:[5-9]\d|limited:(run_timeout|memory_limit))$/,
    ],
  ],
  { ...options, timeoutMs: 15_000 },
);

describe("the threads of the pool", () => {
  /** Another owner's source, which needs two of them: one to compress, one for a name. */
  const neighbour = async (): Promise<Execution> => {
    const bundle = await range.fixture.bundle(
      `import zlib from "node:zlib"; import dns from "node:dns"; export default { name: "n", async run() { await new Promise((ok) => zlib.gzip("x", ok)); await dns.promises.lookup("localhost"); return "served"; } }`,
    );
    return range.fixture.sandbox.execute(
      requestFor(bundle, { source: "dc_pool", owner: "u_pool", limits: { timeoutMs: 8_000, memoryMb: 64 } }),
    );
  };

  it.each(
    sampleCases<[string, string]>(
      [
        [
          "bits without end",
          `const k = await crypto.subtle.importKey("raw", new Uint8Array(8), "PBKDF2", false, ["deriveBits", "deriveKey"]); const p = { name: "PBKDF2", hash: "SHA-512", salt: new Uint8Array(8), iterations: 2e6 };
       for (let i = 0; i < 4; i++) crypto.subtle.deriveBits(p, k, 2 ** 27).catch(() => {}), crypto.subtle.deriveKey(p, k, { name: "HMAC", hash: "SHA-256", length: 2 ** 27 }, true, ["sign"]).catch(() => {});`,
        ],
        [
          "keys that wait for their turn when the run ends",
          `for (let i = 0; i < 1000; i++) __builtin("crypto").pbkdf2("p", "s", 4e6, 64, "sha512", () => {});`,
        ],
        [
          "Brotli at its best",
          `const b = __builtin("crypto").randomBytes(4e6); for (let i = 0; i < 6; i++) __builtin("zlib").brotliCompress(b, () => {});`,
        ],
        ["names", `for (let i = 0; i < 500; i++) __builtin("dns").promises.lookup("n" + i + ".invalid").catch(() => {});`],
      ],
      4,
    ),
  )("are not taken by one owner, however many sources he has: %s", async (_, body) => {
    const hostile = Array.from({ length: 4 }, (__, index) =>
      range.attack(`${body} await new Promise((ok) => setTimeout(ok, 300)); return 1;`, {
        owner: "u_greedy",
        source: `dc_greedy${index}`,
        limits: { timeoutMs: 2_000, memoryMb: 64 },
      }),
    );
    expect(await neighbour()).toMatchObject({ outcome: "returned", result: `"served"` });
    for (const execution of await Promise.all(hostile)) ended(execution);
    expect(await neighbour()).toMatchObject({ outcome: "returned", result: `"served"` });
  });
});

describe("the quarter of the host's thread", () => {
  it.runIf(isSoak)("is an owner's, not an isolate's: with more sources he has no more", async () => {
    const body = `let refused = 0; const end = Date.now() + 5_000; while (Date.now() < end) { try { __builtin("crypto").createCipheriv("des-ede3-cfb1", Buffer.alloc(24, "a1b2c3d4e5f6g7h8"), Buffer.alloc(8)).update(Buffer.alloc(60_000)); } catch (e) { if (e.code !== "limit_exceeded") throw e; refused++; await new Promise((ok) => setTimeout(ok, 50)); } } return refused;`;
    const request = { owner: "u_six", limits: { timeoutMs: 30_000, memoryMb: 64 } };
    const runs = await Promise.all(Array.from({ length: 6 }, () => range.attack(body, request)));
    // Each alone would have its two seconds, and a sixth of the time is not even one.
    for (const run of runs) expect(Number(run.outcome === "returned" ? run.result : 0)).toBeGreaterThan(0);
  });
});
