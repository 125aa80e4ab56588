import path from "../path/path.ts";
import { systemErrors, type SystemCode } from "../system-errors.ts";
import { guest } from "../globals.ts";

// The file system of a component: /tmp, in memory, gone with the isolate.

export interface FileNode {
  readonly kind: "file";
  bytes: Uint8Array<ArrayBuffer>;
  /** Bytes in use; `bytes` grows ahead of it. */
  size: number;
  readonly meta: Meta;
}
export interface DirectoryNode {
  readonly kind: "directory";
  readonly entries: Map<string, FsNode>;
  readonly meta: Meta;
}
export interface Meta {
  readonly inode: number;
  mode: number;
  createdMs: number;
  modifiedMs: number;
}
export type FsNode = FileNode | DirectoryNode;

const capacityBytes = 64 * 1024 * 1024;
let usedBytes = 0;
let inodes = 1;

const meta = (mode: number): Meta => ({ inode: inodes++, mode, createdMs: Date.now(), modifiedMs: Date.now() });
const newDirectory = (): DirectoryNode => ({ kind: "directory", entries: new Map(), meta: meta(0o755) });
const root = newDirectory();
root.entries.set("tmp", newDirectory());

/** An error as libuv's: code, errno, syscall, path, and a message made of them. */
export function fsError(code: SystemCode, syscall: string, at?: string, to?: string): Error {
  const [errno, text] = systemErrors[code];
  const paths = `${at === undefined ? "" : ` '${at}'`}${to === undefined ? "" : ` -> '${to}'`}`;
  const error = Object.assign(new Error(`${code}: ${text}, ${syscall}${paths}`), { errno: -errno, code, syscall });
  return Object.assign(error, at === undefined ? {} : { path: at }, to === undefined ? {} : { dest: to });
}

/** Text of a path given as text, Buffer or file URL. */
export function pathText(given: unknown): string {
  if (typeof given === "string") return given;
  if (given instanceof guest.URL) return decodeURIComponent(given.pathname);
  if (given instanceof Uint8Array) return new guest.TextDecoder().decode(given);
  throw Object.assign(
    new TypeError(
      `The "path" argument must be of type string or an instance of Buffer or URL. Received ${given === null ? "null" : typeof given}`,
    ),
    { code: "ERR_INVALID_ARG_TYPE" },
  );
}

const partsOf = (text: string): string[] =>
  path
    .resolve(text)
    .split("/")
    .filter((part) => part !== "");

export function find(text: string, syscall: string): FsNode | undefined {
  let node: FsNode = root;
  for (const part of partsOf(text)) {
    if (node.kind !== "directory") throw fsError("ENOTDIR", syscall, text);
    const next: FsNode | undefined = node.entries.get(part);
    if (next === undefined) return undefined;
    node = next;
  }
  return node;
}

export function get(text: string, syscall: string): FsNode {
  const node = find(text, syscall);
  if (node === undefined) throw fsError("ENOENT", syscall, text);
  return node;
}

export function getFile(text: string, syscall: string): FileNode {
  const node = get(text, syscall);
  if (node.kind === "directory") throw fsError("EISDIR", syscall === "open" ? "read" : syscall, syscall === "open" ? undefined : text);
  return node;
}

export function getDirectory(text: string, syscall: string): DirectoryNode {
  const node = get(text, syscall);
  if (node.kind !== "directory") throw fsError("ENOTDIR", syscall, text);
  return node;
}

export interface Slot {
  readonly parent: DirectoryNode;
  readonly name: string;
}

/** The parent and name of an entry of /tmp, whether it exists or not. Anything outside of /tmp is read-only. */
export function slot(text: string, syscall: string, to?: string): Slot {
  const parts = partsOf(text);
  const name = parts.pop();
  if (name === undefined || parts[0] !== "tmp") throw fsError("EACCES", syscall, text, to);
  const parent = find(`/${parts.join("/")}`, syscall);
  if (parent === undefined) throw fsError("ENOENT", syscall, text, to);
  if (parent.kind !== "directory") throw fsError("ENOTDIR", syscall, text, to);
  return { parent, name };
}

export function createFile(at: Slot, mode: number): FileNode {
  const file: FileNode = { kind: "file", bytes: new Uint8Array(0), size: 0, meta: meta(mode) };
  at.parent.entries.set(at.name, file);
  return file;
}

export function createDirectory(at: Slot): void {
  at.parent.entries.set(at.name, newDirectory());
}

export function remove({ parent, name }: Slot): void {
  const node = parent.entries.get(name);
  if (node !== undefined) usedBytes -= sizeOf(node);
  parent.entries.delete(name);
}

/** Renames a node; replaces the target if it exists. */
export function place(node: FsNode, from: Slot, to: Slot): void {
  from.parent.entries.delete(from.name);
  remove(to);
  to.parent.entries.set(to.name, node);
}

function sizeOf(node: FsNode): number {
  return node.kind === "file" ? node.size : [...node.entries.values()].reduce((sum, one) => sum + sizeOf(one), 0);
}

/** Sets a file's length; the new part is zeros. */
export function resize(file: FileNode, size: number, syscall: string): void {
  if (usedBytes + size - file.size > capacityBytes) throw fsError("ENOSPC", syscall);
  if (size > file.bytes.length) {
    const grown = new Uint8Array(Math.min(Math.max(size, file.bytes.length * 2), Math.max(size, capacityBytes)));
    grown.set(file.bytes.subarray(0, file.size));
    file.bytes = grown;
  } else if (size < file.size) file.bytes.fill(0, size, file.size);
  usedBytes += size - file.size;
  file.size = size;
  file.meta.modifiedMs = Date.now();
}

export function writeAt(file: FileNode, bytes: Uint8Array, position: number): void {
  if (position + bytes.length > file.size) resize(file, position + bytes.length, "write");
  file.bytes.set(bytes, position);
  file.meta.modifiedMs = Date.now();
}

export const usage = (): { capacityBytes: number; usedBytes: number } => ({ capacityBytes, usedBytes });
