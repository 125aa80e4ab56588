import { decodeUtf8 } from "../../web/encoding/utf8.ts";
import { guest } from "../globals.ts";
import { toBytes } from "../buffer/bytes.ts";
import { Stats } from "./stats.ts";
import { createFile, find, fsError, pathText, resize, slot, writeAt, type FileNode } from "./tree.ts";

interface Open {
  readonly file: FileNode;
  readonly reads: boolean;
  readonly writes: boolean;
  readonly appends: boolean;
  position: number;
}

export const constants = {
  F_OK: 0,
  R_OK: 4,
  W_OK: 2,
  X_OK: 1,
  COPYFILE_EXCL: 1,
  COPYFILE_FICLONE: 2,
  COPYFILE_FICLONE_FORCE: 4,
  O_RDONLY: 0,
  O_WRONLY: 1,
  O_RDWR: 2,
  O_CREAT: 64,
  O_EXCL: 128,
  O_NOCTTY: 256,
  O_TRUNC: 512,
  O_APPEND: 1024,
  O_DIRECTORY: 65_536,
  O_NOFOLLOW: 131_072,
  O_SYNC: 1_052_672,
  O_DSYNC: 4096,
  O_NONBLOCK: 2048,
  S_IFMT: 61_440,
  S_IFREG: 32_768,
  S_IFDIR: 16_384,
  S_IFCHR: 8192,
  S_IFBLK: 24_576,
  S_IFIFO: 4096,
  S_IFLNK: 40_960,
  S_IFSOCK: 49_152,
  S_IRWXU: 448,
  S_IRUSR: 256,
  S_IWUSR: 128,
  S_IXUSR: 64,
  S_IRWXG: 56,
  S_IRGRP: 32,
  S_IWGRP: 16,
  S_IXGRP: 8,
  S_IRWXO: 7,
  S_IROTH: 4,
  S_IWOTH: 2,
  S_IXOTH: 1,
  UV_FS_SYMLINK_DIR: 1,
  UV_FS_SYMLINK_JUNCTION: 2,
  UV_DIRENT_UNKNOWN: 0,
  UV_DIRENT_FILE: 1,
  UV_DIRENT_DIR: 2,
  UV_DIRENT_LINK: 3,
};

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

export function openSync(given: unknown, flags: string | number = "r", mode = 0o666): number {
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
  const file = node ?? createFile(slot(text, "open"), mode & 0o755);
  if (file.kind === "directory") throw fsError("EISDIR", "open", text);
  if ((bits & O_TRUNC) !== 0) resize(file, 0, "open");
  if (table.size >= maxOpen) throw fsError("EMFILE", "open", text);
  let fd = 3;
  while (table.has(fd)) fd += 1;
  table.set(fd, { file, reads: (bits & O_WRONLY) === 0, writes, appends: (bits & O_APPEND) !== 0, position: 0 });
  return fd;
}

function opened(fd: unknown, syscall: string): Open {
  const open = table.get(Number(fd));
  if (open === undefined) throw fsError("EBADF", syscall);
  return open;
}

export function closeSync(fd: number): void {
  opened(fd, "close");
  table.delete(fd);
}

/** Reads into a buffer; a position of null reads on from where the last read ended. */
export function readSync(
  fd: number,
  target: ArrayBufferView,
  offset: unknown = 0,
  length?: number,
  position?: number | bigint | null,
): number {
  const options =
    typeof offset === "object" && offset !== null
      ? (offset as { offset?: number; length?: number; position?: number | null })
      : { offset: Number(offset), length, position };
  const open = opened(fd, "read");
  if (!open.reads) throw fsError("EBADF", "read");
  const bytes = new Uint8Array(target.buffer, target.byteOffset, target.byteLength);
  const start = options.offset ?? 0;
  const from =
    options.position === null || options.position === undefined || Number(options.position) < 0 ? open.position : Number(options.position);
  const count = Math.max(0, Math.min(options.length ?? bytes.length - start, bytes.length - start, open.file.size - from));
  bytes.set(open.file.bytes.subarray(from, from + count), start);
  if (options.position === null || options.position === undefined || Number(options.position) < 0) open.position = from + count;
  return count;
}

/** Writes text (position, encoding) or bytes (offset, length, position). */
export function writeSync(fd: number, data: unknown, first?: unknown, second?: unknown, third?: unknown): number {
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
  const at = open.appends ? open.file.size : typeof position === "number" ? position : open.position;
  writeAt(open.file, bytes, at);
  if (typeof position !== "number") open.position = at + bytes.length;
  return bytes.length;
}

/** Some loggers write to descriptors 1 and 2 directly; both go to the run's log. */
function writeStandard(fd: 1 | 2, data: unknown): number {
  const bytes = toBytes(data);
  guest.console[fd === 1 ? "log" : "error"](decodeUtf8(bytes).replace(/\n$/, ""));
  return bytes.length;
}

export const fstatSync = (fd: number): Stats => new Stats(opened(fd, "fstat").file);
export const ftruncateSync = (fd: number, length = 0): void => resize(opened(fd, "ftruncate").file, length, "ftruncate");
export const fsyncSync = (fd: number): void => void opened(fd, "fsync");
export const fdatasyncSync = fsyncSync;
export const readvSync = (fd: number, views: readonly ArrayBufferView[], position?: number | null): number =>
  views.reduce((sum, view) => sum + readSync(fd, view, 0, view.byteLength, typeof position === "number" ? position + sum : null), 0);
export const writevSync = (fd: number, views: readonly ArrayBufferView[], position?: number | null): number =>
  views.reduce((sum, view) => sum + writeSync(fd, view, 0, view.byteLength, typeof position === "number" ? position + sum : null), 0);

/** The whole file behind a descriptor, from its position on. */
export function readAll(fd: number): Uint8Array<ArrayBuffer> {
  const open = opened(fd, "read");
  const bytes = open.file.bytes.slice(open.position, open.file.size);
  open.position = open.file.size;
  return bytes;
}
