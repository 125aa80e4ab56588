import { sync } from "../../runtime/bridge.ts";
import type { Buffer } from "../buffer/buffer.ts";
import { concatBytes, output, toBytes } from "../buffer/bytes.ts";
import { invalidArgument, nodeError } from "../errors.ts";
import { LazyTransform } from "../stream/lazy-transform.ts";
import { secretSpec, type KeySpec } from "./keys.ts";
import { digest } from "./pieces.ts";

type Chunks = Uint8Array<ArrayBuffer>[];
type Done = (error?: Error | null, data?: unknown) => void;

// The data is collected here and crosses to the host with the digest: a crossing costs more than hashing a kilobyte.

const usual = new Set([
  "md5",
  "sha1",
  "sha224",
  "sha256",
  "sha384",
  "sha512",
  "RSA-SHA1",
  "RSA-SHA256",
  "RSA-SHA384",
  "RSA-SHA512",
  "ripemd160",
  "rmd160",
  "sha3-256",
  "sha3-512",
  "blake2b512",
  "sha512-256",
]);

export function checkHash(name: unknown): string {
  if (typeof name !== "string") throw invalidArgument("algorithm", "of type string", name);
  if (usual.has(name)) return name;
  if (usual.has(name.toLowerCase()) || sync("crypto.isHash", name) === true) {
    usual.add(name);
    return name;
  }
  throw new Error("Digest method not supported");
}

/** A copy when the bytes belong to the caller, who may change them before the digest. */
export const kept = (data: unknown, encoding: unknown): Uint8Array<ArrayBuffer> =>
  typeof data === "string" ? toBytes(data, encoding) : toBytes(data, undefined).slice();

abstract class Digest extends LazyTransform {
  protected readonly algorithm: string;
  protected chunks: Chunks = [];
  protected finished = false;
  constructor(algorithm: string) {
    super();
    this.algorithm = algorithm;
  }
  update(data: unknown, encoding?: unknown): this {
    if (this.finished) throw nodeError("ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
    this.chunks.push(kept(data, encoding));
    return this;
  }
  protected abstract compute(data: Uint8Array): Uint8Array<ArrayBuffer>;
  protected close(): Uint8Array<ArrayBuffer> {
    const data = concatBytes(this.chunks);
    this.finished = true;
    this.chunks = [];
    return this.compute(data);
  }
  override _transform(chunk: unknown, encoding: string, callback: Done): void {
    this.update(chunk, encoding);
    callback();
  }
  override _flush(callback: Done): void {
    try {
      callback(null, output(this.close()));
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

interface HashOptions {
  readonly outputLength?: number;
}

export class Hash extends Digest {
  readonly #options: HashOptions;
  constructor(algorithm: unknown, options: HashOptions = {}) {
    super(checkHash(algorithm));
    this.#options = options;
  }
  protected override compute(data: Uint8Array): Uint8Array<ArrayBuffer> {
    return hashOf(this.algorithm, data, this.#options.outputLength);
  }
  digest(encoding?: unknown): Buffer | string {
    if (this.finished) throw nodeError("ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
    return output(this.close(), encoding);
  }
  copy(options: HashOptions = this.#options): Hash {
    if (this.finished) throw nodeError("ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
    const copy = new Hash(this.algorithm, options);
    copy.chunks = [...this.chunks];
    return copy;
  }
}

export class Hmac extends Digest {
  readonly #key: KeySpec;
  constructor(algorithm: unknown, key: unknown) {
    if (typeof algorithm !== "string") throw invalidArgument("hmac", "of type string", algorithm);
    let checked: string;
    try {
      checked = checkHash(algorithm);
    } catch {
      throw nodeError("ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${algorithm}`, TypeError);
    }
    super(checked);
    this.#key = secretSpec(key);
  }
  protected override compute(data: Uint8Array): Uint8Array<ArrayBuffer> {
    return digest({ kind: "hmac", algorithm: this.algorithm, key: this.#key }, data) as Uint8Array<ArrayBuffer>; // its result
  }
  // A second digest of an Hmac is empty in Node, not an error.
  digest(encoding?: unknown): Buffer | string {
    return output(this.finished ? new Uint8Array(0) : this.close(), encoding);
  }
}

/** `crypto.hash`: one call, hex by default. */
export function hash(algorithm: unknown, data: unknown, options: unknown = "hex"): Buffer | string {
  const given =
    typeof options === "object" && options !== null
      ? (options as { outputEncoding?: string; outputLength?: number })
      : { outputEncoding: String(options) };
  return output(hashOf(checkHash(algorithm), toBytes(data, undefined, "input"), given.outputLength), given.outputEncoding ?? "hex");
}

function hashOf(algorithm: string, data: Uint8Array, outputLength: number | undefined): Uint8Array<ArrayBuffer> {
  const spec = { kind: "hash", algorithm, ...(outputLength !== undefined && { outputLength }) };
  return digest(spec, data) as Uint8Array<ArrayBuffer>; // its result
}
