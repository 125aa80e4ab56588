import { sync, type Sendable } from "../../runtime/bridge.ts";
import type { Buffer } from "../buffer/buffer.ts";
import { asBuffer, output, toBytes } from "../buffer/bytes.ts";
import { invalidArgument, nodeError, unsupported } from "../errors.ts";

/** A key as the host expects it, see runner/sandbox/operations/crypto/keys.ts. */
export type KeySpec = Readonly<Record<string, Sendable>>;
type Kind = "secret" | "private" | "public";
interface Description {
  readonly type: Kind;
  readonly asymmetricKeyType: string;
  readonly details: Record<string, unknown>;
  readonly der: Uint8Array<ArrayBuffer>;
}

const specs = new WeakMap<object, KeySpec>();

/** Copies a view: inside an object, its whole underlying buffer would be sent to the host. */
const owned = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes);

export class KeyObject {
  readonly type: Kind;
  constructor(type: Kind, spec: unknown) {
    if (this.constructor === KeyObject)
      throw nodeError("ERR_INVALID_ARG_VALUE", "KeyObject is made by createSecretKey, createPrivateKey and createPublicKey", TypeError);
    this.type = type;
    specs.set(this, spec as KeySpec); // given by this file only
  }
  static from(): never {
    throw unsupported("KeyObject.from", "export the CryptoKey with crypto.subtle.exportKey and create a key of that");
  }
  export(options: Record<string, unknown> = {}): unknown {
    if (this.type === "secret" && options["format"] !== "jwk") return asBuffer(owned(specOf(this)["key"] as Uint8Array)); // secrets hold bytes
    if (this.type !== "secret" && options["format"] === undefined)
      throw invalidArgument("options.format", "one of 'pem', 'der', 'jwk'", options["format"]);
    const { format, type, cipher, passphrase } = options;
    const wanted = Object.fromEntries(
      Object.entries({
        format,
        type,
        cipher,
        passphrase: passphrase === undefined ? undefined : textOrBytes(passphrase),
      }).filter(([, value]) => value !== undefined),
    );
    const exported = sync("crypto.exportKey", specOf(this), wanted as Record<string, Sendable>); // the host checks the members
    return exported instanceof Uint8Array ? asBuffer(owned(exported)) : exported;
  }
  equals(other: unknown): boolean {
    if (!(other instanceof KeyObject) || other.type !== this.type) return false;
    return asBuffer(owned(specOf(this)["key"] as Uint8Array)).equals(specOf(other)["key"] as Uint8Array); // every KeyObject holds bytes
  }
  get [Symbol.toStringTag](): string {
    return "KeyObject";
  }
}

class SecretKeyObject extends KeyObject {
  get symmetricKeySize(): number {
    return (specOf(this)["key"] as Uint8Array).length;
  }
}

class AsymmetricKeyObject extends KeyObject {
  #description: Description | undefined;
  #read(): Description {
    this.#description ??= describe(this.type, specOf(this));
    return this.#description;
  }
  get asymmetricKeyType(): string {
    return this.#read().asymmetricKeyType;
  }
  get asymmetricKeyDetails(): Record<string, unknown> {
    const { details } = this.#read();
    return "publicExponent" in details ? { ...details, publicExponent: BigInt(String(details["publicExponent"])) } : { ...details };
  }
}
class PrivateKeyObject extends AsymmetricKeyObject {}
class PublicKeyObject extends AsymmetricKeyObject {}

const describe = (kind: string, spec: KeySpec): Description => sync("crypto.describeKey", kind, spec) as Description; // its result

function specOf(key: KeyObject): KeySpec {
  const spec = specs.get(key);
  if (spec === undefined) throw invalidArgument("key", "an instance of KeyObject", key);
  return spec;
}

const textOrBytes = (value: unknown): string | Uint8Array => (typeof value === "string" ? value : owned(toBytes(value, undefined, "key")));

const passed = ["format", "type", "padding", "saltLength", "dsaEncoding", "oaepHash"] as const;

/** Whatever Node accepts as an asymmetric key: PEM, DER, JWK, KeyObject, or an object with one of these as `key` and options. */
export function keySpec(given: unknown): KeySpec {
  if (given instanceof KeyObject) return specOf(given);
  if (typeof given === "string" || ArrayBuffer.isView(given) || given instanceof ArrayBuffer) return { key: textOrBytes(given) };
  if (typeof given !== "object" || given === null || !("key" in given))
    throw invalidArgument(
      "key",
      "of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, KeyObject, or CryptoKey",
      given,
    );
  const options = given as Record<string, unknown>; // its members are checked by the host
  const inner = options["key"];
  const spec: Record<string, Sendable> = {};
  for (const name of passed) if (options[name] !== undefined) spec[name] = options[name] as Sendable;
  if (options["passphrase"] !== undefined) spec["passphrase"] = textOrBytes(options["passphrase"]);
  if (options["oaepLabel"] !== undefined) spec["oaepLabel"] = owned(toBytes(options["oaepLabel"]));
  if (inner instanceof KeyObject) return { ...spec, ...specOf(inner) };
  if (options["format"] === "jwk") return { ...spec, key: JSON.parse(JSON.stringify(inner)) as Sendable };
  return {
    ...spec,
    key:
      typeof inner === "string" && typeof options["encoding"] === "string"
        ? owned(toBytes(inner, options["encoding"]))
        : textOrBytes(inner),
  };
}

/** Key of an HMAC or a cipher: text, bytes or a secret KeyObject. */
export function secretSpec(given: unknown, name = "key"): KeySpec {
  if (given instanceof KeyObject) {
    if (given.type !== "secret")
      throw nodeError("ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE", `Invalid key object type ${given.type}, expected secret.`, TypeError);
    return specOf(given);
  }
  if (typeof given !== "string" && !ArrayBuffer.isView(given) && !(given instanceof ArrayBuffer))
    throw invalidArgument(
      name,
      "of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, KeyObject, or CryptoKey",
      given,
    );
  return { kind: "secret", key: owned(toBytes(given)) };
}

export function createSecretKey(key: unknown, encoding?: unknown): KeyObject {
  return new SecretKeyObject("secret", { kind: "secret", key: owned(toBytes(key, encoding, "key")) });
}

export function createPrivateKey(key: unknown): KeyObject {
  return privateOf(describe("private", keySpec(key)).der);
}

export function createPublicKey(key: unknown): KeyObject {
  if (key instanceof KeyObject && key.type === "public")
    throw nodeError("ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE", "Invalid key object type public, expected private.", TypeError);
  return publicOf(describe("public", keySpec(key)).der);
}

export const privateOf = (der: Uint8Array): KeyObject =>
  new PrivateKeyObject("private", { kind: "private", key: owned(der), format: "der", type: "pkcs8" });
export const publicOf = (der: Uint8Array): KeyObject =>
  new PublicKeyObject("public", { kind: "public", key: owned(der), format: "der", type: "spki" });

export { output, type Buffer };
