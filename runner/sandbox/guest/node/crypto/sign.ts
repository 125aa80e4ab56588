import { sync } from "../../runtime/bridge.ts";
import type { Buffer } from "../buffer/buffer.ts";
import { asBuffer, concatBytes, output, toBytes } from "../buffer/bytes.ts";
import { invalidArgument, nodeError } from "../errors.ts";
import { Writable } from "../stream/stream.ts";
import { checkHash, kept } from "./hash.ts";
import { keySpec } from "./keys.ts";
import { digest } from "./pieces.ts";
import { settle } from "./random.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const signed = (algorithm: string | null, key: unknown, data: Bytes): Bytes =>
  digest({ kind: "sign", algorithm, key: keySpec(key) }, data) as Bytes; // its result

function verified(algorithm: string | null, key: unknown, data: Bytes, signature: Bytes): boolean {
  return digest({ kind: "verify", algorithm, key: keySpec(key), signature }, data) === true;
}

class Collector extends Writable {
  protected readonly algorithm: string;
  protected readonly chunks: Bytes[] = [];
  constructor(algorithm: unknown) {
    super({ decodeStrings: false });
    if (typeof algorithm !== "string") throw invalidArgument("algorithm", "of type string", algorithm);
    try {
      this.algorithm = checkHash(algorithm);
    } catch {
      throw nodeError("ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${algorithm}`);
    }
  }
  update(data: unknown, encoding?: unknown): this {
    this.chunks.push(kept(data, encoding));
    return this;
  }
  override _write(chunk: unknown, encoding: string, callback: (error?: Error | null) => void): void {
    this.update(chunk, encoding);
    callback();
  }
}

export class Sign extends Collector {
  sign(key: unknown, encoding?: unknown): Buffer | string {
    if (key === undefined || key === null) throw nodeError("ERR_CRYPTO_SIGN_KEY_REQUIRED", "No key provided to sign");
    return output(signed(this.algorithm, key, concatBytes(this.chunks)), encoding);
  }
}

export class Verify extends Collector {
  verify(key: unknown, signature: unknown, encoding?: unknown): boolean {
    return verified(this.algorithm, key, concatBytes(this.chunks), toBytes(signature, encoding, "signature"));
  }
}

export function sign(algorithm: string | null | undefined, data: unknown, key: unknown, callback?: unknown): Buffer | undefined {
  return settle(() => asBuffer(signed(algorithm ?? null, key, toBytes(data))), callback);
}

export function verify(
  algorithm: string | null | undefined,
  data: unknown,
  key: unknown,
  signature: unknown,
  callback?: unknown,
): boolean | undefined {
  return settle(() => verified(algorithm ?? null, key, toBytes(data), toBytes(signature, undefined, "signature")), callback);
}

const rsa =
  (operation: string) =>
  (key: unknown, data: unknown): Buffer =>
    asBuffer(sync("crypto.rsa", operation, keySpec(key), toBytes(data, undefined, "buffer")) as Bytes);
export const publicEncrypt = rsa("publicEncrypt");
export const publicDecrypt = rsa("publicDecrypt");
export const privateEncrypt = rsa("privateEncrypt");
export const privateDecrypt = rsa("privateDecrypt");
