import { asBuffer, toBytes } from "../buffer/bytes.ts";
import type { Buffer } from "../buffer/buffer.ts";
import path from "../path/path.ts";
import { constants } from "./constants.ts";
import { append, copyContent, readFrom, resize, writeAt } from "./content.ts";
import { openFile, readRest, sizeOf, writeSteps } from "./descriptors.ts";
import { fsError } from "./errors.ts";
import { performNow, type Steps } from "./steps.ts";
import { existsSync, mkdirSync, optionsOf, type Options, readdirSync } from "./sync.ts";
import { find, get, getFile, listed, mustList, pathText } from "./tree.ts";

// Functions of whole files. Their contents may be stored by the host.

const encoded = (bytes: Buffer, encoding: unknown): Buffer | string =>
  typeof encoding === "string" && encoding !== "buffer" ? bytes.toString(encoding) : bytes;

export function* readFileSteps(given: unknown, options?: Options): Steps<Buffer | string> {
  const { encoding } = optionsOf(options);
  if (typeof given === "number") return encoded(asBuffer(yield* readRest(given)), encoding);
  if (mustList()) yield* listed();
  return encoded(asBuffer(yield* readFrom(getFile(pathText(given), "open"), 0)), encoding);
}
export const readFileSync = (given: unknown, options?: Options): Buffer | string => performNow(readFileSteps(given, options));

export function* writeFileSteps(given: unknown, data: unknown, options?: Options): Steps<void> {
  const { encoding, flag = "w", mode = 0o666 } = optionsOf(options);
  const bytes = toBytes(data, encoding);
  if (typeof given === "number") {
    yield* writeSteps(given, bytes);
    return;
  }
  if (mustList()) yield* listed();
  const { file, writes, appends } = openFile(given, flag as string, Number(mode)); // it refuses flags that it does not know
  if (!writes) throw fsError("EBADF", "write");
  yield* appends ? append(file, bytes) : writeAt(file, bytes, 0);
}
export const writeFileSync = (given: unknown, data: unknown, options?: Options): void => performNow(writeFileSteps(given, data, options));

export const appendFileSteps = (given: unknown, data: unknown, options?: Options): Steps<void> =>
  writeFileSteps(given, data, { flag: "a", ...optionsOf(options) });
export const appendFileSync = (given: unknown, data: unknown, options?: Options): void => performNow(appendFileSteps(given, data, options));

export function* copyFileSteps(from: unknown, to: unknown, mode = 0): Steps<void> {
  const [source, target] = [pathText(from), pathText(to)];
  yield* listed();
  const node = find(source, "copyfile");
  if (node === undefined) throw fsError("ENOENT", "copyfile", source, target);
  if (node.kind === "directory") throw fsError("EISDIR", "copyfile", source, target);
  if ((mode & constants.COPYFILE_EXCL) !== 0 && existsSync(target)) throw fsError("EEXIST", "copyfile", source, target);
  if (find(target, "copyfile") === node) return;
  yield* copyContent(node, openFile(target, "w", 0o666).file);
}
export const copyFileSync = (from: unknown, to: unknown, mode?: number): void => performNow(copyFileSteps(from, to, mode));

interface CopyOptions {
  readonly recursive?: boolean;
}
export function* cpSteps(from: unknown, to: unknown, options: CopyOptions = {}): Steps<void> {
  const [source, target] = [pathText(from), pathText(to)];
  yield* listed();
  if (get(source, "cp").kind === "file") return yield* copyFileSteps(source, target);
  if (options.recursive !== true)
    throw Object.assign(new Error(`Recursive option not enabled, cannot copy a directory: ${source}`), {
      code: "ERR_FS_EISDIR",
    });
  mkdirSync(target, { recursive: true });
  for (const name of readdirSync(source)) yield* cpSteps(path.join(source, String(name)), path.join(target, String(name)), options);
}
export const cpSync = (from: unknown, to: unknown, options?: CopyOptions): void => performNow(cpSteps(from, to, options));

export function* truncateSteps(given: unknown, length: unknown = 0): Steps<void> {
  yield* listed();
  yield* resize(getFile(pathText(given), "open"), sizeOf(length, "len"), "truncate");
}
export const truncateSync = (given: unknown, length?: unknown): void => performNow(truncateSteps(given, length));
