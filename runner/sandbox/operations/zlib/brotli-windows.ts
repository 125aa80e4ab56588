import type { OperationContext } from "../context.ts";

/** Largest window that a stream of Brotli's own format has (RFC 7932, 9.1); its ring buffer grows to that while bytes come out. */
const maxWindow = 16 * 1024 * 1024;
/** A compressor keeps about three times what it has read, up to that. */
const maxTables = 48 * 1024 * 1024;
/** Of one owner together in this process. */
const maxBytes = 256 * 1024 * 1024;

const held = new Map<string, number>();

/** What a stream of Brotli holds outside of V8's sight, where no limit of an isolate counts it. */
export interface BrotliWindow {
  /** So many bytes more went in, or came out. @throws `limit_exceeded` when the windows of the owner are too large together */
  grow(bytes: number): void;
  /** It is closed. Repeating is fine. */
  release(): void;
}

export function holdWindow({ owner }: OperationContext, direction: "compress" | "decompress"): BrotliWindow {
  const [most, factor] = direction === "compress" ? [maxTables, 3] : [maxWindow, 1];
  let own = 0;
  let isReleased = false;
  const change = (bytes: number): void => {
    own += bytes;
    const now = (held.get(owner) ?? 0) + bytes;
    if (now > 0) held.set(owner, now);
    else held.delete(owner);
  };
  return {
    grow(bytes) {
      if (isReleased) return;
      change(Math.min(bytes * factor, most - own));
      if ((held.get(owner) ?? 0) > maxBytes)
        throw Object.assign(new RangeError(`the open streams of Brotli hold more than ${maxBytes} bytes: end some before others begin`), {
          code: "limit_exceeded",
        });
    },
    release() {
      isReleased = true;
      change(-own);
    },
  };
}
