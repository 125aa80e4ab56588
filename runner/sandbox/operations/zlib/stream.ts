import {
  createBrotliCompress,
  createBrotliDecompress,
  createDeflate,
  createDeflateRaw,
  createGunzip,
  createGzip,
  createInflate,
  createInflateRaw,
  createUnzip,
} from "node:zlib";
import type { Zlib } from "node:zlib";
import type { Transform } from "node:stream";
import { bytesArgument, choiceArgument, integerArgument, ownedBytes } from "../arguments.ts";
import type { AsyncOperation, OperationContext, PostOperation } from "../context.ts";
import { type BrotliWindow, holdWindow } from "./brotli-windows.ts";
import { withThread } from "../slots.ts";
import { codecs, maxBytes, parseOptions, type Codec, type CodecOptions } from "./options.ts";
import { wholeAsync, wholeSync, wholeWaited } from "./whole.ts";

const concurrent = 4;
const maxStreams = 100;

const creators: Readonly<Record<Codec, (options: CodecOptions) => Transform & Zlib>> = {
  gzip: createGzip,
  gunzip: createGunzip,
  deflate: createDeflate,
  inflate: createInflate,
  deflateRaw: createDeflateRaw,
  inflateRaw: createInflateRaw,
  unzip: createUnzip,
  brotliCompress: createBrotliCompress,
  brotliDecompress: createBrotliDecompress,
};

export const zlibSync = wholeSync;
export const zlibWaited = wholeWaited;

interface Stream {
  readonly window: BrotliWindow | undefined;
  readonly transform: Transform & Zlib;
  chunks: Buffer[];
  bytes: number;
}

/**
 * `zlib_write(id, codec, options, bytes | null, flush | null)` → what the stream of that id gave so far; null instead of bytes ends it.
 */
export const zlibAsync: Record<string, AsyncOperation> = {
  ...wholeAsync,
  zlib_write: async (context, [id, name, options, input, flush]) => {
    const streams = streamsOf(context);
    const key = integerArgument(id, "id", 1, Number.MAX_SAFE_INTEGER);
    const stream = streams.get(key) ?? open(context, key, choiceArgument(name, "codec", codecs), options);
    try {
      return await withThread(context, "zlib", concurrent, () => step(stream, name, input, flush));
    } catch (error) {
      close(streams, key);
      throw error;
    } finally {
      if (input === null) close(streams, key);
    }
  },
};

export const zlibPosts: Record<string, PostOperation> = {
  zlib_close: (context, [id]) => close(streamsOf(context), integerArgument(id, "id", 1, Number.MAX_SAFE_INTEGER)),
};

function streamsOf(context: OperationContext): Map<number, Stream> {
  const known = context.state.get("zlib:streams");
  if (known !== undefined) return known as Map<number, Stream>; // only written below
  const streams = new Map<number, Stream>();
  context.state.set("zlib:streams", streams);
  return streams;
}

function open(context: OperationContext, id: number, codec: Codec, options: unknown): Stream {
  const streams = streamsOf(context);
  if (streams.size >= maxStreams)
    throw Object.assign(new Error(`more than ${maxStreams} compression streams are open`), { code: "limit_exceeded" });
  const transform = creators[codec](parseOptions(codec, options));
  const window =
    codec === "brotliCompress"
      ? holdWindow(context, "compress")
      : codec === "brotliDecompress"
        ? holdWindow(context, "decompress")
        : undefined;
  const stream: Stream = { window, transform, chunks: [], bytes: 0 };
  transform.on("data", (chunk: Buffer) => {
    stream.chunks.push(chunk);
    stream.bytes += chunk.byteLength;
    if (codec === "brotliDecompress") grow(stream, chunk.byteLength);
    if (stream.bytes > maxBytes)
      transform.destroy(
        Object.assign(new RangeError(`Cannot create a Buffer larger than ${maxBytes} bytes`), {
          code: "ERR_BUFFER_TOO_LARGE",
        }),
      );
  });
  transform.on("error", () => {}); // the step under way rejects
  streams.set(id, stream);
  // What a run leaves open goes with it.
  const onEnd = (): void => close(streams, id);
  context.signal.addEventListener("abort", onEnd, { once: true });
  transform.once("close", () => {
    context.signal.removeEventListener("abort", onEnd);
    window?.release();
  });
  return stream;
}

function close(streams: Map<number, Stream>, id: number): void {
  streams.get(id)?.transform.destroy();
  streams.delete(id);
}

function grow({ transform, window }: Stream, bytes: number): void {
  try {
    window?.grow(bytes);
  } catch (error) {
    transform.destroy(error instanceof Error ? error : undefined);
  }
}

function step(stream: Stream, codec: unknown, input: unknown, flush: unknown): Promise<Uint8Array> {
  const { transform } = stream;
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      transform.off("error", fail);
      transform.off("close", gone);
      if (transform.errored !== null) return reject(transform.errored);
      const result = ownedBytes(Buffer.concat(stream.chunks));
      stream.chunks = [];
      resolve(result);
    };
    const fail = (error: Error): void => reject(error);
    const gone = (): void => reject(Object.assign(new Error("the stream is closed"), { code: "ERR_STREAM_DESTROYED" }));
    transform.once("error", fail);
    transform.once("close", gone);
    if (transform.destroyed) return gone();
    if (input === null) {
      transform.once("end", settle);
      transform.end();
    } else if (typeof flush === "number") transform.flush(integerArgument(flush, "flush", 0, 5), settle);
    else {
      const bytes = bytesArgument(input, "input", maxBytes);
      if (codec === "brotliCompress") grow(stream, bytes.byteLength);
      if (transform.destroyed) return;
      transform.write(bytes, (error) => (error ? fail(error) : settle()));
    }
  });
}
