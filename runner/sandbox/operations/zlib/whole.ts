import * as zlib from "node:zlib";
import { bytesArgument, choiceArgument, ownedBytes } from "../arguments.ts";
import type { AsyncOperation, OperationContext, SyncOperation } from "../context.ts";
import { withThread } from "../slots.ts";
import { codecs, maxBytes, parseOptions, type Codec, type CodecOptions } from "./options.ts";

const concurrent = 4;
/** What the host's thread computes at once, a few ms of it. With more the guest waits for the thread pool. */
const small = { input: 64 * 1024, output: 1024 * 1024 };
/** Brotli at its best takes two seconds for this much, and a guest that waits has five: what is longer is compressed as servers do it. */
const brotliBestBytes = 1024 * 1024;
const brotliQuickQuality = 5;

/**
 * `zlib(codec, bytes, options)` → bytes, or undefined when the output is not small. Takes at most 64 KiB; Brotli's compressor, the
 * slowest codec, takes nothing here.
 */
export const wholeSync: Record<string, SyncOperation> = {
  zlib: (_context, [name, input, options]) => {
    const codec = choiceArgument(name, "codec", codecs);
    const bytes = bytesArgument(input, "input", small.input);
    if (codec === "brotliCompress") return undefined;
    const parsed = parseOptions(codec, options);
    const maxOutputLength = Math.min(small.output, parsed.maxOutputLength);
    try {
      const run = zlib[`${codec}Sync`] as (bytes: Uint8Array, given: CodecOptions) => Buffer;
      return ownedBytes(run(bytes, { ...parsed, maxOutputLength }));
    } catch (error) {
      const isTooLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
      if (isTooLarge && maxOutputLength < parsed.maxOutputLength) return undefined;
      throw error;
    }
  },
};

/** `zlib(codec, bytes, options)` → bytes, at most 64 MiB of them. */
export const wholeAsync: Record<string, AsyncOperation> = { zlib: (context, args) => compute(context, args, (options) => options) };

/** The same where a guest's thread waits for the result. */
export const wholeWaited: Record<string, AsyncOperation> = {
  zlib: (context, args) =>
    compute(context, args, (options, codec, bytes) =>
      codec === "brotliCompress" && bytes.byteLength > brotliBestBytes ? withQuickQuality(options) : options,
    ),
};

function compute(
  context: OperationContext,
  [name, input, options]: readonly unknown[],
  adapt: (options: CodecOptions, codec: Codec, bytes: Uint8Array) => CodecOptions,
): Promise<unknown> {
  return withThread(context, "zlib", concurrent, () => {
    const codec = choiceArgument(name, "codec", codecs);
    const run = zlib[codec] as (bytes: Uint8Array, given: CodecOptions, done: (error: Error | null, result: Buffer) => void) => void;
    const bytes = bytesArgument(input, "input", maxBytes);
    return new Promise((resolve, reject) => {
      run(bytes, adapt(parseOptions(codec, options), codec, bytes), (error, result) => {
        if (error === null) resolve(ownedBytes(result));
        else reject(error);
      });
    });
  });
}

function withQuickQuality(options: CodecOptions): CodecOptions {
  const { BROTLI_PARAM_QUALITY: quality } = zlib.constants;
  const asked = options.params?.[quality];
  const used = typeof asked === "number" ? Math.min(asked, brotliQuickQuality) : brotliQuickQuality;
  return { ...options, params: { ...options.params, [quality]: used } };
}
