import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { Transform } from "node:stream";
import { InvalidInput } from "../../domain/errors.ts";

/**
 * A file of a backup: a random salt, then chunks of 64 KiB (the last one is shorter, or empty), each sealed with AES-256-GCM. The key follows from
 * the salt and the name of the file, so a file under another name does not open. The nonce is the number of the chunk, and whether it is the
 * last one: a file that lacks its end, or in which chunks were exchanged, does not open either.
 */
const [saltBytes, chunkBytes, tagBytes] = [16, 64 * 1024, 16] as const;
const sealedBytes = chunkBytes + tagBytes;
const algorithm = "aes-256-gcm";

export interface SealedName {
  /** 32 bytes. */
  readonly key: Buffer;
  /** Of the file within the backup. */
  readonly name: string;
}

const keyOf = ({ key, name }: SealedName, salt: Buffer): Buffer =>
  Buffer.from(hkdfSync("sha256", key, salt, `headwater backup ${name}`, 32));

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(number, 0, 6);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

/** Seals what is written to it. */
export function sealStream(sealed: SealedName): Transform {
  const salt = randomBytes(saltBytes);
  const key = keyOf(sealed, salt);
  let number = 0;
  const seal = (chunk: Buffer, isLast: boolean): Buffer => {
    const cipher = createCipheriv(algorithm, key, nonceOf(number++, isLast));
    return Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]);
  };
  return inChunks({
    bytes: chunkBytes,
    start: (push) => void push(salt),
    chunk: (chunk, push) => void push(seal(chunk, false)),
    end: (chunk, push) => void push(seal(chunk, true)),
  });
}

/** Opens what `sealStream` has sealed. @throws InvalidInput when the file is damaged or incomplete, or the key is another one */
export function openStream(sealed: SealedName): Transform {
  let key: Buffer | undefined;
  let number = 0;
  const open = (chunk: Buffer, isLast: boolean): Buffer => {
    try {
      if (key === undefined) throw new InvalidInput("the file has no salt");
      const decipher = createDecipheriv(algorithm, key, nonceOf(number++, isLast));
      decipher.setAuthTag(chunk.subarray(-tagBytes));
      return Buffer.concat([decipher.update(chunk.subarray(0, -tagBytes)), decipher.final()]);
    } catch (cause) {
      throw new InvalidInput(`${sealed.name} of the backup is damaged or incomplete: use another backup`, {
        code: "damaged_backup",
        cause,
      });
    }
  };
  return inChunks({
    bytes: sealedBytes,
    headBytes: saltBytes,
    head: (salt) => void (key = keyOf(sealed, salt)),
    chunk: (chunk, push) => void push(open(chunk, false)),
    end: (chunk, push) => void push(open(chunk, true)),
  });
}

type Push = (data: Buffer) => unknown;

interface Chunks {
  /** Of each chunk but the last, which is shorter. */
  readonly bytes: number;
  readonly headBytes?: number;
  readonly start?: (push: Push) => void;
  readonly head?: (head: Buffer) => void;
  readonly chunk: (chunk: Buffer, push: Push) => void;
  readonly end: (chunk: Buffer, push: Push) => void;
}

function inChunks({ bytes, headBytes = 0, start, head, chunk, end }: Chunks): Transform {
  let held: Buffer = Buffer.alloc(0);
  let awaitsHead = headBytes > 0;
  const take = (count: number): Buffer => {
    const taken = held.subarray(0, count);
    held = held.subarray(count);
    return taken;
  };
  const guarded = (act: () => void, done: (error?: Error) => void): void => {
    try {
      act();
      done();
    } catch (error) {
      done(error as Error); // Only openStream throws.
    }
  };
  const transform: Transform = new Transform({
    transform(data: Buffer, _encoding, done) {
      guarded(() => {
        held = held.length === 0 ? data : Buffer.concat([held, data]);
        if (awaitsHead && held.length >= headBytes) {
          awaitsHead = false;
          head?.(take(headBytes));
        }
        // A chunk that is complete but may be the last one of the file stays.
        while (!awaitsHead && held.length >= bytes) chunk(take(bytes), push);
      }, done);
    },
    flush(done) {
      guarded(() => end(held, push), done);
    },
  });
  const push: Push = (data) => transform.push(data);
  start?.(push);
  return transform;
}
