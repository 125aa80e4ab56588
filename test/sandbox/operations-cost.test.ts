import { generateKeyPairSync, getCipherInfo, getCiphers, getHashes, randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { syncOperations, type OperationContext } from "../../runner/sandbox/operations/index.ts";
import { keyWithRounds } from "./attacks/hostile-keys.ts";

/** Of the thread that all isolates of a process share. A call takes some tens of ms; the rest is for a slow machine. */
const maxCpuMs = 150;

function contextOf(owner: string): OperationContext {
  return {
    network: {
      connect: () => Promise.reject(new Error("closed")),
      resolve: () => Promise.resolve([]),
      askStore: () => Promise.resolve(null),
      askFiles: () => Promise.resolve(""),
      sendPiece: () => Promise.resolve(true),
    },
    owner,
    signal: new AbortController().signal,
    deliver: () => {},
    deliverAndWait: () => Promise.resolve(),
    state: new Map(),
  };
}

const codeOf = (operation: string, ...args: readonly unknown[]): unknown => {
  try {
    // An owner of its own: each has its share of the thread.
    syncOperations[operation]?.(contextOf(`u_${Math.random()}`), args);
    return undefined;
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
};

/** CPU time of one call, whatever its outcome. Other threads of this process are idle in the meantime. */
function costOf(operation: string, ...args: readonly unknown[]): number {
  const start = process.cpuUsage();
  codeOf(operation, ...args);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

const limitsOf = (algorithm: string): { readonly bytes: number; readonly isWhole: boolean } =>
  syncOperations["crypto.cipherLimits"]?.(contextOf("u_limits"), [algorithm]) as { bytes: number; isWhole: boolean };

function cipherSpec(algorithm: string): Readonly<Record<string, unknown>> {
  const { keyLength = 16, ivLength = 0, mode } = getCipherInfo(algorithm) ?? {};
  return {
    algorithm,
    direction: "encrypt",
    key: { kind: "secret", key: new Uint8Array(randomBytes(keyLength)) },
    iv: ivLength === 0 ? null : new Uint8Array(randomBytes(ivLength)),
    ...((mode === "ccm" || mode === "ocb") && { authTagLength: 16 }),
  };
}

describe("one synchronous call with its largest accepted input takes little of the host's thread:", () => {
  it.each(getCiphers().filter((name) => getCipherInfo(name) !== undefined))("cipher %s", (algorithm) => {
    const { bytes } = limitsOf(algorithm);
    expect(costOf("crypto.cipher", 0, cipherSpec(algorithm), new Uint8Array(bytes), true)).toBeLessThan(maxCpuMs);
    expect(codeOf("crypto.cipher", 0, cipherSpec(algorithm), new Uint8Array(bytes + 8), true)).toBe("limit_exceeded");
  });

  it.each(getHashes())("hash %s", (algorithm) => {
    const spec = { kind: "hash", algorithm, ...(/^shake/i.test(algorithm) && { outputLength: 2 ** 20 }) };
    expect(costOf("crypto.digest", 0, spec, new Uint8Array(2 ** 20), true)).toBeLessThan(maxCpuMs);
    expect(codeOf("crypto.digest", 0, spec, new Uint8Array(2 ** 20 + 1), true)).toBe("limit_exceeded");
  });

  it.each(["ed25519", "ed448"] as const)("a signature of %s", (type) => {
    const key = generateKeyPairSync(type as "ed25519").privateKey.export({ type: "pkcs8", format: "pem" });
    const spec = { kind: "sign", algorithm: null, key: { kind: "private", key } };
    const context = contextOf(`u_${type}`);
    const piece = new Uint8Array(2 ** 20);
    const send = (id: number, final: boolean): number => {
      const answer = syncOperations["crypto.digest"]?.(context, [id, id === 0 ? spec : null, piece, final]);
      return (answer as { readonly id: number }).id;
    };
    let id = 0;
    for (let pieces = 0; pieces < 7; pieces++) id = send(id, false);
    const start = process.cpuUsage();
    send(id, true);
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1_000).toBeLessThan(2 * maxCpuMs);
  });

  it("a private key whose password is hashed 200,000 times, and one more round is refused", () => {
    const open = (rounds: number) => [
      "private",
      { key: new Uint8Array(keyWithRounds(rounds)), format: "der", type: "pkcs8", passphrase: "p" },
    ];
    expect(codeOf("crypto.describeKey", ...open(200_000))).not.toBe("limit_exceeded");
    expect(costOf("crypto.describeKey", ...open(200_000))).toBeLessThan(maxCpuMs);
    expect(codeOf("crypto.describeKey", ...open(200_001))).toBe("limit_exceeded");
  });

  it("an RSA key's exponent has at most 256 bits", () => {
    const { kty, n } = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({ format: "jwk" });
    const keyOf = (bits: number) => ["public", { key: { kty, n, e: Buffer.alloc(bits / 8, 0xff).toString("base64url") } }];
    expect(codeOf("crypto.describeKey", ...keyOf(256))).toBeUndefined();
    expect(codeOf("crypto.describeKey", ...keyOf(264))).toBe("limit_exceeded");
  });

  it.each([
    ["compressing 64 KiB at the best level", "gzip", new Uint8Array(randomBytes(64 * 1024)), { level: 9, memLevel: 9 }],
    ["unfolding to a megabyte in small chunks", "gunzip", new Uint8Array(gzipSync(Buffer.alloc(2 ** 20))), { chunkSize: 64 }],
    ["unfolding to sixty megabytes", "gunzip", new Uint8Array(gzipSync(Buffer.alloc(60e6))), null],
    ["options that are a list of megabytes", "gzip", new Uint8Array(8), { params: new Uint8Array(2 ** 23) }],
  ])("%s", (_, codec, input, options) => {
    expect(costOf("zlib", codec, input, options)).toBeLessThan(maxCpuMs);
  });

  it("a name of 4,000 different characters", () => {
    const name = Array.from({ length: 4_000 }, (_, index) => String.fromCharCode(0x4e00 + index)).join("");
    expect(costOf("domain_to_ascii", name)).toBeLessThan(maxCpuMs);
  });
});

it("leaves large inputs, large outputs and Brotli's compressor to the thread pool", () => {
  const zlib = (codec: string, input: Uint8Array): unknown => syncOperations["zlib"]?.(contextOf("u_zlib"), [codec, input, null]);
  expect(zlib("gunzip", new Uint8Array(gzipSync("x")))).toEqual(new Uint8Array(Buffer.from("x")));
  expect(zlib("gunzip", new Uint8Array(gzipSync(Buffer.alloc(2 ** 21))))).toBeUndefined();
  expect(zlib("brotliCompress", new Uint8Array(9))).toBeUndefined();
  expect(codeOf("zlib", "gzip", new Uint8Array(64 * 1024 + 1), null)).toBe("limit_exceeded");
  for (const name of ["crypto.pbkdf2", "crypto.scrypt", "crypto.generateKeyPair"]) expect(syncOperations[name]).toBeUndefined();
});
