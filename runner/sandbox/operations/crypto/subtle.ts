import { webcrypto } from "node:crypto";
import { types } from "node:util";
import { choiceArgument, integerArgument, ownedBytes } from "../arguments.ts";
import type { AsyncOperation, OperationContext } from "../context.ts";
import { withThread } from "../slots.ts";

/** Node's thread pool is shared with name resolution and compression of all isolates of the process. */
const concurrent = 2;
const maxKeys = 1000;
const maxBytes = 32 * 1024 * 1024;
const maxIterations = 2_000_000;
/** Of PBKDF2: iterations times blocks of 20 bytes, as for the other form. */
const maxRounds = 20_000_000;
const maxDerivedBits = 128 * 1024;
const maxModulusBits = 4096;
const maxDepth = 6;
const operations = [
  "digest",
  "encrypt",
  "decrypt",
  "sign",
  "verify",
  "generateKey",
  "importKey",
  "exportKey",
  "deriveBits",
  "deriveKey",
  "wrapKey",
  "unwrapKey",
] as const;

/** In order of last use: the least recently used key is evicted first. */
interface Keys {
  last: number;
  readonly byId: Map<number, webcrypto.CryptoKey>;
}

/**
 * `subtle(operation, args)`: WebCrypto. A key never enters the isolate: the guest holds `{key: id, type, algorithm, usages,
 * extractable}` and gives `{key: id}` back. Bytes come and go as Uint8Array.
 */
export const subtleAsync: Record<string, AsyncOperation> = {
  subtle: (context, [name, given]) =>
    withThread(context, "subtle", concurrent, async () => {
      const operation = choiceArgument(name, "operation", operations);
      if (!Array.isArray(given) || given.length > 7) throw new TypeError("arguments must be an array");
      const keys = keysOf(context);
      const budget = { bytes: maxBytes };
      const args = given.map((value: unknown) => fromGuest(value, keys, budget, 0));
      if (operation === "deriveBits" || operation === "deriveKey") checkRounds(args);
      const { subtle } = webcrypto;
      // Node checks arguments by WebIDL itself; names and sizes were checked above.
      const run = subtle[operation] as unknown as (...values: unknown[]) => Promise<unknown>;
      return toGuest(await Reflect.apply(run, subtle, args), keys);
    }),
};

function keysOf(context: OperationContext): Keys {
  const known = context.state.get("subtle:keys");
  if (known !== undefined) return known as Keys; // only written below
  const keys: Keys = { last: 0, byId: new Map() };
  context.state.set("subtle:keys", keys);
  return keys;
}

function fromGuest(value: unknown, keys: Keys, budget: { bytes: number }, depth: number): unknown {
  if (depth > maxDepth) throw new TypeError("algorithm is nested too deeply");
  if (value instanceof Uint8Array) {
    budget.bytes -= value.byteLength;
    if (budget.bytes < 0) throw Object.assign(new RangeError(`data is larger than ${maxBytes} bytes`), { code: "limit_exceeded" });
    return value;
  }
  if (Array.isArray(value)) return value.slice(0, 64).map((one: unknown) => fromGuest(one, keys, budget, depth + 1));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  if ("key" in value && typeof value.key === "number" && entries.length === 1) return keyOf(value.key, keys);
  const copy: Record<string, unknown> = Object.create(null);
  for (const [name, member] of entries) copy[name] = capped(name, fromGuest(member, keys, budget, depth + 1));
  return copy;
}

/** A key as long as one likes is as many rounds as one likes: a thread of the pool would be busy for years, whether the run ends or not. */
function checkRounds([algorithm, , wanted]: readonly unknown[]): void {
  const { iterations } = recordOf(algorithm);
  const bits: unknown = typeof wanted === "object" && wanted !== null ? recordOf(wanted)["length"] : wanted;
  const length = bits === undefined || bits === null ? 1024 : integerArgument(bits, "length", 0, maxDerivedBits);
  if (typeof iterations !== "number" || iterations * Math.ceil(length / 160) <= maxRounds) return;
  throw Object.assign(
    new RangeError(`PBKDF2 with ${iterations} iterations for ${length} bits is more work than a component may do at once`),
    {
      code: "limit_exceeded",
    },
  );
}

const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {}; // each member is looked at in its turn

/** The parameters whose size decides how long a thread of the pool is busy. */
function capped(name: string, value: unknown): unknown {
  if (name === "iterations") return integerArgument(value, "iterations", 1, maxIterations);
  if (name === "length" && value !== undefined && value !== null) return integerArgument(value, "length", 0, maxDerivedBits);
  if (name === "modulusLength") return integerArgument(value, "modulusLength", 256, maxModulusBits);
  return value;
}

function keyOf(id: number, keys: Keys): webcrypto.CryptoKey {
  const key = keys.byId.get(id);
  if (key === undefined) throw new TypeError(`the key is not known: it may be older than the ${maxKeys} used since`);
  keys.byId.delete(id);
  keys.byId.set(id, key);
  return key;
}

function toGuest(result: unknown, keys: Keys): unknown {
  if (result instanceof ArrayBuffer) return new Uint8Array(result);
  if (result instanceof Uint8Array) return ownedBytes(result);
  if (types.isCryptoKey(result)) return remember(result, keys);
  if (isPair(result)) return { publicKey: remember(result.publicKey, keys), privateKey: remember(result.privateKey, keys) };
  return result;
}

function isPair(result: unknown): result is webcrypto.CryptoKeyPair {
  return typeof result === "object" && result !== null && "publicKey" in result && types.isCryptoKey(result.publicKey);
}

function remember(key: webcrypto.CryptoKey, keys: Keys): unknown {
  keys.last += 1;
  const id = keys.last;
  keys.byId.set(id, key);
  const [oldest] = keys.byId.keys();
  if (keys.byId.size > maxKeys && oldest !== undefined) keys.byId.delete(oldest);
  return {
    key: id,
    type: key.type,
    extractable: key.extractable,
    algorithm: describe(key.algorithm),
    usages: [...key.usages],
  };
}

/** Algorithms are plain, but for `publicExponent` of RSA. */
function describe(algorithm: object): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(algorithm)) {
    plain[name] = value instanceof Uint8Array ? ownedBytes(value) : typeof value === "object" && value !== null ? describe(value) : value;
  }
  return plain;
}
