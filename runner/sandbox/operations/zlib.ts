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
import * as zlib from "node:zlib";
import type { BrotliOptions, Zlib, ZlibOptions } from "node:zlib";
import type { Transform } from "node:stream";
import { bytesArgument, choiceArgument, integerArgument, ownedBytes, recordArgument } from "./arguments.ts";
import type { AsyncOperation, OperationContext, PostOperation, SyncOperation } from "./context.ts";
import { type BrotliWindow, holdWindow } from "./brotli-windows.ts";
import { withThread } from "./slots.ts";

const concurrent = 4;
const maxInput = 64 * 1024 * 1024;
const maxOutput = 64 * 1024 * 1024;
/** A synchronous call holds up every isolate of the process: 16 MiB take about 80 ms. */
const maxSyncOutput = 16 * 1024 * 1024;
/** Brotli at its best takes seconds for a megabyte: what is longer than this is compressed synchronously as servers do it. */
const brotliBestBytes = 64 * 1024;
const brotliQuickQuality = 5;
const maxStreams = 100;

export const codecs = [
  "gzip",
  "gunzip",
  "deflate",
  "inflate",
  "deflateRaw",
  "inflateRaw",
  "unzip",
  "brotliCompress",
  "brotliDecompress",
] as const;
export type Codec = (typeof codecs)[number];
type Options = ZlibOptions & BrotliOptions;

const creators: Readonly<Record<Codec, (options: Options) => Transform & Zlib>> = {
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

/** `zlib(codec, bytes, options)` → bytes, at most 16 MiB of them. */
export const zlibSync: Record<string, SyncOperation> = {
  zlib: (_context, [name, input, options]) => {
    const codec = choiceArgument(name, "codec", codecs);
    const run = zlib[`${codec}Sync`] as (bytes: Uint8Array, given: Options) => Buffer;
    const bytes = bytesArgument(input, "input", maxSyncOutput);
    const parsed = parseOptions(codec, options, maxSyncOutput);
    const isLong = codec === "brotliCompress" && bytes.byteLength > brotliBestBytes;
    return ownedBytes(run(bytes, isLong ? quick(parsed) : parsed));
  },
};

function quick(options: Options): Options {
  const { BROTLI_PARAM_QUALITY: quality } = zlib.constants;
  const wanted = options.params?.[quality];
  const least = typeof wanted === "number" ? Math.min(wanted, brotliQuickQuality) : brotliQuickQuality;
  return { ...options, params: { ...options.params, [quality]: least } };
}

interface Stream {
  readonly window: BrotliWindow | undefined;
  readonly transform: Transform & Zlib;
  chunks: Buffer[];
  bytes: number;
}

/**
 * `zlib(codec, bytes, options)` → bytes, at most 64 MiB.
 * `zlib_write(id, codec, options, bytes | null, flush | null)` → what the stream of that id gave so far; null instead of bytes ends it.
 */
export const zlibAsync: Record<string, AsyncOperation> = {
  zlib: (context, [name, input, options]) =>
    withThread(context, "zlib", concurrent, () => {
      const codec = choiceArgument(name, "codec", codecs);
      const run = zlib[codec] as (bytes: Uint8Array, given: Options, done: (error: Error | null, result: Buffer) => void) => void;
      const bytes = bytesArgument(input, "input", maxInput);
      return new Promise((resolve, reject) => {
        run(bytes, parseOptions(codec, options, maxOutput), (error, result) => {
          if (error === null) resolve(ownedBytes(result));
          else reject(error);
        });
      });
    }),
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
  const transform = creators[codec](parseOptions(codec, options, maxOutput));
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
    if (stream.bytes > maxOutput)
      transform.destroy(
        Object.assign(new RangeError(`Cannot create a Buffer larger than ${maxOutput} bytes`), {
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
      const bytes = bytesArgument(input, "input", maxInput);
      if (codec === "brotliCompress") grow(stream, bytes.byteLength);
      if (transform.destroyed) return;
      transform.write(bytes, (error) => (error ? fail(error) : settle()));
    }
  });
}

const bounds = {
  flush: [0, 5],
  finishFlush: [0, 5],
  chunkSize: [64, 1024 * 1024],
  windowBits: [0, 15],
  level: [-1, 9],
  memLevel: [1, 9],
  strategy: [0, 4],
} as const satisfies Readonly<Partial<Record<keyof Options, readonly [number, number]>>>;

function parseOptions(codec: Codec, given: unknown, most: number): Options {
  if (given === undefined || given === null) return { maxOutputLength: most };
  const record = recordArgument(given, "options");
  const options: Record<string, unknown> = { maxOutputLength: most };
  for (const [name, [least, highest]] of Object.entries(bounds)) {
    if (record[name] !== undefined) options[name] = integerArgument(record[name], `options.${name}`, least, highest);
  }
  if (record["maxOutputLength"] !== undefined)
    options["maxOutputLength"] = Math.min(
      most,
      integerArgument(record["maxOutputLength"], "options.maxOutputLength", 1, Number.MAX_SAFE_INTEGER),
    );
  if (record["dictionary"] !== undefined) options["dictionary"] = bytesArgument(record["dictionary"], "options.dictionary", 1024 * 1024);
  if (record["params"] !== undefined) options["params"] = parseParams(codec, record["params"]);
  return options; // only known options, each within its bounds
}

/** 2^22, the default. What a larger one gains a component does not miss; a "large window" is up to a gigabyte for each stream. */
const maxWindowBits = 22;
const { BROTLI_PARAM_LGWIN: windowBits } = zlib.constants;

/** Brotli's parameters: number → number. Node itself checks their ranges. */
function parseParams(codec: Codec, given: unknown): Record<number, number> {
  const largeWindow =
    codec === "brotliCompress" ? zlib.constants.BROTLI_PARAM_LARGE_WINDOW : zlib.constants.BROTLI_DECODER_PARAM_LARGE_WINDOW;
  const params: Record<number, number> = {};
  for (const [name, value] of Object.entries(recordArgument(given, "options.params")).slice(0, 10)) {
    const key = integerArgument(Number(name), "options.params", 0, 20);
    const wanted = integerArgument(value, "options.params", 0, 2 ** 30);
    if (key === largeWindow) continue;
    params[key] = codec === "brotliCompress" && key === windowBits ? Math.min(wanted, maxWindowBits) : wanted;
  }
  return params;
}
