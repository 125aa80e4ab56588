import { call, sync } from "../runtime/bridge.ts";
import type { Sendable } from "../runtime/bridge.ts";
import { isBufferSource, toArrayBuffer, toBytes } from "./encoding/bytes.ts";
import type { Bytes } from "./encoding/bytes.ts";
import { DOMException } from "./events/dom-exception.ts";
import { tag } from "./define.ts";

const internal = Symbol("internal");
const quota = 65_536;

/** A key's description from the host, which keeps the key itself. */
interface HostKey {
  readonly key: number;
  readonly type: string;
  readonly extractable: boolean;
  readonly algorithm: object;
  readonly usages: readonly string[];
}

let idOf: (key: CryptoKey) => number;

export class CryptoKey {
  readonly #key: HostKey;
  constructor(token?: typeof internal, key?: HostKey) {
    if (token !== internal || key === undefined) throw new TypeError("Illegal constructor");
    this.#key = key;
  }
  get type(): string {
    return this.#key.type;
  }
  get extractable(): boolean {
    return this.#key.extractable;
  }
  get algorithm(): object {
    return this.#key.algorithm;
  }
  get usages(): readonly string[] {
    return [...this.#key.usages];
  }
  static {
    idOf = (key) => key.#key.key;
  }
}

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
type Operation = (typeof operations)[number];

export class SubtleCrypto {
  constructor(token?: typeof internal) {
    if (token !== internal) throw new TypeError("Illegal constructor");
  }
}

for (const operation of operations) {
  const method = {
    async [operation](...args: unknown[]): Promise<unknown> {
      return fromHost(await perform(operation, args));
    },
  }[operation];
  Object.defineProperty(SubtleCrypto.prototype, operation, {
    value: method,
    writable: true,
    configurable: true,
    enumerable: true,
  });
}

async function perform(operation: Operation, args: readonly unknown[]): Promise<unknown> {
  try {
    return await call("subtle", operation, args.map(toHost));
  } catch (error) {
    // The host's DOMExceptions arrive as errors with only a name.
    const { name, message } = error as Error;
    if (/^(Error|TypeError|RangeError)$/.test(name)) throw name === "TypeError" ? Object.assign(new TypeError(message), error) : error;
    throw new DOMException(message, name);
  }
}

function toHost(value: unknown): Sendable {
  if (value instanceof CryptoKey) return { key: idOf(value) };
  if (isBufferSource(value)) return toBytes(value);
  if (Array.isArray(value)) return value.map(toHost);
  if (typeof value !== "object" || value === null) return value as Sendable; // a function is refused by the boundary
  const copy: Record<string, Sendable> = {};
  for (const [name, member] of Object.entries(value)) if (member !== undefined) copy[name] = toHost(member);
  return copy;
}

function fromHost(value: unknown): unknown {
  if (value instanceof Uint8Array) return toArrayBuffer(value as Bytes); // made by the host
  if (typeof value !== "object" || value === null) return value;
  if ("key" in value && typeof value.key === "number") return new CryptoKey(internal, value as HostKey);
  if ("publicKey" in value && "privateKey" in value)
    return { publicKey: fromHost(value.publicKey), privateKey: fromHost(value.privateKey) };
  return value;
}

export class Crypto {
  readonly #subtle = new SubtleCrypto(internal);
  constructor(token?: typeof internal) {
    if (token !== internal) throw new TypeError("Illegal constructor");
  }
  get subtle(): SubtleCrypto {
    return this.#subtle;
  }
  getRandomValues<View extends ArrayBufferView>(view: View): View {
    if (!ArrayBuffer.isView(view) || view instanceof DataView || view instanceof Float32Array || view instanceof Float64Array) {
      throw new DOMException("The data argument must be an integer-type TypedArray", "TypeMismatchError");
    }
    if (view.byteLength > quota) throw new DOMException(`The requested length exceeds ${quota} bytes`, "QuotaExceededError");
    toBytes(view).set(randomBytes(view.byteLength));
    return view;
  }
  randomUUID(): string {
    const bytes = randomBytes(16);
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }
}

function randomBytes(count: number): Bytes {
  return sync("random", count) as Bytes; // made by the host's `random`
}

tag(Crypto, "Crypto");
tag(CryptoKey, "CryptoKey");
tag(SubtleCrypto, "SubtleCrypto");
export const crypto = new Crypto(internal);
