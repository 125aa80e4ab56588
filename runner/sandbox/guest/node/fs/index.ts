import { invalidArgument, unsupportedModule } from "../errors.ts";
import { nextTick } from "../timers/next-tick.ts";
import * as descriptors from "./descriptors.ts";
import { FileHandle, openHandle } from "./handle.ts";
import { Dirent, Stats } from "./stats.ts";
import { ReadStream, WriteStream } from "./streams.ts";
import * as sync from "./sync.ts";

// Callback and promise functions are derived from one table of synchronous functions: files are in memory.

type Any = (...args: unknown[]) => unknown;
const { constants, readAll: _readAll, ...descriptorFunctions } = descriptors;
const { optionsOf: _optionsOf, ...fileFunctions } = sync;
const synchronous = { ...descriptorFunctions, ...fileFunctions } as unknown as Record<string, Any>; // all are called by name only

const withoutPromise = new Set(["close", "exists", "fstat", "ftruncate", "fsync", "fdatasync", "read", "readv", "write", "writev", "open"]);
const promises: Record<string, unknown> = { open: openHandle, constants, FileHandle };
const callbacks: Record<string, unknown> = {};

for (const [name, run] of Object.entries(synchronous)) {
  const base = name.replace(/Sync$/, "");
  if (!withoutPromise.has(base)) promises[base] = async (...args: unknown[]) => run(...args);
  callbacks[base] = (...args: unknown[]) => {
    const done = args.pop();
    if (typeof done !== "function") throw invalidArgument("cb", "of type function", done);
    const call = (...results: unknown[]): void => nextTick(() => Reflect.apply(done, undefined, results));
    try {
      const result = run(...args);
      // These two also pass the buffer to the callback.
      if (base === "read" || base === "write" || base === "readv" || base === "writev") call(null, result, args[1]);
      else call(null, result);
    } catch (error) {
      call(error);
    }
  };
}

const missing = "files live in /tmp, in memory, and nothing else changes them";

/** `node:fs`: an empty /tmp of 64 MB in memory. */
const fs: Record<string, unknown> = {
  ...unsupportedModule("fs", ["watch", "watchFile", "unwatchFile", "opendir", "opendirSync", "glob", "globSync", "openAsBlob"], missing),
  ...synchronous,
  ...callbacks,
  constants,
  promises,
  Dirent,
  Stats,
  ReadStream,
  WriteStream,
  FileReadStream: ReadStream,
  FileWriteStream: WriteStream,
  ...Object.fromEntries((["F_OK", "R_OK", "W_OK", "X_OK"] as const).map((name) => [name, constants[name]])),
  exists: (at: unknown, done: (found: boolean) => void): void => nextTick(() => done(sync.existsSync(at))),
  createReadStream: (at: unknown, options?: string | object): ReadStream => new ReadStream(at, options),
  createWriteStream: (at: unknown, options?: string | object): WriteStream => new WriteStream(at, options),
};
Object.assign(fs["realpath"] as object, { native: fs["realpath"] });

export default fs;
