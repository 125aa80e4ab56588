import { hash } from "node:crypto";

/** One block of SHA-256, bytes; a key is not longer (RFC 2104). */
const blockBytes = 64;
const digestBytes = 32;
/** Texts up to a third of it are written here, in place of memory of their own. */
const scratch = Buffer.alloc(96 * 1024);

interface Pads {
  readonly inner: Buffer;
  /** Followed by room for a digest. */
  readonly outer: Buffer;
}

/**
 * HMAC-SHA256 (RFC 2104) of a text's UTF-8 bytes, by two one-shot hashes: an Hmac of Node is an object with a life beyond JavaScript,
 * which costs more than its hashing, and twice: when it is made and when it is collected. What a key is padded to is remembered as long
 * as the key, so whoever signs often should keep the same array. @throws RangeError for a key of more than 64 bytes
 */
export function createHmacSha256(): (key: Uint8Array, text: string, encoding: "hex" | "base64") => string {
  const known = new WeakMap<Uint8Array, Pads>();
  return (key, text, encoding) => {
    let pads = known.get(key);
    if (pads === undefined) known.set(key, (pads = padsOf(key)));
    hash("sha256", padded(pads.inner, text), "buffer").copy(pads.outer, blockBytes);
    return hash("sha256", pads.outer, encoding);
  };
}

function padsOf(key: Uint8Array): Pads {
  if (key.length > blockBytes) throw new RangeError(`a key of ${key.length} bytes is too long for this: up to ${blockBytes} are taken`);
  const [inner, outer] = [Buffer.alloc(blockBytes, 0x36), Buffer.alloc(blockBytes + digestBytes, 0x5c)];
  for (const [index, byte] of key.entries()) {
    inner[index] = byte ^ 0x36;
    outer[index] = byte ^ 0x5c;
  }
  return { inner, outer };
}

function padded(pad: Buffer, text: string): Buffer {
  // A UTF-16 unit takes three bytes at most.
  if (blockBytes + text.length * 3 > scratch.length) return Buffer.concat([pad, Buffer.from(text)]);
  pad.copy(scratch);
  return scratch.subarray(0, blockBytes + scratch.write(text, blockBytes));
}
