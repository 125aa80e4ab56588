import type { Sendable } from "../../runtime/bridge.ts";
import { call, sync, wait } from "../../runtime/bridge.ts";
import { asBuffer, toBytes } from "../buffer/bytes.ts";
import type { Buffer } from "../buffer/buffer.ts";
import { invalidArgument, unsupportedModule } from "../errors.ts";
import { constants } from "./zlib-constants.ts";
import { zlibError, ZlibStream } from "./zlib-stream.ts";

const codecs = ["gzip", "gunzip", "deflate", "inflate", "deflateRaw", "inflateRaw", "unzip", "brotliCompress", "brotliDecompress"] as const;
type Codec = (typeof codecs)[number];
type Callback = (error: unknown, result?: Buffer) => void;

const optionNames = ["flush", "finishFlush", "chunkSize", "windowBits", "level", "memLevel", "strategy", "maxOutputLength"] as const;

/** Keeps only the options that the host supports. */
function toSettings(given: unknown): Sendable {
  if (typeof given !== "object" || given === null) return null;
  const options = given as Readonly<Record<string, unknown>>;
  const settings: Record<string, Sendable> = {};
  for (const name of optionNames) if (typeof options[name] === "number" && Number.isFinite(options[name])) settings[name] = options[name];
  if (options["dictionary"] !== undefined) settings["dictionary"] = toBytes(options["dictionary"]);
  if (typeof options["params"] === "object" && options["params"] !== null)
    settings["params"] = { ...(options["params"] as Record<string, number>) };
  return settings;
}

/** Up to this size the host computes synchronously. For more, and for Brotli's slow compressor, this thread waits for the host's thread pool. */
const smallBytes = 64 * 1024;

function runSync(codec: Codec, input: unknown, options: unknown): Buffer {
  const bytes = toBytes(input, undefined, "buffer");
  const settings = toSettings(options);
  const isSmall = bytes.length <= smallBytes && codec !== "brotliCompress";
  try {
    // The host's `zlib` leaves a large output to the pool.
    const result = (isSmall ? sync("zlib", codec, bytes, settings) : undefined) ?? wait("zlib", codec, bytes, settings);
    return asBuffer(result as Uint8Array<ArrayBuffer>); // made by the host's `zlib`
  } catch (error) {
    throw zlibError(error as Error);
  }
}

function runAsync(codec: Codec, args: readonly unknown[]): void {
  const callback = args.at(-1);
  if (typeof callback !== "function") throw invalidArgument("callback", "of type function", callback);
  const done = callback as Callback;
  const [input, options] = args;
  call("zlib", codec, toBytes(input, undefined, "buffer"), toSettings(options)).then(
    (bytes) => done(null, asBuffer(bytes as Uint8Array<ArrayBuffer>)), // made by the host's `zlib`
    (error: Error) => done(zlibError(error)),
  );
}

/** Packages call these classes without `new`, as Node allows. */
function classOf(codec: Codec, name: string): unknown {
  const Class = {
    [name]: class extends ZlibStream {
      constructor(options?: unknown) {
        super(codec, toSettings(options));
      }
    },
  }[name] as new (options?: unknown) => ZlibStream; // a computed key is typed as possibly undefined
  return new Proxy(Class, { apply: (Target, _self, args) => new Target(...(args as [unknown?])) });
}

const table = new Uint32Array(256).map((_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

function crc32(data: unknown, start = 0): number {
  let value = ~start;
  for (const byte of toBytes(data)) value = (table[(value ^ byte) & 0xff] ?? 0) ^ (value >>> 8);
  return ~value >>> 0;
}

const zlib: Record<string, unknown> = {
  ...constants,
  constants,
  codes: Object.freeze({
    Z_OK: 0,
    Z_STREAM_END: 1,
    Z_NEED_DICT: 2,
    Z_ERRNO: -1,
    Z_STREAM_ERROR: -2,
    Z_DATA_ERROR: -3,
    Z_MEM_ERROR: -4,
    Z_BUF_ERROR: -5,
    Z_VERSION_ERROR: -6,
    0: "Z_OK",
    1: "Z_STREAM_END",
    2: "Z_NEED_DICT",
    "-1": "Z_ERRNO",
    "-2": "Z_STREAM_ERROR",
    "-3": "Z_DATA_ERROR",
    "-4": "Z_MEM_ERROR",
    "-5": "Z_BUF_ERROR",
    "-6": "Z_VERSION_ERROR",
  }),
  crc32,
  ...unsupportedModule(
    "zlib",
    ["zstdCompress", "zstdDecompress", "zstdCompressSync", "zstdDecompressSync", "createZstdCompress", "createZstdDecompress"],
    "use gzip or brotli",
  ),
};

for (const codec of codecs) {
  const name = codec[0]?.toUpperCase() + codec.slice(1);
  const Class = classOf(codec, name) as new (options?: unknown) => ZlibStream;
  zlib[name] = Class;
  zlib[`create${name}`] = (options?: unknown) => new Class(options);
  zlib[codec] = (...args: unknown[]) => runAsync(codec, args);
  zlib[`${codec}Sync`] = (input: unknown, options?: unknown) => runSync(codec, input, options);
}

/** `node:zlib`. One-shot functions and streams work on the host; `util.promisify` works on the former. */
export default zlib;
