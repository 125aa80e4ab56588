import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { ownedBytes } from "../arguments.ts";
import { coded } from "./request.ts";

/** A body up to this size is sent with its head, in one message. */
const inlineBytes = 64 * 1024;
/** How long a head waits for the rest of a small body. */
const inlineWaitMs = 15;
/** Largest response body. What a component does not read as a stream is bounded by the guest, and by its memory. */
export const maxBodyBytes = 512 * 1024 * 1024;
/** The same after decompression, which takes a thread of the process. */
export const maxDecompressedBytes = 32 * 1024 * 1024;

/** Reads the bytes of a response: first those that arrive at once, then chunk by chunk. */
export interface BodyReader {
  /** The bytes that arrive at once; `complete` if that is the whole body. */
  first(): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly complete: boolean }>;
  /** The next chunk, undefined at the end. */
  next(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  cancel(): void;
}

/** @param onBytes called for each chunk; an error that it throws ends the body */
export function readBody(body: Readable, maxBytes: number, onBytes: (bytes: number) => void = () => {}): BodyReader {
  const iterator = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>; // The stream is never in object mode.
  let pending: Promise<IteratorResult<Buffer>> | undefined;
  let received = 0;

  async function take(): Promise<Buffer | undefined> {
    pending ??= iterator.next();
    const { done, value } = await pending;
    pending = undefined;
    if (done === true) return undefined;
    received += value.byteLength;
    onBytes(value.byteLength);
    if (received > maxBytes) {
      body.destroy();
      throw coded(new Error(`the response body is larger than ${maxBytes} bytes`), "response_too_large");
    }
    return value;
  }

  async function first(): ReturnType<BodyReader["first"]> {
    const chunks: Buffer[] = [];
    const waiting = new AbortController();
    const late = delay(inlineWaitMs, "late" as const, { signal: waiting.signal }).catch(() => "late" as const);
    try {
      while (received < inlineBytes) {
        pending ??= iterator.next();
        // The loser of the race stays in `pending` and is the next chunk, as does an error: the head is not at fault for it.
        const arrived = await Promise.race([pending, late]).catch(() => "failed" as const);
        if (arrived === "late" || arrived === "failed") return { bytes: joined(chunks), complete: false };
        const chunk = await take();
        if (chunk === undefined) return { bytes: joined(chunks), complete: true };
        chunks.push(chunk);
      }
      return { bytes: joined(chunks), complete: false };
    } finally {
      waiting.abort();
    }
  }

  return {
    first,
    next: async () => {
      const chunk = await take();
      return chunk === undefined ? undefined : ownedBytes(chunk);
    },
    cancel: () => {
      pending?.catch(() => {}); // It has no reader any more.
      body.destroy();
    },
  };
}

function joined(chunks: readonly Buffer[]): Uint8Array<ArrayBuffer> {
  return ownedBytes(Buffer.concat(chunks));
}
