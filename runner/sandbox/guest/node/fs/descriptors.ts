import { decodeUtf8 } from "../../web/encoding/utf8.ts";
import { guest } from "../globals.ts";
import { toBytes } from "../buffer/bytes.ts";
import { outOfRange } from "../errors.ts";
import { constants } from "./constants.ts";
import { append, readFrom, readInto, resize, setSize, writeAt } from "./content.ts";
import { fsError } from "./errors.ts";
import { Stats } from "./stats.ts";
import { performNow, type Steps } from "./steps.ts";
import { createFile, find, listed, mustList, pathText, slot } from "./tree.ts";
import { type FileNode, isUsable, onVolumeEnd } from "./volume.ts";

interface Open {
  readonly file: FileNode;
  readonly reads: boolean;
  readonly writes: boolean;
  readonly appends: boolean;
  position: number;
}

const { O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND } = constants;
const flagBits: Record<string, number> = {
  r: 0,
  rs: 0,
  "r+": O_RDWR,
  "rs+": O_RDWR,
  w: O_WRONLY | O_CREAT | O_TRUNC,
  wx: O_WRONLY | O_CREAT | O_TRUNC | O_EXCL,
  "w+": O_RDWR | O_CREAT | O_TRUNC,
  "wx+": O_RDWR | O_CREAT | O_TRUNC | O_EXCL,
  a: O_WRONLY | O_CREAT | O_APPEND,
  as: O_WRONLY | O_CREAT | O_APPEND,
  ax: O_WRONLY | O_CREAT | O_APPEND | O_EXCL,
  "a+": O_RDWR | O_CREAT | O_APPEND,
  "as+": O_RDWR | O_CREAT | O_APPEND,
  "ax+": O_RDWR | O_CREAT | O_APPEND | O_EXCL,
};
const maxOpen = 1000;
const table = new Map<number, Open>();

onVolumeEnd(() => {
  for (const [fd, { file }] of table) if (!isUsable(file.volume)) table.delete(fd);
});

/** Opens a file in a volume that is listed. */
export function openFile(given: unknown, flags: string | number, mode: number): Open {
  const text = pathText(given);
  const bits = typeof flags === "number" ? flags : flagBits[flags];
  if (bits === undefined)
    throw Object.assign(new TypeError(`The argument 'flags' is invalid. Received '${flags}'`), {
      code: "ERR_INVALID_ARG_VALUE",
    });
  const writes = (bits & (O_WRONLY | O_RDWR)) !== 0;
  const node = find(text, "open");
  if (node !== undefined && (bits & O_CREAT) !== 0 && (bits & O_EXCL) !== 0) throw fsError("EEXIST", "open", text);
  if (node?.kind === "directory" && writes) throw fsError("EISDIR", "open", text);
  if (node === undefined && (bits & O_CREAT) === 0) throw fsError("ENOENT", "open", text);
  if (table.size >= maxOpen) throw fsError("EMFILE", "open", text);
  const file = node ?? createFile(slot(text, "open"), mode & 0o755, "open");
  if (file.kind === "directory") throw fsError("EISDIR", "open", text);
  if ((bits & O_TRUNC) !== 0) setSize(file, 0, "open");
  return { file, reads: (bits & O_WRONLY) === 0, writes, appends: (bits & O_APPEND) !== 0, position: 0 };
}

export function* openSteps(given: unknown, flags: string | number = "r", mode = 0o666): Steps<number> {
  if (mustList()) yield* listed();
  const open = openFile(given, flags, mode);
  let fd = 3;
  while (table.has(fd)) fd += 1;
  table.set(fd, open);
  return fd;
}
export const openSync = (given: unknown, flags?: string | number, mode?: number): number => performNow(openSteps(given, flags, mode));

function opened(fd: unknown, syscall: string): Open {
  const open = table.get(Number(fd));
  if (open === undefined) throw fsError("EBADF", syscall);
  return open;
}

export function closeSync(fd: number): void {
  opened(fd, "close");
  table.delete(fd);
}

type Position = number | bigint | null | undefined;

/** Undefined: where the last read or write ended. */
function positionOf(given: unknown): number | undefined {
  if (given === null || given === undefined || Number(given) < 0) return undefined;
  return sizeOf(given, "position");
}

/** @throws ERR_OUT_OF_RANGE unless it is an integer; a negative one counts as 0 */
export function sizeOf(given: unknown, name: string): number {
  const size = Number(given);
  if (!Number.isSafeInteger(size)) throw outOfRange(name, "an integer", given);
  return Math.max(0, size);
}

/** Reads into a buffer; a position of null reads on from where the last read ended. */
export function* readSteps(fd: number, target: ArrayBufferView, offset: unknown = 0, length?: number, position?: Position): Steps<number> {
  const options =
    typeof offset === "object" && offset !== null
      ? (offset as { offset?: number; length?: number; position?: Position })
      : { offset: Number(offset), length, position };
  const open = opened(fd, "read");
  if (!open.reads) throw fsError("EBADF", "read");
  const bytes = new Uint8Array(target.buffer, target.byteOffset, target.byteLength);
  const start = options.offset ?? 0;
  const given = positionOf(options.position);
  const from = given ?? open.position;
  const count = Math.max(0, Math.min(options.length ?? bytes.length - start, bytes.length - start, open.file.size - from));
  // Before anything is waited for: another read goes on behind it.
  if (given === undefined) open.position = from + count;
  return yield* readInto(open.file, bytes.subarray(start, start + count), from);
}
export const readSync = (fd: number, target: ArrayBufferView, offset?: unknown, length?: number, position?: Position): number =>
  performNow(readSteps(fd, target, offset, length, position));

/** Writes text (position, encoding) or bytes (offset, length, position). */
export function* writeSteps(fd: number, data: unknown, first?: unknown, second?: unknown, third?: unknown): Steps<number> {
  if (fd === 1 || fd === 2) return writeStandard(fd, data);
  const open = opened(fd, "write");
  if (!open.writes) throw fsError("EBADF", "write");
  const isText = typeof data === "string";
  const whole = isText ? toBytes(data, second) : toBytes(data, undefined, "buffer");
  const options =
    !isText && typeof first === "object" && first !== null
      ? (first as { offset?: number; length?: number; position?: number | null })
      : {
          offset: first as number | undefined,
          length: second as number | undefined,
          position: third as number | null | undefined,
        }; // checked by Number below
  const offset = isText ? 0 : Number(options.offset ?? 0);
  const bytes = isText ? whole : whole.subarray(offset, offset + Number(options.length ?? whole.length - offset));
  const position = isText ? first : options.position;
  const { file } = open;
  if (open.appends) {
    yield* append(file, bytes);
    if (typeof position !== "number") open.position = file.size;
    return bytes.length;
  }
  const at = typeof position === "number" ? sizeOf(position, "position") : open.position;
  const end = at + bytes.length;
  if (typeof position !== "number") open.position = end;
  try {
    yield* writeAt(file, bytes, at);
  } catch (error) {
    if (typeof position !== "number" && open.position === end) open.position = at;
    throw error;
  }
  return bytes.length;
}
export const writeSync = (fd: number, data: unknown, first?: unknown, second?: unknown, third?: unknown): number =>
  performNow(writeSteps(fd, data, first, second, third));

/** Some loggers write to descriptors 1 and 2 directly; both go to the run's log. */
function writeStandard(fd: 1 | 2, data: unknown): number {
  const bytes = toBytes(data);
  guest.console[fd === 1 ? "log" : "error"](decodeUtf8(bytes).replace(/\n$/, ""));
  return bytes.length;
}

export const fstatSync = (fd: number): Stats => new Stats(opened(fd, "fstat").file);
export function* ftruncateSteps(fd: number, length: unknown = 0): Steps<void> {
  yield* resize(opened(fd, "ftruncate").file, sizeOf(length, "len"), "ftruncate");
}
export const ftruncateSync = (fd: number, length?: unknown): void => performNow(ftruncateSteps(fd, length));
export const fsyncSync = (fd: number): void => void opened(fd, "fsync");
export const fdatasyncSync = fsyncSync;

type Transfer = (fd: number, view: ArrayBufferView, offset: number, length: number, position: number | null) => Steps<number>;

function* eachView(transfer: Transfer, fd: number, views: readonly ArrayBufferView[], position: unknown): Steps<number> {
  let sum = 0;
  for (const view of views) sum += yield* transfer(fd, view, 0, view.byteLength, typeof position === "number" ? position + sum : null);
  return sum;
}
export const readvSteps = (fd: number, views: readonly ArrayBufferView[], position?: unknown): Steps<number> =>
  eachView(readSteps, fd, views, position);
export const writevSteps = (fd: number, views: readonly ArrayBufferView[], position?: unknown): Steps<number> =>
  eachView(writeSteps, fd, views, position);
export const readvSync: (...args: Parameters<typeof readvSteps>) => number = (...args) => performNow(readvSteps(...args));
export const writevSync: (...args: Parameters<typeof writevSteps>) => number = (...args) => performNow(writevSteps(...args));

/** The rest of the file behind a descriptor, from its position on. */
export function* readRest(fd: number): Steps<Uint8Array<ArrayBuffer>> {
  const open = opened(fd, "read");
  const from = open.position;
  open.position = Math.max(from, open.file.size);
  return yield* readFrom(open.file, from);
}
