import { invalidArgument, unsupportedModule } from "../errors.ts";
import { nextTick } from "../timers/next-tick.ts";
import "./changes.ts";
import { constants } from "./constants.ts";
import * as contents from "./contents.ts";
import * as descriptors from "./descriptors.ts";
import { FileHandle, openHandle } from "./handle.ts";
import "./manifest.ts";
import { Dirent, Stats } from "./stats.ts";
import { perform, promised, type Steps } from "./steps.ts";
import { ReadStream, WriteStream } from "./streams.ts";
import * as sync from "./sync.ts";
import { listed } from "./tree.ts";

// Callback and promise functions are derived from one table of synchronous functions, and one of those that may wait for the host.

type Any = (...args: unknown[]) => unknown;
type Stepped = (...args: unknown[]) => Steps<unknown>;
const all = Object.entries({ ...descriptors, ...contents, ...sync }) as unknown as [string, Any][]; // all are called by name only
const synchronous = Object.fromEntries(all.filter(([name]) => name.endsWith("Sync")));
const stepped = Object.fromEntries(all.filter(([name]) => name.endsWith("Steps"))) as Record<string, Stepped>;

const withoutPromise = new Set(["close", "exists", "fstat", "ftruncate", "fsync", "fdatasync", "read", "readv", "write", "writev", "open"]);
const promises: Record<string, unknown> = { open: openHandle, constants, FileHandle };
const callbacks: Record<string, unknown> = {};

function* afterListing(run: Any, args: readonly unknown[]): Steps<unknown> {
  yield* listed();
  return run(...args);
}

for (const [name, run] of Object.entries(synchronous)) {
  const base = name.replace(/Sync$/, "");
  const steps = stepped[`${base}Steps`] ?? ((...args: unknown[]) => afterListing(run, args));
  if (!withoutPromise.has(base)) promises[base] = (...args: unknown[]) => promised(steps(...args));
  callbacks[base] = (...args: unknown[]) => {
    const done = args.pop();
    if (typeof done !== "function") throw invalidArgument("cb", "of type function", done);
    const call = (...results: unknown[]): void => nextTick(() => Reflect.apply(done, undefined, results));
    perform(
      steps(...args),
      (result) => {
        // These also pass the buffer to the callback.
        if (base === "read" || base === "write" || base === "readv" || base === "writev") call(null, result, args[1]);
        else call(null, result);
      },
      call,
    );
  };
}

const missing = "files live in /tmp, in memory, and nothing else changes them";

/** `node:fs`: a /tmp of 64 MB in memory, or that of the workflow run. */
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
  exists: (at: unknown, done: (found: boolean) => void): void =>
    perform(
      afterListing(sync.existsSync as Any, [at]),
      (found) => nextTick(() => done(found === true)),
      () => nextTick(() => done(false)),
    ),
  createReadStream: (at: unknown, options?: string | object): ReadStream => new ReadStream(at, options),
  createWriteStream: (at: unknown, options?: string | object): WriteStream => new WriteStream(at, options),
};
Object.assign(fs["realpath"] as object, { native: fs["realpath"] });

export default fs;
