import type { FsNode } from "./volume.ts";

const typeBits = { file: 0o100_000, directory: 0o040_000 } as const;

export class Stats {
  readonly dev = 1;
  readonly nlink = 1;
  readonly uid = 1000;
  readonly gid = 1000;
  readonly rdev = 0;
  readonly blksize = 4096;
  readonly mode: number;
  readonly ino: number;
  readonly size: number;
  readonly blocks: number;
  readonly atimeMs: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly birthtimeMs: number;
  constructor(node: FsNode) {
    const { kind, meta } = node;
    this.mode = typeBits[kind] | meta.mode;
    this.ino = meta.inode;
    this.size = node.kind === "file" ? node.size : 4096;
    this.blocks = Math.ceil(this.size / 512);
    this.atimeMs = this.mtimeMs = this.ctimeMs = meta.modifiedMs;
    this.birthtimeMs = meta.createdMs;
  }
  get atime(): Date {
    return new Date(this.atimeMs);
  }
  get mtime(): Date {
    return new Date(this.mtimeMs);
  }
  get ctime(): Date {
    return new Date(this.ctimeMs);
  }
  get birthtime(): Date {
    return new Date(this.birthtimeMs);
  }
  isFile(): boolean {
    return (this.mode & typeBits.file) === typeBits.file;
  }
  isDirectory(): boolean {
    return (this.mode & typeBits.directory) === typeBits.directory;
  }
  isSymbolicLink(): boolean {
    return false;
  }
  isFIFO(): boolean {
    return false;
  }
  isSocket(): boolean {
    return false;
  }
  isBlockDevice(): boolean {
    return false;
  }
  isCharacterDevice(): boolean {
    return false;
  }
}

export class Dirent {
  readonly name: string;
  readonly parentPath: string;
  readonly #kind: FsNode["kind"];
  constructor(name: string, parentPath: string, kind: FsNode["kind"]) {
    this.name = name;
    this.parentPath = parentPath;
    this.#kind = kind;
  }
  get path(): string {
    return this.parentPath;
  }
  isFile(): boolean {
    return this.#kind === "file";
  }
  isDirectory(): boolean {
    return this.#kind === "directory";
  }
  isSymbolicLink(): boolean {
    return false;
  }
  isFIFO(): boolean {
    return false;
  }
  isSocket(): boolean {
    return false;
  }
  isBlockDevice(): boolean {
    return false;
  }
  isCharacterDevice(): boolean {
    return false;
  }
}
