import { sync } from "../../runtime/bridge.ts";
import { Buffer } from "../buffer/buffer.ts";
import { asBuffer, output, toBytes } from "../buffer/bytes.ts";
import { nodeError } from "../errors.ts";
import { randomBytes } from "./random.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Elliptic curve exchange: the host does each step from curve and private key, which is kept here. */
export class ECDH {
  readonly #curve: string;
  #private: Bytes | null = null;
  constructor(curve: string) {
    this.#curve = curve;
  }
  #step(secret: Bytes | null, other: Bytes | null, form = "uncompressed"): { privateKey: Bytes; publicKey: Bytes; secret: Bytes } {
    return sync("crypto.ecdh", this.#curve, secret, other, form) as {
      privateKey: Bytes;
      publicKey: Bytes;
      secret: Bytes;
    }; // the operation's result
  }
  #own(): Bytes {
    if (this.#private === null) throw nodeError("ERR_CRYPTO_ECDH_INVALID_KEY_PAIR", "Failed to get ECDH private key");
    return this.#private;
  }
  generateKeys(encoding?: unknown, form?: string): Buffer | string {
    const pair = this.#step(null, null, form);
    this.#private = pair.privateKey;
    return output(pair.publicKey, encoding);
  }
  computeSecret(other: unknown, inputEncoding?: unknown, outputEncoding?: unknown): Buffer | string {
    return output(this.#step(this.#own(), toBytes(other, inputEncoding)).secret, outputEncoding);
  }
  getPrivateKey(encoding?: unknown): Buffer | string {
    return output(this.#own(), encoding);
  }
  getPublicKey(encoding?: unknown, form?: string): Buffer | string {
    return output(this.#step(this.#own(), null, form).publicKey, encoding);
  }
  setPrivateKey(key: unknown, encoding?: unknown): this {
    this.#private = this.#step(toBytes(key, encoding).slice(), null).privateKey;
    return this;
  }
  static convertKey(
    key: unknown,
    curve: string,
    inputEncoding?: unknown,
    outputEncoding?: unknown,
    form = "uncompressed",
  ): Buffer | string {
    return output(sync("crypto.ecdhConvert", toBytes(key, inputEncoding), curve, form) as Bytes, outputEncoding);
  }
}

const toInteger = (bytes: Uint8Array): bigint => BigInt(`0x0${asBuffer(bytes.slice() as Bytes).toString("hex")}`);
const toBuffer = (value: bigint): Buffer => {
  const hex = value.toString(16);
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex");
};

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  let square = base % modulus;
  for (let left = exponent; left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

const maxPrimeBytes = 512;

/** Diffie-Hellman over a prime field, computed in the isolate: the host's library would test the prime, which takes seconds. */
export class DiffieHellman {
  readonly #prime: bigint;
  readonly #generator: bigint;
  readonly #primeBytes: Bytes;
  #private: bigint | null = null;
  #public: bigint | null = null;
  readonly verifyError = 0;
  constructor(prime: Bytes, generator: Uint8Array = new Uint8Array([2])) {
    if (prime.length > maxPrimeBytes) throw nodeError("limit_exceeded", `primes may have at most ${maxPrimeBytes * 8} bits`, RangeError);
    this.#primeBytes = prime;
    this.#prime = toInteger(prime);
    this.#generator = toInteger(generator);
  }
  generateKeys(encoding?: unknown): Buffer | string {
    this.#private ??= (toInteger(randomBytes(this.#primeBytes.length) ?? new Uint8Array(0)) % (this.#prime - 2n)) + 1n;
    this.#public = power(this.#generator, this.#private, this.#prime);
    return this.getPublicKey(encoding);
  }
  computeSecret(other: unknown, inputEncoding?: unknown, outputEncoding?: unknown): Buffer | string {
    const theirs = toInteger(toBytes(other, inputEncoding));
    if (this.#private === null) throw nodeError("ERR_CRYPTO_INVALID_STATE", "No private key");
    if (theirs <= 1n || theirs >= this.#prime - 1n)
      throw nodeError("ERR_CRYPTO_INVALID_KEYLEN", "Supplied key is out of range", RangeError);
    const secret = power(theirs, this.#private, this.#prime);
    return output(asFixed(secret, this.#primeBytes.length), outputEncoding);
  }
  getPrime(encoding?: unknown): Buffer | string {
    return output(this.#primeBytes.slice(), encoding);
  }
  getGenerator(encoding?: unknown): Buffer | string {
    return output(toBuffer(this.#generator), encoding);
  }
  getPublicKey(encoding?: unknown): Buffer | string {
    if (this.#public === null) throw nodeError("ERR_CRYPTO_INVALID_STATE", "No public key - did you forget to generate one?");
    return output(toBuffer(this.#public), encoding);
  }
  getPrivateKey(encoding?: unknown): Buffer | string {
    if (this.#private === null) throw nodeError("ERR_CRYPTO_INVALID_STATE", "No private key - did you forget to generate one?");
    return output(toBuffer(this.#private), encoding);
  }
  setPrivateKey(key: unknown, encoding?: unknown): void {
    this.#private = toInteger(toBytes(key, encoding));
  }
  setPublicKey(key: unknown, encoding?: unknown): void {
    this.#public = toInteger(toBytes(key, encoding));
  }
}

const asFixed = (value: bigint, bytes: number): Buffer => Buffer.from(value.toString(16).padStart(bytes * 2, "0"), "hex");

export function getDiffieHellman(group: string): DiffieHellman {
  const { prime, generator } = sync("crypto.dhGroup", group) as { prime: Bytes; generator: Bytes }; // the operation's result
  return new DiffieHellman(prime, generator);
}

export function createDiffieHellman(prime: unknown, ...rest: unknown[]): DiffieHellman {
  if (typeof prime === "number")
    throw nodeError(
      "ERR_SANDBOX_UNSUPPORTED",
      "crypto.createDiffieHellman(size) is not available to components: it searches a prime for minutes; use getDiffieHellman('modp14') or createECDH",
    );
  const encoding = typeof rest[0] === "string" ? rest.shift() : undefined;
  const [generator = 2, generatorEncoding] = rest;
  const base = typeof generator === "number" ? toBuffer(BigInt(generator)) : toBytes(generator, generatorEncoding);
  return new DiffieHellman(toBytes(prime, encoding).slice(), base);
}
