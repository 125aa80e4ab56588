import { describe, expect, it } from "vitest";
import { errorOf } from "../sandbox-fixture.ts";
import { openRange } from "./attack-range.ts";
import { testPoolThreads } from "./pool-threads.ts";

const range = openRange();

testPoolThreads(range, [
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
]);

describe("the quarter of the host's thread", () => {
  it("is an owner's, not an isolate's: with more sources he has no more", async () => {
    const body = `let refused = 0; const end = Date.now() + 5_000; while (Date.now() < end) { try { __builtin("crypto").createCipheriv("des-ede3-cfb1", Buffer.alloc(24, "a1b2c3d4e5f6g7h8"), Buffer.alloc(8)).update(Buffer.alloc(60_000)); } catch (e) { if (e.code !== "limit_exceeded") throw e; refused++; await new Promise((ok) => setTimeout(ok, 50)); } } return refused;`;
    const request = { owner: "u_six", limits: { memoryMb: 64 } };
    const runs = await Promise.all(Array.from({ length: 6 }, () => range.attack(body, request)));
    // Each alone would have its two seconds, and a sixth of the time is not even one.
    for (const run of runs) expect(Number(run.outcome === "returned" ? run.result : 0)).toBeGreaterThan(0);
  });
});

describe("the host's work", () => {
  it.each([
    ["domain names", `const { domainToASCII } = __builtin("url"); const s = "é".repeat(4000); for (;;) domainToASCII(s);`],
    [
      "hashes",
      `const { createHash } = __builtin("crypto"); const b = Buffer.alloc(5e6); for (;;) createHash("sha512").update(b).digest();`,
    ],
  ])("is metered: %s", async (_, body) => {
    expect(errorOf(await range.attack(body))).toMatchObject({ outcome: "limited", code: "bridge_limit" });
  });

  it("synchronous work beyond a quarter of the time is refused", async () => {
    // Two seconds more than a quarter of the time that has passed, which takes long on a machine with other work.
    const execution = await range.fixture.run(
      `import c from "crypto"; export default { name: "c", run() { const [data, key, iv] = [60_000, 32, 16].map((size) => Buffer.alloc(size)); for (;;) c.createCipheriv("aes-256-cfb1", key, iv).update(data); } }`,
      { limits: { memoryMb: 128 } },
    );
    expect(errorOf(execution)).toMatchObject({ outcome: "threw", message: expect.stringContaining("more than a quarter of the time") });
  });
});
