import path from "../path/path.ts";
import { constants } from "./constants.ts";
import { fsError } from "./errors.ts";
import { Dirent, Stats } from "./stats.ts";
import { createDirectory, find, get, getDirectory, pathText, place, remove, slot } from "./tree.ts";
import { currentVolume, type DirectoryNode } from "./volume.ts";

export type Options = string | null | undefined | Record<string, unknown>;
export const optionsOf = (given: Options): Record<string, unknown> => (typeof given === "string" ? { encoding: given } : (given ?? {}));
export function existsSync(given: unknown): boolean {
  try {
    return find(pathText(given), "access") !== undefined;
  } catch {
    return false;
  }
}
export function accessSync(given: unknown, mode = 0): void {
  const text = pathText(given);
  get(text, "access");
  const inTmp = path.resolve(text) === "/tmp" || path.resolve(text).startsWith("/tmp/");
  if ((mode & constants.W_OK) !== 0 && !inTmp) throw fsError("EACCES", "access", text);
}

export function statSync(given: unknown, options?: { throwIfNoEntry?: boolean }, syscall = "stat"): Stats | undefined {
  const text = pathText(given);
  if (options?.throwIfNoEntry === false && find(text, syscall) === undefined) return undefined;
  return new Stats(get(text, syscall));
}
export const lstatSync = (given: unknown, options?: { throwIfNoEntry?: boolean }): Stats | undefined => statSync(given, options, "lstat");

export function statfsSync(): object {
  const {
    usedBytes,
    limits: { capacityBytes },
  } = currentVolume();
  const free = Math.floor((capacityBytes - usedBytes) / 4096);
  return { type: 0, bsize: 4096, blocks: capacityBytes / 4096, bfree: free, bavail: free, files: 0, ffree: 0 };
}

export function mkdirSync(given: unknown, options?: number | { recursive?: boolean }): string | undefined {
  const text = pathText(given);
  const recursive = typeof options === "object" && options.recursive === true;
  const existing = recursive ? find(text, "mkdir") : undefined;
  if (existing?.kind === "file") throw fsError("EEXIST", "mkdir", text);
  if (existing !== undefined) return undefined;
  const whole = path.resolve(text);
  const parent = path.dirname(whole);
  const first = recursive && find(parent, "mkdir") === undefined ? mkdirSync(parent, options) : undefined;
  const at = slot(text, "mkdir");
  if (at.parent.entries.has(at.name)) throw fsError("EEXIST", "mkdir", text);
  createDirectory(at);
  return recursive ? (first ?? whole) : undefined;
}

export function readdirSync(given: unknown, options?: Options): unknown[] {
  const text = pathText(given);
  const { withFileTypes, recursive } = optionsOf(options);
  const list = (directory: DirectoryNode, prefix: string): unknown[] =>
    [...directory.entries]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, node]) => [
        withFileTypes === true ? new Dirent(name, path.join(text, prefix), node.kind) : path.join(prefix, name),
        ...(recursive === true && node.kind === "directory" ? list(node, path.join(prefix, name)) : []),
      ]);
  return list(getDirectory(text, "scandir"), "");
}

export function unlinkSync(given: unknown): void {
  const text = pathText(given);
  if (get(text, "unlink").kind === "directory") throw fsError("EISDIR", "unlink", text);
  remove(slot(text, "unlink"));
}
export function rmdirSync(given: unknown, options?: { recursive?: boolean }): void {
  const text = pathText(given);
  if (getDirectory(text, "rmdir").entries.size > 0 && options?.recursive !== true) throw fsError("ENOTEMPTY", "rmdir", text);
  remove(slot(text, "rmdir"));
}
export function rmSync(given: unknown, options: { recursive?: boolean; force?: boolean } = {}): void {
  const text = pathText(given);
  const node = find(text, "lstat");
  if (node === undefined && options.force === true) return;
  if (node === undefined) throw fsError("ENOENT", "lstat", text);
  if (node.kind === "directory" && options.recursive !== true) {
    throw Object.assign(new Error(`Path is a directory: rm returned EISDIR (is a directory) ${text}`), {
      name: "SystemError",
      code: "ERR_FS_EISDIR",
      errno: 21,
      syscall: "rm",
      path: text,
    });
  }
  remove(slot(text, "rm"));
}

export function renameSync(from: unknown, to: unknown): void {
  const [source, target] = [pathText(from), pathText(to)];
  const node = find(source, "rename");
  if (node === undefined) throw fsError("ENOENT", "rename", source, target);
  const [whole, goal] = [path.resolve(source), path.resolve(target)];
  if (whole === goal) return;
  if (goal.startsWith(`${whole}/`)) throw fsError("EINVAL", "rename", source, target);
  const existing = find(target, "rename");
  if (existing?.kind === "directory" && node.kind === "file") throw fsError("EISDIR", "rename", source, target);
  if (existing?.kind === "file" && node.kind === "directory") throw fsError("ENOTDIR", "rename", source, target);
  if (existing?.kind === "directory" && existing.entries.size > 0) throw fsError("ENOTEMPTY", "rename", source, target);
  place(node, slot(source, "rename", target), slot(target, "rename"));
}

export function mkdtempSync(prefix: unknown): string {
  const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  for (;;) {
    const suffix = Array.from({ length: 6 }, () => letters.charAt(Math.floor(Math.random() * letters.length))).join("");
    const text = `${pathText(prefix)}${suffix}`;
    if (existsSync(text)) continue;
    mkdirSync(text);
    return text;
  }
}

export function chmodSync(given: unknown, mode: number | string): void {
  get(pathText(given), "chmod").meta.mode = (typeof mode === "string" ? Number.parseInt(mode, 8) : mode) & 0o777;
}
export function utimesSync(given: unknown, _accessed: unknown, modified: number | string | Date): void {
  get(pathText(given), "utime").meta.modifiedMs = modified instanceof Date ? modified.getTime() : Number(modified) * 1000;
}
export const lutimesSync = utimesSync;
export const chownSync = (given: unknown): void => void get(pathText(given), "chown");
export const lchownSync = chownSync;
export function realpathSync(given: unknown): string {
  get(pathText(given), "lstat");
  return path.resolve(pathText(given));
}
realpathSync.native = realpathSync;
export function readlinkSync(given: unknown): never {
  get(pathText(given), "readlink");
  throw fsError("EINVAL", "readlink", pathText(given));
}
export function symlinkSync(target: unknown, given: unknown): never {
  throw fsError("EPERM", "symlink", pathText(target), pathText(given));
}
export function linkSync(target: unknown, given: unknown): never {
  throw fsError("EPERM", "link", pathText(target), pathText(given));
}
