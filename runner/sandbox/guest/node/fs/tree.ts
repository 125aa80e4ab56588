import path from "../path/path.ts";
import { nodeError } from "../errors.ts";
import { guest } from "../globals.ts";
import { fsError } from "./errors.ts";
import { performNow, type Steps } from "./steps.ts";
import { currentVolume, type DirectoryNode, type FileNode, type FsNode, newDirectory, newMeta, type Volume } from "./volume.ts";

// The file system of a component: /tmp of its context, or that of its workflow run.

/** Text of a path given as text, Buffer or file URL. */
export function pathText(given: unknown): string {
  const text = textOf(given);
  if (text.includes("\0")) throw nodeError("ERR_INVALID_ARG_VALUE", "The argument 'path' must not contain null bytes", TypeError);
  return text.toWellFormed();
}

function textOf(given: unknown): string {
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

export const mustList = (): boolean => currentVolume().mustList;

/** Has the volume of the run list its entries, unless it has. */
export function* listed(): Steps<void> {
  const volume = currentVolume();
  while (volume.mustList) yield volume;
}

function usableVolume(): Volume {
  const volume = currentVolume();
  if (volume.mustList) performNow(listed());
  return volume;
}

const namesOf = (text: string): string[] =>
  path
    .resolve(text)
    .split("/")
    .filter((part) => part !== "");

export function find(text: string, syscall: string): FsNode | undefined {
  let node: FsNode = usableVolume().root;
  for (const part of namesOf(text)) {
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
  const names = namesOf(text);
  const name = names.pop();
  if (name === undefined || names[0] !== "tmp") throw fsError("EACCES", syscall, text, to);
  const above = names.join("/");
  if (`${above}/${name}`.length > currentVolume().limits.pathCharacters) throw fsError("ENAMETOOLONG", syscall, text, to);
  const parent = find(`/${above}`, syscall);
  if (parent === undefined) throw fsError("ENOENT", syscall, text, to);
  if (parent.kind !== "directory") throw fsError("ENOTDIR", syscall, text, to);
  return { parent, name };
}

export function createFile(at: Slot, mode: number, syscall: string): FileNode {
  const volume = currentVolume();
  volume.addEntry(syscall);
  const file: FileNode = { kind: "file", volume, size: 0, parts: [], meta: newMeta(mode) };
  at.parent.entries.set(at.name, file);
  return file;
}

export function createDirectory(at: Slot): void {
  currentVolume().addEntry("mkdir");
  at.parent.entries.set(at.name, newDirectory());
}

export function remove({ parent, name }: Slot): void {
  const node = parent.entries.get(name);
  if (node !== undefined) release(node, currentVolume());
  parent.entries.delete(name);
}

function release(node: FsNode, volume: Volume): void {
  volume.entries -= 1;
  if (node.kind === "directory") {
    for (const each of node.entries.values()) release(each, volume);
    return;
  }
  volume.usedBytes -= node.size;
  node.isRemoved = true;
  // A descriptor may still use it.
  for (const part of node.parts) volume.forget(part);
}

/** Renames a node; replaces the target if it exists. */
export function place(node: FsNode, from: Slot, to: Slot): void {
  from.parent.entries.delete(from.name);
  remove(to);
  to.parent.entries.set(to.name, node);
}
