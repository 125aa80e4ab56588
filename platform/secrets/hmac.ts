import { hash } from "node:crypto";

/** Block size of SHA-256 in bytes, the maximum length of a key here (RFC 2104). */
const blockBytes = 64;
const digestBytes = 32;
/** Reused buffer for texts up to a third of its size. */
const scratch = Buffer.alloc(96 * 1024);

interface Pads {
  readonly inner: Buffer;
  /** Followed by space for a digest. */
  readonly outer: Buffer;
}

/**
 * HMAC-SHA256 (RFC 2104) of a text's UTF-8 bytes, with two one-shot hashes: a Node Hmac is a native object whose creation and collection
 * each cost more than hashing. Padded keys are cached per key object, so reuse the same array. @throws RangeError for a key of more than 64
 * bytes
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
  if (key.length > blockBytes) throw new RangeError(`a key of ${key.length} bytes is too long: at most ${blockBytes} are supported`);
  const [inner, outer] = [Buffer.alloc(blockBytes, 0x36), Buffer.alloc(blockBytes + digestBytes, 0x5c)];
  for (const [index, byte] of key.entries()) {
    inner[index] = byte ^ 0x36;
    outer[index] = byte ^ 0x5c;
  }
  return { inner, outer };
}

function padded(pad: Buffer, text: string): Buffer {
  // A UTF-16 unit takes at most three bytes.
  if (blockBytes + text.length * 3 > scratch.length) return Buffer.concat([pad, Buffer.from(text)]);
  pad.copy(scratch);
  return scratch.subarray(0, blockBytes + scratch.write(text, blockBytes));
}
