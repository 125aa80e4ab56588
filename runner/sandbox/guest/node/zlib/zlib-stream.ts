import type { Sendable } from "../../runtime/bridge.ts";
import { call, post } from "../../runtime/bridge.ts";
import { nextZlibId } from "../../web/streams/zlib-id.ts";
import { asBuffer, toBytes } from "../buffer/bytes.ts";
import { Transform } from "../stream/stream.ts";

type Done = (error?: Error | null) => void;

/** Stands for the handle inside Node's stream: packages read its class when they load; it does nothing. */
class Zlib {
  init(): never {
    throw new Error("the inside of a zlib stream (_handle) is not available here: write to the stream instead");
  }
}

/** A compression stream: the host processes each chunk and returns the output. */
export class ZlibStream extends Transform {
  readonly _handle = new Zlib();
  bytesWritten = 0;
  readonly #codec: string;
  readonly #options: Sendable;
  #id = nextZlibId();

  constructor(codec: string, options: Sendable) {
    super({ writableObjectMode: false, decodeStrings: false });
    this.#codec = codec;
    this.#options = options;
  }

  get bytesRead(): number {
    return this.bytesWritten;
  }

  override _transform(chunk: unknown, encoding: string, callback: Done): void {
    const bytes = toBytes(chunk, encoding);
    this.bytesWritten += bytes.byteLength;
    this.#step(bytes, null, callback);
  }

  override _flush(callback: Done): void {
    this.#step(null, null, callback);
  }

  override _destroy(error: Error | null, callback: Done): void {
    post("zlib_close", this.#id);
    callback(error);
  }

  /** `(kind?, callback?)`: flushes what was written so far. */
  flush(kind?: unknown, callback?: unknown): void {
    const done = (typeof kind === "function" ? kind : callback) as (() => void) | undefined;
    const mode = typeof kind === "number" ? kind : this.#codec.startsWith("brotli") ? 1 : 3;
    if (this.writableEnded) {
      if (done !== undefined) this.once("end", done);
      return;
    }
    const flush = (): void =>
      this.#step(new Uint8Array(0), mode, (error) => (error === undefined || error === null ? done?.() : this.destroy(error)));
    // The callback of an empty write runs once all earlier writes are processed.
    this.write(new Uint8Array(0), undefined, flush);
  }

  close(callback?: () => void): void {
    if (callback !== undefined) this.once("close", callback);
    this.destroy();
  }
  /** Resets the compression window, as WebSocket compression without context takeover needs. */
  reset(): void {
    post("zlib_close", this.#id);
    this.#id = nextZlibId();
  }
  params(_level: number, _strategy: number, callback?: () => void): void {
    callback?.();
  }

  #step(bytes: Uint8Array | null, flush: number | null, callback: Done): void {
    call("zlib_write", this.#id, this.#codec, this.#options, bytes, flush).then(
      (result) => {
        const output = result as Uint8Array<ArrayBuffer>; // made by the host's `zlib_write`
        if (output.byteLength > 0) this.push(asBuffer(output));
        callback();
      },
      (error: Error) => callback(zlibError(error)),
    );
  }
}

const numbers: Readonly<Record<string, number>> = {
  Z_NEED_DICT: 2,
  Z_STREAM_ERROR: -2,
  Z_DATA_ERROR: -3,
  Z_MEM_ERROR: -4,
  Z_BUF_ERROR: -5,
};

/** The host's errors carry the code; Node's have its number as well. */
export function zlibError(error: Error): Error {
  const { code } = error as { code?: string };
  return code !== undefined && numbers[code] !== undefined ? Object.assign(error, { errno: numbers[code] }) : error;
}
