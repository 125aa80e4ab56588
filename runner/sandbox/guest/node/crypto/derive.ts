import { call, sync, wait, type Sendable } from "../../runtime/bridge.ts";
import type { Buffer } from "../buffer/buffer.ts";
import { asBuffer, toBytes } from "../buffer/bytes.ts";
import { invalidArgument, nodeError } from "../errors.ts";
import { createSecretKey, keySpec, KeyObject, privateOf, publicOf, secretSpec } from "./keys.ts";
import { randomBytes, settle } from "./random.ts";

type Bytes = Uint8Array<ArrayBuffer>;
type Callback = (error: unknown, ...results: unknown[]) => void;

function callbackOf(value: unknown): Callback {
  if (typeof value !== "function") throw invalidArgument("callback", "of type function", value);
  return value as Callback; // checked on the line above
}

function deliver(work: Promise<unknown>, callback: Callback, results: (value: unknown) => unknown[]): void {
  // Outside of the promise chain: an error thrown by the callback must not become a rejection of this promise.
  work.then(
    (value) => queue(() => callback(null, ...results(value))),
    (error: unknown) => queue(() => callback(error)),
  );
}
const queue = (run: () => void): void => void Promise.resolve().then(run);

const derived = (value: unknown): unknown[] => [asBuffer(value as Bytes)];
function digestOf(digest: unknown): string {
  if (typeof digest !== "string") throw invalidArgument("digest", "of type string", digest);
  return digest;
}

export function pbkdf2Sync(password: unknown, salt: unknown, iterations: number, length: number, digest: unknown): Buffer {
  return asBuffer(
    wait(
      "crypto.pbkdf2",
      toBytes(password, undefined, "password"),
      toBytes(salt, undefined, "salt"),
      iterations,
      length,
      digestOf(digest),
    ) as Bytes,
  );
}
export function pbkdf2(password: unknown, salt: unknown, iterations: number, length: number, digest: unknown, callback: unknown): void {
  const done = callbackOf(callback);
  deliver(
    call("crypto.pbkdf2", toBytes(password, undefined, "password"), toBytes(salt, undefined, "salt"), iterations, length, digestOf(digest)),
    done,
    derived,
  );
}

export function scryptSync(password: unknown, salt: unknown, length: number, options: Record<string, Sendable> = {}): Buffer {
  return asBuffer(
    wait("crypto.scrypt", toBytes(password, undefined, "password"), toBytes(salt, undefined, "salt"), length, {
      ...options,
    }) as Bytes,
  );
}
export function scrypt(password: unknown, salt: unknown, length: number, options: unknown, callback?: unknown): void {
  const given = typeof options === "function" ? {} : (options as Record<string, Sendable>); // the host checks the members
  const done = callbackOf(typeof options === "function" ? options : callback);
  deliver(
    call("crypto.scrypt", toBytes(password, undefined, "password"), toBytes(salt, undefined, "salt"), length, {
      ...given,
    }),
    done,
    derived,
  );
}

const ikm = (key: unknown): Uint8Array =>
  key instanceof KeyObject ? (secretSpec(key)["key"] as Uint8Array) : toBytes(key, undefined, "ikm");

export function hkdfSync(digest: unknown, key: unknown, salt: unknown, info: unknown, length: number): ArrayBuffer {
  return (
    sync("crypto.hkdf", digestOf(digest), ikm(key), toBytes(salt, undefined, "salt"), toBytes(info, undefined, "info"), length) as Bytes
  ).buffer;
}
export function hkdf(digest: unknown, key: unknown, salt: unknown, info: unknown, length: number, callback: unknown): void {
  settle(() => hkdfSync(digest, key, salt, info, length), callbackOf(callback));
}

type PairOptions = Readonly<Record<string, unknown>>;
const pairFields = ["modulusLength", "publicExponent", "hashAlgorithm", "mgf1HashAlgorithm", "saltLength", "namedCurve"];

const pairRequest = (options: PairOptions): Record<string, Sendable> =>
  Object.fromEntries(pairFields.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name] as Sendable]])));

function pairOf(value: unknown, options: PairOptions): { publicKey: unknown; privateKey: unknown } {
  const { publicKey, privateKey } = value as { publicKey: Bytes; privateKey: Bytes }; // the operation's result
  const encode = (key: KeyObject, encoding: unknown): unknown =>
    encoding === undefined ? key : key.export(encoding as Record<string, unknown>);
  return {
    publicKey: encode(publicOf(publicKey), options["publicKeyEncoding"]),
    privateKey: encode(privateOf(privateKey), options["privateKeyEncoding"]),
  };
}

export function generateKeyPairSync(type: string, options: PairOptions = {}): { publicKey: unknown; privateKey: unknown } {
  return pairOf(wait("crypto.generateKeyPair", type, pairRequest(options)), options);
}
export function generateKeyPair(type: string, options: unknown, callback?: unknown): void {
  const given = typeof options === "function" || options === undefined ? {} : (options as PairOptions); // members are checked by the host
  const done = callbackOf(typeof options === "function" ? options : callback);
  deliver(call("crypto.generateKeyPair", type, pairRequest(given)), done, (value) => {
    const { publicKey, privateKey } = pairOf(value, given);
    return [publicKey, privateKey];
  });
}
Object.defineProperty(generateKeyPair, Symbol.for("nodejs.util.promisify.custom"), {
  value: (type: string, options: PairOptions = {}) =>
    call("crypto.generateKeyPair", type, pairRequest(options)).then((value) => pairOf(value, options)),
});

export function generateKeySync(type: string, options: { length: number }): KeyObject {
  if (type !== "hmac" && type !== "aes")
    throw nodeError("ERR_INVALID_ARG_VALUE", `The argument 'type' must be a supported key type. Received '${type}'`, TypeError);
  return createSecretKey(randomBytes(Math.floor(options.length / 8)));
}
export function generateKey(type: string, options: { length: number }, callback: unknown): void {
  settle(() => generateKeySync(type, options), callbackOf(callback));
}

/** `crypto.diffieHellman({privateKey, publicKey})`. */
export const diffieHellman = (options: { privateKey: unknown; publicKey: unknown }): Buffer =>
  asBuffer(sync("crypto.diffieHellman", keySpec(options.privateKey), keySpec(options.publicKey)) as Bytes);
