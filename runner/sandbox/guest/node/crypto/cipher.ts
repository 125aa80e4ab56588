import { sync, type Sendable } from "../../runtime/bridge.ts";
import type { Buffer } from "../buffer/buffer.ts";
import { asBuffer, toBytes } from "../buffer/bytes.ts";
import { invalidArgument, nodeError } from "../errors.ts";
import { LazyTransform } from "../stream/lazy-transform.ts";
import { createDecoder, type Decoder } from "../stream/string-decoder.ts";
import { secretSpec, type KeySpec } from "./keys.ts";
import { inPieces } from "./pieces.ts";

interface Answer {
  readonly id: number;
  readonly data: Uint8Array<ArrayBuffer>;
  readonly tag?: Uint8Array<ArrayBuffer>;
}
type Done = (error?: Error | null, data?: unknown) => void;
type Direction = "encrypt" | "decrypt";

/** AES key sizes are checked here, so that a wrong key throws in the constructor. */
function checkSizes(algorithm: string, key: KeySpec, iv: Uint8Array | null): void {
  const [, bits, mode] = /^aes-?(128|192|256)-?(\w+)?$/i.exec(algorithm) ?? [];
  if (bits === undefined || mode?.toLowerCase() === "xts") return;
  if ((key["key"] as Uint8Array).length !== Number(bits) / 8)
    throw nodeError("ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length", RangeError);
  const block = /^(cbc|ctr|cfb\d?|ofb)$/i.test(mode ?? "cbc");
  if (iv === null ? !/^ecb$/i.test(mode ?? "") : block && iv.length !== 16)
    throw nodeError("ERR_CRYPTO_INVALID_IV", "Invalid initialization vector", TypeError);
}

class Cipher extends LazyTransform {
  readonly #spec: Record<string, Sendable>;
  #changes: Record<string, Sendable> | null = null;
  #id = 0;
  #started = false;
  #finished = false;
  #decoder: Decoder | undefined;
  #tag: Uint8Array<ArrayBuffer> | undefined;
  readonly #direction: Direction;
  readonly #algorithm: string;

  constructor(direction: Direction, algorithm: unknown, key: unknown, iv: unknown, options: Record<string, unknown> = {}) {
    super();
    if (typeof algorithm !== "string") throw invalidArgument("cipher", "of type string", algorithm);
    const spec = secretSpec(key);
    const vector = iv === null ? null : new Uint8Array(toBytes(iv, undefined, "iv"));
    checkSizes(algorithm, spec, vector);
    if (
      !/^(aes|des3|des-|chacha20|aria|camellia|id-aes|sm4)/i.test(algorithm) ||
      (/^(?!aes)/.test(algorithm) && sync("crypto.cipherInfo", algorithm, {}) === undefined)
    )
      throw nodeError("ERR_CRYPTO_UNKNOWN_CIPHER", "Unknown cipher");
    this.#direction = direction;
    this.#algorithm = algorithm;
    const { authTagLength } = options;
    this.#spec = {
      algorithm,
      direction,
      key: spec,
      iv: vector,
      ...(typeof authTagLength === "number" ? { authTagLength } : {}),
    };
  }

  #run(data: Uint8Array | null, final: boolean): Answer {
    if (this.#finished) throw nodeError("ERR_CRYPTO_INVALID_STATE", `Invalid state for operation ${final ? "final" : "update"}`);
    const spec = this.#started ? this.#changes : { ...this.#spec, ...this.#changes };
    const answer = sync("crypto.cipher", this.#id, spec, data, final) as Answer; // its result
    this.#started = true;
    this.#changes = null;
    this.#id = answer.id;
    return answer;
  }
  update(data: unknown, inputEncoding?: unknown, outputEncoding?: unknown): Buffer | string {
    const bytes = inPieces(this.#algorithm, toBytes(data, inputEncoding), (piece) => this.#run(piece, false).data);
    return this.#output(bytes, outputEncoding, false);
  }
  final(outputEncoding?: unknown): Buffer | string {
    const answer = this.#run(null, true);
    this.#finished = true;
    this.#tag = answer.tag;
    return this.#output(answer.data, outputEncoding, true);
  }
  /** Joins the output of all calls: an incomplete base64 group or character waits for the next call. */
  #output(bytes: Uint8Array<ArrayBuffer>, encoding: unknown, isLast: boolean): Buffer | string {
    if (typeof encoding !== "string" || encoding === "buffer") return asBuffer(bytes);
    this.#decoder ??= createDecoder(encoding);
    return isLast ? this.#decoder.end(bytes) : this.#decoder.write(bytes);
  }
  #change(name: string, value: Sendable): this {
    this.#changes = { ...this.#changes, [name]: value };
    return this;
  }
  setAutoPadding(padding = true): this {
    return this.#change("padding", padding);
  }
  setAAD(data: unknown, options?: { plaintextLength?: number; encoding?: string }): this {
    if (options?.plaintextLength !== undefined) this.#change("plaintextLength", options.plaintextLength);
    return this.#change("aad", new Uint8Array(toBytes(data, options?.encoding)));
  }
  getAuthTag(): Buffer {
    if (this.#tag === undefined || this.#direction === "decrypt")
      throw nodeError("ERR_CRYPTO_INVALID_STATE", "Invalid state for operation getAuthTag");
    return asBuffer(this.#tag);
  }
  setAuthTag(tag: unknown, encoding?: unknown): this {
    return this.#change("tag", new Uint8Array(toBytes(tag, encoding)));
  }
  override _transform(chunk: unknown, encoding: string, callback: Done): void {
    this.#pass(() => this.update(chunk, encoding), callback);
  }
  override _flush(callback: Done): void {
    this.#pass(() => this.final(), callback);
  }
  #pass(step: () => unknown, callback: Done): void {
    let result: unknown;
    try {
      result = step();
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    callback(null, result);
  }
}

export class Cipheriv extends Cipher {
  constructor(algorithm: unknown, key: unknown, iv: unknown, options?: Record<string, unknown>) {
    super("encrypt", algorithm, key, iv, options);
  }
}
export class Decipheriv extends Cipher {
  constructor(algorithm: unknown, key: unknown, iv: unknown, options?: Record<string, unknown>) {
    super("decrypt", algorithm, key, iv, options);
  }
}

export function getCipherInfo(name: unknown, options: Record<string, Sendable> = {}): unknown {
  if (typeof name !== "string" && typeof name !== "number") throw invalidArgument("nameOrNid", "of type string or number", name);
  const info = sync("crypto.cipherInfo", name, options);
  if (typeof info !== "object" || info === null) return undefined;
  return Object.fromEntries(Object.entries(info).filter(([key]) => key !== "authenticated"));
}
