import { createCipheriv, createDecipheriv, getCipherInfo, type CipherGCM, type DecipherGCM } from "node:crypto";
import { bytesArgument, choiceArgument, integerArgument, ownedBytes, recordArgument, textArgument } from "../arguments.ts";
import type { SyncOperation } from "../context.ts";
import { secretKey } from "./keys.ts";
import { handlesOf } from "../handles.ts";

interface Cipher {
  readonly native: CipherGCM | DecipherGCM;
  readonly limits: CallLimits;
}

/** What one call may hand to a cipher. The slowest of them (one bit at a time, triple DES) take about 20 ms for it. */
interface CallLimits {
  readonly bytes: number;
  /** The mode takes its whole input in one call: the guest cannot split what is larger. */
  readonly isWhole: boolean;
}

/** Of additional data, which is hashed in one call. */
const maxAadBytes = 1024 * 1024;
const maxPlaintextBytes = 64 * 1024 * 1024;
const authenticated = /gcm|ccm|ocb|poly1305/i;
const streamingModes: readonly string[] = ["cbc", "cfb", "ctr", "ecb", "gcm", "ocb", "ofb", "stream"];

function limitsOf(algorithm: string): CallLimits {
  const { mode = "", name = algorithm } = getCipherInfo(algorithm) ?? {};
  if (streamingModes.includes(mode)) return { bytes: /cfb1$/i.test(name) ? 4 * 1024 : 64 * 1024, isWhole: false };
  // Key wrapping passes over its input six times, and is made for keys.
  return { bytes: mode === "wrap" ? 64 * 1024 : 1024 * 1024, isWhole: true };
}

/**
 * `crypto.cipher(id, spec, data, final)` → `{id, data, tag?}`. The first call opens a cipher (id 0 and a spec), the last one closes
 * it; one that is opened and finished at once never gets an id. `data` has at most the bytes that `crypto.cipherLimits` returns.
 */
const cipher: SyncOperation = (context, [id, spec, data, final]) => {
  const handles = handlesOf<Cipher>(context, "crypto:ciphers");
  const known = id === 0 ? undefined : handles.get(id);
  const current = known ?? open(recordArgument(spec, "cipher"));
  const { native, limits } = current;
  if (known !== undefined && spec !== null) configure(native, recordArgument(spec, "cipher"));
  const bytes = data === null ? new Uint8Array(0) : bytesArgument(data, "data", limits.bytes);
  if (final === true) {
    handles.close(id);
    const result = Buffer.concat([data === null ? bytes : native.update(bytes), native.final()]);
    return { id: 0, data: ownedBytes(result), tag: tagOf(native) };
  }
  return { id: known === undefined ? handles.open(current) : Number(id), data: ownedBytes(native.update(bytes)) };
};

function tagOf(native: Cipher["native"]): Uint8Array | undefined {
  try {
    return "getAuthTag" in native ? ownedBytes(native.getAuthTag()) : undefined;
  } catch {
    return undefined; // not an authenticated mode
  }
}

function open(spec: Readonly<Record<string, unknown>>): Cipher {
  const algorithm = textArgument(spec["algorithm"], "algorithm", 64);
  const direction = choiceArgument(spec["direction"], "direction", ["encrypt", "decrypt"]);
  const iv = spec["iv"] === null ? null : bytesArgument(spec["iv"], "iv", 1024);
  const tagBytes = spec["authTagLength"] === undefined ? undefined : integerArgument(spec["authTagLength"], "authTagLength", 1, 32);
  const create = direction === "encrypt" ? createCipheriv : createDecipheriv;
  // The overloads know a few algorithms by name; the options fit all of them at run time.
  const native = create(
    algorithm as "aes-256-gcm",
    secretKey(spec["key"]),
    iv as Uint8Array,
    tagBytes === undefined ? undefined : { authTagLength: tagBytes },
  );
  configure(native, spec);
  return { native, limits: limitsOf(algorithm) };
}

function configure(native: Cipher["native"], spec: Readonly<Record<string, unknown>>): void {
  if (typeof spec["padding"] === "boolean") native.setAutoPadding(spec["padding"]);
  if (spec["tag"] !== undefined && "setAuthTag" in native) native.setAuthTag(bytesArgument(spec["tag"], "tag", 32));
  if (spec["aad"] !== undefined) {
    const length =
      spec["plaintextLength"] === undefined ? undefined : integerArgument(spec["plaintextLength"], "plaintextLength", 0, maxPlaintextBytes);
    native.setAAD(bytesArgument(spec["aad"], "aad", maxAadBytes), length === undefined ? undefined : { plaintextLength: length });
  }
}

const cipherInfo: SyncOperation = (_context, [name, given]) => {
  const options = recordArgument(given, "options");
  const keyLength = options["keyLength"] === undefined ? undefined : integerArgument(options["keyLength"], "keyLength", 0, 1024);
  const ivLength = options["ivLength"] === undefined ? undefined : integerArgument(options["ivLength"], "ivLength", 0, 1024);
  const algorithm = typeof name === "number" ? integerArgument(name, "nid", 0, 10_000) : textArgument(name, "algorithm", 64);
  const info = getCipherInfo(algorithm, {
    ...(keyLength === undefined ? {} : { keyLength }),
    ...(ivLength === undefined ? {} : { ivLength }),
  });
  return info === undefined ? undefined : { ...info, authenticated: authenticated.test(info.name) };
};

export const cipherSync: Record<string, SyncOperation> = {
  "crypto.cipher": cipher,
  "crypto.cipherInfo": cipherInfo,
  "crypto.cipherLimits": (_context, [algorithm]) => limitsOf(textArgument(algorithm, "algorithm", 64)),
};
