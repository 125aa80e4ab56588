import * as zlib from "node:zlib";
import type { BrotliOptions, ZlibOptions } from "node:zlib";
import { bytesArgument, integerArgument, recordArgument } from "../arguments.ts";

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
export type CodecOptions = ZlibOptions & BrotliOptions;

/** Of one input, and of one output. */
export const maxBytes = 64 * 1024 * 1024;

const bounds = {
  flush: [0, 5],
  finishFlush: [0, 5],
  chunkSize: [64, 1024 * 1024],
  windowBits: [0, 15],
  level: [-1, 9],
  memLevel: [1, 9],
  strategy: [0, 4],
} as const satisfies Readonly<Partial<Record<keyof CodecOptions, readonly [number, number]>>>;

/** Only known options, each within its bounds. */
export function parseOptions(codec: Codec, given: unknown): CodecOptions & { readonly maxOutputLength: number } {
  if (given === undefined || given === null) return { maxOutputLength: maxBytes };
  const record = recordArgument(given, "options");
  const options: Record<string, unknown> = {};
  for (const [name, [least, highest]] of Object.entries(bounds)) {
    if (record[name] !== undefined) options[name] = integerArgument(record[name], `options.${name}`, least, highest);
  }
  // Each chunk is an event on the host's thread: a million of 64 bytes hold it up for seconds. Their size does not show in a result.
  if (options["chunkSize"] !== undefined) options["chunkSize"] = Math.max(Number(options["chunkSize"]), zlib.constants.Z_DEFAULT_CHUNK);
  if (record["dictionary"] !== undefined) options["dictionary"] = bytesArgument(record["dictionary"], "options.dictionary", 1024 * 1024);
  if (record["params"] !== undefined) options["params"] = parseParams(codec, record["params"]);
  const asked = record["maxOutputLength"];
  const maxOutputLength = asked === undefined ? maxBytes : integerArgument(asked, "options.maxOutputLength", 1, Number.MAX_SAFE_INTEGER);
  return { ...options, maxOutputLength: Math.min(maxBytes, maxOutputLength) };
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
