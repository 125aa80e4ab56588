import { nodeError } from "../errors.ts";
import { Part, partBytes } from "./part.ts";
import type { Steps } from "./steps.ts";
import type { FileNode } from "./volume.ts";

const { ceil, floor, min } = Math;

/** Reads into the target from a position on, as far as the file goes. Returns the bytes read. */
export function* readInto(file: FileNode, target: Uint8Array, position: number): Steps<number> {
  let at = position;
  for (;;) {
    const length = min(position + target.length, file.size) - at;
    const part = file.parts[floor(at / partBytes)];
    if (part === undefined || length <= 0) return at - position;
    if (part.isAway) {
      yield part;
      continue;
    }
    const offset = at % partBytes;
    const count = min(length, partBytes - offset);
    part.read(target.subarray(at - position, at - position + count), offset);
    at += count;
    if (part.bytes !== undefined) file.volume.touch(part);
    if (file.volume.isOverfull) yield* file.volume.shrink();
  }
}

/** The bytes of a file from a position on. @throws ERR_FS_FILE_TOO_LARGE if memory has no room for them */
export function* readFrom(file: FileNode, position: number): Steps<Uint8Array<ArrayBuffer>> {
  const bytes = allocate(file.size - min(position, file.size));
  const count = yield* readInto(file, bytes, position);
  return count === bytes.length ? bytes : bytes.slice(0, count);
}

function allocate(size: number): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(size);
  } catch {
    throw nodeError(
      "ERR_FS_FILE_TOO_LARGE",
      `the file has ${size} bytes, for which the memory of the run has no room: read it by fs.createReadStream, or in parts by fs.read`,
      RangeError,
    );
  }
}

/** @throws ENOSPC before anything is written, if the bytes do not fit */
export function* writeAt(file: FileNode, bytes: Uint8Array, position: number): Steps<void> {
  if (bytes.length === 0) return;
  const end = position + bytes.length;
  // At once, so that what another operation appends comes behind.
  if (end > file.size) {
    if (isCutAway(file, end)) yield* growTo(file, end);
    else setSize(file, end, "write");
  }
  let at = position;
  while (at < end) {
    const offset = at % partBytes;
    const count = min(end - at, partBytes - offset);
    if (at + count > file.size) yield* growTo(file, at + count); // It was cut in the meantime.
    const part = file.parts[floor(at / partBytes)];
    if (part === undefined) continue;
    if (part.isAway && count < part.size) {
      yield part;
      continue;
    }
    part.write(count === bytes.length ? bytes : bytes.subarray(at - position, at - position + count), offset);
    at += count;
    file.volume.touch(part);
    if (file.volume.isOverfull) yield* file.volume.shrink();
  }
  file.meta.modifiedMs = Date.now();
}

function* growTo(file: FileNode, size: number): Steps<void> {
  yield* loadCut(file, size);
  // Another write may have made it longer in the meantime.
  if (size > file.size) setSize(file, size, "write");
}

/** Writes at the end, wherever that is by then. */
export function* append(file: FileNode, bytes: Uint8Array): Steps<void> {
  const length = bytes.length;
  if (isCutAway(file, file.size + length)) yield* loadCut(file, file.size + length);
  yield* writeAt(file, bytes, file.size);
}

/** Sets a file's length; what is added is zeros, and takes no memory. */
export function* resize(file: FileNode, size: number, syscall: string): Steps<void> {
  file.volume.checkRoom(size - file.size, syscall);
  if (isCutAway(file, size)) yield* loadCut(file, size);
  setSize(file, size, syscall);
}

/** Its part at the cut must not be away, which it never is at 0. */
export function setSize(file: FileNode, size: number, syscall: string): void {
  const { volume, parts } = file;
  volume.checkRoom(size - file.size, syscall);
  if (file.isRemoved === undefined) volume.usedBytes += size - file.size;
  const count = ceil(size / partBytes);
  if (parts.length > count) for (const part of parts.splice(count)) volume.forget(part);
  for (let index = floor(min(size, file.size) / partBytes); index < count; index++) {
    const length = min(partBytes, size - index * partBytes);
    const part = parts[index];
    if (part === undefined) parts.push(new Part(length));
    else part.resize(length);
  }
  file.size = size;
  file.meta.modifiedMs = Date.now();
}

/** Whether the part whose length changes with the file's must be loaded before: what is stored has its length. */
function isCutAway(file: FileNode, size: number): boolean {
  const cut = min(size, file.size);
  return cut % partBytes !== 0 && size !== file.size && file.parts[floor(cut / partBytes)]?.isAway === true;
}

function* loadCut(file: FileNode, size: number): Steps<void> {
  while (isCutAway(file, size)) {
    const part = file.parts[floor(min(size, file.size) / partBytes)];
    if (part !== undefined) yield part;
  }
}

/** Replaces the content by that of another file. Stored parts never change, so files share them. */
export function* copyContent(from: FileNode, to: FileNode): Steps<void> {
  if (from === to) return;
  setSize(to, 0, "copyfile");
  to.volume.checkRoom(from.size, "copyfile");
  for (const part of [...from.parts]) {
    if (part.bytes === undefined || part.name !== undefined) {
      to.volume.usedBytes += part.size;
      to.parts.push(new Part(part.size, part.name));
      to.size += part.size;
    } else yield* append(to, part.content());
  }
  to.meta.modifiedMs = Date.now();
}
