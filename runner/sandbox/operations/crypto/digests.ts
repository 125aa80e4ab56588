import { createHash, createHmac, createSign, createVerify, getHashes, sign, verify } from "node:crypto";
import { bytesArgument, choiceArgument, integerArgument, ownedBytes, recordArgument, textArgument } from "../arguments.ts";
import type { SyncOperation } from "../context.ts";
import { keyOptions, privateKey, publicKey, secretKey } from "./keys.ts";
import { handlesOf } from "../handles.ts";

/** A hash, HMAC, signature or verification that takes its data in pieces. */
interface Digest {
  update(bytes: Uint8Array): unknown;
  finish(): unknown;
}
type Spec = Readonly<Record<string, unknown>>;

/** What one call hashes: the slowest hashes take about 10 ms for it. The guest sends more in several calls. */
const maxPieceBytes = 1024 * 1024;
const maxOutputBytes = 1024 * 1024;
/** Ed25519 and Ed448 pass twice over the whole message, in one call: about 20 ms. */
const maxWholeBytes = 8 * 1024 * 1024;

/**
 * `crypto.digest(id, spec, data, final)` → `{id}`, or `{id: 0, result}` for the last piece. The first call opens it (id 0 and a spec
 * `{kind, algorithm, key?, outputLength?, signature?}`); data of one piece takes one call.
 */
const digest: SyncOperation = (context, [id, spec, data, final]) => {
  const handles = handlesOf<Digest>(context, "crypto:digests");
  const current = id === 0 ? open(recordArgument(spec, "digest")) : handles.get(id);
  current.update(bytesArgument(data, "data", maxPieceBytes));
  if (final !== true) return { id: id === 0 ? handles.open(current) : Number(id) };
  handles.close(id);
  return { id: 0, result: current.finish() };
};

function open(spec: Spec): Digest {
  const kind = choiceArgument(spec["kind"], "kind", ["hash", "hmac", "sign", "verify"]);
  if (kind === "hash") return openHash(spec);
  if (kind === "hmac") return openHmac(spec);
  if (spec["algorithm"] === null) return openWhole(kind, spec);
  return kind === "sign" ? openSign(spec) : openVerify(spec);
}

/** Bytes of functions whose output has any length, by default. Node warns in this process where it is left to take them. */
const defaultOutputs: ReadonlyMap<string, number> = new Map([
  ["shake128", 16],
  ["shake-128", 16],
  ["shake256", 32],
  ["shake-256", 32],
]);

function openHash(spec: Spec): Digest {
  const algorithm = algorithmOf(spec["algorithm"]);
  const outputLength =
    spec["outputLength"] === undefined
      ? defaultOutputs.get(algorithm.toLowerCase())
      : integerArgument(spec["outputLength"], "outputLength", 0, maxOutputBytes);
  const hash = createHash(algorithm, outputLength === undefined ? undefined : { outputLength });
  return { update: (bytes) => hash.update(bytes), finish: () => ownedBytes(hash.digest()) };
}

function openHmac(spec: Spec): Digest {
  const hmac = createHmac(algorithmOf(spec["algorithm"]), secretKey(spec["key"]));
  return { update: (bytes) => hmac.update(bytes), finish: () => ownedBytes(hmac.digest()) };
}

function openSign(spec: Spec): Digest {
  const signer = createSign(digestNameOf(spec["algorithm"]));
  const key = { ...keyOptions(spec["key"]), key: privateKey(spec["key"]) };
  return { update: (bytes) => signer.update(bytes), finish: () => ownedBytes(signer.sign(key)) };
}

function openVerify(spec: Spec): Digest {
  const verifier = createVerify(digestNameOf(spec["algorithm"]));
  const key = { ...keyOptions(spec["key"]), key: publicKey(spec["key"]) };
  const signature = signatureOf(spec);
  return { update: (bytes) => verifier.update(bytes), finish: () => verifier.verify(key, signature) };
}

/** A signature without a digest of its own choice. */
function openWhole(kind: "sign" | "verify", spec: Spec): Digest {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  const options = keyOptions(spec["key"]);
  return {
    update(part) {
      bytes += part.byteLength;
      if (bytes > maxWholeBytes)
        throw Object.assign(new RangeError(`a signature without a digest algorithm takes at most ${maxWholeBytes} bytes`), {
          code: "limit_exceeded",
        });
      parts.push(part);
    },
    finish() {
      const data = Buffer.concat(parts);
      if (kind === "sign") return ownedBytes(sign(null, data, { ...options, key: privateKey(spec["key"]) }));
      return verify(null, data, { ...options, key: publicKey(spec["key"]) }, signatureOf(spec));
    },
  };
}

const algorithmOf = (value: unknown): string => textArgument(value, "algorithm", 64);
const digestNameOf = (value: unknown): string => algorithmOf(value).replace(/^RSA-/i, "");
const signatureOf = (spec: Spec): Uint8Array => bytesArgument(spec["signature"], "signature", 16 * 1024);

export const digestSync: Record<string, SyncOperation> = {
  "crypto.digest": digest,
  "crypto.isHash": (_context, [name]) => isHash(algorithmOf(name)),
};

function isHash(name: string): boolean {
  if (getHashes().some((known) => known.toLowerCase() === name.toLowerCase())) return true;
  try {
    createHash(name);
    return true;
  } catch {
    return false;
  }
}
