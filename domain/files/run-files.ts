import { Unavailable } from "../errors.ts";

/**
 * The files that the steps of a workflow run share, below `/tmp`. Contents are stored in parts, which never change. What a step has changed is
 * one *layer*: the entries that it has added or replaced, and the paths that it has removed. A commit names the layers of its run in their
 * order, so files belong to what is committed: a step that fails, or runs again after a crash, leaves nothing behind.
 */
export interface RunFiles {
  /** All files and directories of the layers. @throws NotFound `files_gone`, Unavailable */
  list(run: RunOfFiles, layers: readonly string[]): Promise<readonly FileEntry[]>;
  /** The bytes of a part. @throws NotFound `files_gone`, Unavailable */
  read(run: RunOfFiles, part: string): Promise<Uint8Array>;
  /** Stores bytes, at most `partBytes`, and returns the name of their part. @throws QuotaExceeded `files_full`, Unavailable */
  write(run: RunOfFiles, bytes: Uint8Array): Promise<string>;
  /**
   * Gives a run of the same workflow parts of this one, under the same names: to copy them twice has no effect. Without room for all of them,
   * none is stored.
   * @throws NotFound `files_gone`, QuotaExceeded `files_full`, Unavailable
   */
  copy(run: RunOfFiles, parts: readonly string[], to: string): Promise<void>;
}

const hourMs = 60 * 60_000;
/** How long files stay when their run needs them no more. */
export const maxFilesKeptMs = 24 * hourMs;
/** The same while much is stored: longer than a step runs before its first commit, and than a backup takes between the commits and the files. */
const minFilesKeptMs = 2 * hourMs;

/** @param bytes of all files that are stored @param maxBytes of the store; 0 or less: it has no limit */
export const filesKeptMs = (bytes: number, maxBytes: number): number =>
  maxBytes > 0 && bytes > maxBytes / 4 ? minFilesKeptMs : maxFilesKeptMs;

export interface RunOfFiles {
  readonly owner: string;
  /** Id of the workflow, and of its run. */
  readonly workflow: string;
  readonly run: string;
}

export interface StoredFile {
  readonly kind: "file";
  /** Below `/tmp`: `report/2026.csv`. */
  readonly path: string;
  readonly bytes: number;
  /** Names of its parts: each but the last has `partBytes`. */
  readonly parts: readonly string[];
  readonly mode: number;
  /** Epoch ms. */
  readonly modifiedMs: number;
}

export interface StoredDirectory {
  readonly kind: "directory";
  readonly path: string;
  readonly mode: number;
  readonly modifiedMs: number;
}

export type FileEntry = StoredFile | StoredDirectory;

export interface FileChanges {
  /** Paths of what was removed, with all that was in it. */
  readonly removed: readonly string[];
  /** Added or replaced since; a directory comes before what is in it. */
  readonly put: readonly FileEntry[];
}

export const fileLimits = {
  /** Well below the default `max_payload` of NATS, 1 MiB. */
  partBytes: 512 * 1024,
  /** Of all files of a run. */
  runBytes: 512 * 2 ** 20,
  entries: 2_000,
  /** UTF-8, JSON of all entries of a run, or of changes: stored as one part. */
  listingBytes: 480 * 1024,
  pathCharacters: 1_024,
  /** Of the name under which a browser saves a file: the end of it, which has the extension. */
  shownCharacters: 200,
} as const;

/** The name of a part: random, with its size. It is a token of a NATS subject. */
export const isPartName = (name: string): boolean => /^[0-9a-f]{32}-\d{1,6}$/.test(name);

export const isFilePath = (path: string): boolean =>
  path.length <= fileLimits.pathCharacters &&
  path.isWellFormed() &&
  !path.includes("\0") &&
  path.split("/").every((name) => name !== "" && name !== "." && name !== "..");

/** What a part counts in limits of stored bytes: each is a message, however small it is. */
export const chargeOf = (bytes: number): number => Math.max(bytes, 4_096);

/** While the store restarts. */
export const fileRetries = { firstMs: 200, maxMs: 2_000, withinMs: 15_000, isTransient: (error: unknown) => error instanceof Unavailable };

export const partsOf = (bytes: number): number => Math.ceil(bytes / fileLimits.partBytes);

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));
const byPath = (entries: Iterable<FileEntry>): readonly FileEntry[] => [...entries].sort((a, b) => (a.path < b.path ? -1 : 1));

/**
 * Entries after a change, sorted by path, so that a directory comes before what is in it. Other steps may have changed the same directories
 * side by side: entries below a path that is no directory any more are left out.
 */
export function withChanges(entries: readonly FileEntry[], { removed, put }: FileChanges): readonly FileEntry[] {
  const gone = new Set(removed);
  const merged = new Map<string, FileEntry>();
  for (const entry of byPath(entries)) {
    if (gone.has(parentOf(entry.path))) gone.add(entry.path);
    if (!gone.has(entry.path)) merged.set(entry.path, entry);
  }
  for (const entry of put) merged.set(entry.path, entry);
  const directories = new Set([""]);
  return byPath(merged.values()).filter(({ kind, path }) => {
    const isReachable = directories.has(parentOf(path));
    if (isReachable && kind === "directory") directories.add(path);
    return isReachable;
  });
}

/** Bytes of all files. */
export const totalBytes = (entries: readonly FileEntry[]): number =>
  entries.reduce((sum, entry) => sum + (entry.kind === "file" ? entry.bytes : 0), 0);
