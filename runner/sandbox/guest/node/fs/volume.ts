import { onRunEnd } from "../../runtime/bridge.ts";
import { type FileSession, fileSession } from "../../runtime/run-files.ts";
import { limitError } from "./errors.ts";
import type { Part } from "./part.ts";
import type { HostCall, HostTask, Steps } from "./steps.ts";

export interface FileNode {
  readonly kind: "file";
  readonly volume: Volume;
  size: number;
  readonly parts: Part[];
  readonly meta: Meta;
  /** Only descriptors that were opened before still use it: what it holds does not count. */
  isRemoved?: true;
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

/** A file or directory as the host has it, see the domain's FileEntry. */
export interface StoredEntry {
  readonly kind: "file" | "directory";
  /** Below /tmp. */
  readonly path: string;
  readonly mode: number;
  readonly modifiedMs: number;
  /** Of files. */
  readonly bytes?: number;
  readonly parts?: readonly string[];
}

interface VolumeLimits {
  readonly capacityBytes: number;
  /** Files and directories. */
  readonly entries: number;
  readonly pathCharacters: number;
  /** What parts hold in memory: the least recently used ones leave it. */
  readonly memoryBytes: number;
}

const MiB = 1024 * 1024;
/** Of a context: in memory, and gone with it. */
const ownLimits: VolumeLimits = { capacityBytes: 64 * MiB, entries: Infinity, pathCharacters: Infinity, memoryBytes: Infinity };
/** Of a workflow run: the host stores it, and has the same limits. */
const sharedLimits: VolumeLimits = {
  capacityBytes: 512 * MiB,
  entries: 2_000,
  pathCharacters: "tmp/".length + 1_024,
  memoryBytes: 16 * MiB,
};

const { parse } = JSON;

let inodes = 1;

export function newMeta(mode: number, atMs = Date.now()): Meta {
  return { inode: inodes++, mode, createdMs: atMs, modifiedMs: atMs };
}

export const newDirectory = (meta = newMeta(0o755)): DirectoryNode => ({ kind: "directory", entries: new Map(), meta });

/** A file system: the directory /tmp, and what it may hold. */
export class Volume implements HostTask {
  readonly limits: VolumeLimits;
  readonly root = newDirectory();
  readonly tmp = newDirectory();
  /** As earlier steps left it: what the run changes is compared with it. */
  stored: readonly StoredEntry[] = [];
  usedBytes = 0;
  entries = 0;
  inFlight: Promise<void> | undefined;
  #mustList: boolean;
  #memoryBytes = 0;
  /** Parts in memory, the most recently used one at the end. */
  readonly #recent = new Set<Part>();
  readonly #fill: (volume: Volume, stored: readonly StoredEntry[]) => void;

  /** @param fill makes nodes of stored entries; undefined: there are none */
  constructor(limits: VolumeLimits, fill?: (volume: Volume, stored: readonly StoredEntry[]) => void) {
    this.limits = limits;
    this.#mustList = fill !== undefined;
    this.#fill = fill ?? (() => {});
    this.root.entries.set("tmp", this.tmp);
  }

  /** It is empty until its entries are read, at the first use of the file system. */
  get mustList(): boolean {
    return this.#mustList;
  }

  /** Reads its entries. */
  next(): HostCall {
    return {
      operation: "file_list",
      args: [],
      syscall: "scandir",
      settle: (text) => {
        if (!this.#mustList) return;
        this.#mustList = false;
        this.stored = parse(text as string) as readonly StoredEntry[]; // Made by the host.
        this.#fill(this, this.stored);
      },
    };
  }

  /** @throws ENOSPC if there is no room for more bytes */
  checkRoom(bytes: number, syscall: string): void {
    const { capacityBytes } = this.limits;
    if (bytes > 0 && this.usedBytes + bytes > capacityBytes)
      throw limitError(syscall, `the files in /tmp may have ${capacityBytes / MiB} MiB together, ${this.usedBytes} bytes are in use`);
  }

  addEntry(syscall: string): void {
    if (this.entries >= this.limits.entries) throw limitError(syscall, `/tmp may have ${this.limits.entries} files and directories`);
    this.entries += 1;
  }

  /** Counts the memory of a part that was used now. */
  touch(part: Part): void {
    if (this.limits.memoryBytes === Infinity) return;
    this.#count(part, part.bytes?.length ?? 0);
    this.#recent.delete(part);
    this.#recent.add(part);
  }

  /** A part of a file that is no more, or was cut. */
  forget(part: Part): void {
    if (!this.#recent.delete(part)) return;
    this.#count(part, 0);
  }

  get isOverfull(): boolean {
    return this.#memoryBytes > this.limits.memoryBytes;
  }

  /** Has the least recently used parts leave memory, those that were changed after they are stored. */
  *shrink(): Steps<void> {
    while (this.isOverfull) {
      const [oldest] = this.#recent;
      if (oldest === undefined) return;
      if (oldest.name === undefined) yield oldest;
      if (oldest.name === undefined) {
        // It was changed in the meantime, or its file removed.
        if (this.#recent.has(oldest)) this.touch(oldest);
        continue;
      }
      this.forget(oldest);
      oldest.bytes = undefined;
    }
  }

  #count(part: Part, bytes: number): void {
    this.#memoryBytes += bytes - part.countedBytes;
    part.countedBytes = bytes;
  }
}

const own = new Volume(ownLimits);
let current = own;
let currentSession: FileSession | undefined;
let fillShared: (volume: Volume, stored: readonly StoredEntry[]) => void = () => {};
const endCallbacks: (() => void)[] = [];

/** The one of the run, which may not have been listed; of code that runs between two, the context's own. */
export function currentVolume(): Volume {
  const session = fileSession();
  if (session === currentSession) return current;
  currentSession = session;
  current = session === undefined ? own : new Volume(sharedLimits, session.hasStored ? fillShared : undefined);
  return current;
}

/** Whether files of the volume can be used now: those of an earlier run cannot. */
export const isUsable = (volume: Volume): boolean => volume === own || volume === currentVolume();

/** The volume that the session has used; undefined: none. */
export const usedVolume = (session: FileSession): Volume | undefined => (session === currentSession ? current : undefined);

export function onFill(fill: typeof fillShared): void {
  fillShared = fill;
}

/** Called when the files of a run are no longer used. */
export function onVolumeEnd(callback: () => void): void {
  endCallbacks.push(callback);
}

onRunEnd(() => {
  if (currentSession === undefined) return;
  currentSession = undefined;
  current = own;
  for (const callback of endCallbacks) callback();
});
