import { encodeUtf8 } from "../../web/encoding/utf8.ts";
import { call } from "../../runtime/bridge.ts";
import { ruleError } from "../../runtime/errors.ts";
import { onFilesStore } from "../../runtime/run-files.ts";
import { hostFileError } from "./errors.ts";
import { Part, partBytes } from "./part.ts";
import {
  type DirectoryNode,
  type FileNode,
  type FsNode,
  newDirectory,
  newMeta,
  onFill,
  type StoredEntry,
  usedVolume,
  type Volume,
} from "./volume.ts";

// The files of a workflow run: entries of earlier steps become nodes, and what a step has changed becomes entries.

/** Entries that a step has left, as the domain's FileChanges. */
interface Changes {
  readonly removed: readonly string[];
  readonly put: readonly StoredEntry[];
}

/** A part as it is when the step ends: code that runs on may change it. */
interface PartContent {
  /** By which it is stored. */
  name: string | undefined;
  readonly size: number;
  /** Undefined: zeros. */
  readonly bytes: Uint8Array | undefined;
}

/** Bytes of JSON of all entries: the host's limit. */
const maxListing = 480 * 1024;
const maxPath = 1_024;
/** Of a part that is not stored yet, as long as its name can be. */
const unknownName = "0".repeat(39);
const maxTimeMs = 8.64e15;
/** Parts that are stored at once. */
const concurrent = 4;

const { stringify } = JSON;
const { min } = Math;

onFill((volume, stored) => {
  // A directory comes before what is in it.
  for (const entry of stored.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const names = entry.path.split("/");
    const name = names.pop() ?? "";
    parentOf(volume, names).entries.set(name, toNode(volume, entry));
    volume.entries += 1;
    volume.usedBytes += entry.bytes ?? 0;
  }
});

function parentOf(volume: Volume, names: readonly string[]): DirectoryNode {
  let parent = volume.tmp;
  for (const name of names) {
    const next = parent.entries.get(name);
    const directory: DirectoryNode = next?.kind === "directory" ? next : newDirectory();
    if (next !== directory) parent.entries.set(name, directory);
    parent = directory;
  }
  return parent;
}

function toNode(volume: Volume, { kind, mode, modifiedMs, bytes = 0, parts = [] }: StoredEntry): FsNode {
  const meta = { ...newMeta(mode, modifiedMs) };
  if (kind === "directory") return newDirectory(meta);
  const content = parts.map((name, index) => new Part(min(partBytes, bytes - index * partBytes), name));
  return { kind, volume, size: bytes, parts: content, meta };
}

onFilesStore((session) => {
  const volume = usedVolume(session);
  // A step that has used no file has changed none.
  return volume === undefined || volume.mustList ? undefined : storeChanges(volume);
});

/** JSON text of the changes; undefined if there are none. @throws an error of the file system if they cannot be stored */
async function storeChanges(volume: Volume): Promise<string | undefined> {
  const stored = new Map(volume.stored.map((entry) => [entry.path, entry]));
  const current = [...entriesIn(volume.tmp, "")];
  const changed = current.filter((entry) => !isStored(entry, stored.get(entry.path)));
  const paths = new Set(current.map(({ path }) => path));
  const removed = outermost([...stored.keys()].filter((path) => !paths.has(path)));
  if (changed.length === 0 && removed.length === 0) return undefined;
  checkListing(current.map(toEntry));
  await storeAll(changed.flatMap(({ parts = [] }) => parts.filter(({ name }) => name === undefined)));
  return stringify({ removed, put: changed.map(toEntry) } satisfies Changes);
}

type CurrentEntry = Omit<StoredEntry, "parts"> & { readonly parts?: readonly PartContent[] };

/** A directory comes before what is in it. */
function* entriesIn(directory: DirectoryNode, above: string): Generator<CurrentEntry> {
  for (const [name, node] of directory.entries) {
    const path = `${above}${name}`;
    if (path.length > maxPath)
      throw ruleError("files_too_many", `a path in /tmp has more than ${maxPath} characters, the limit: ${path.slice(0, 100)}…`);
    yield { kind: node.kind, path, mode: node.meta.mode, modifiedMs: timeOf(node), ...(node.kind === "file" && contentOf(node)) };
    if (node.kind === "directory") yield* entriesIn(node, `${path}/`);
  }
}

const contentOf = ({ size, parts }: FileNode): Pick<CurrentEntry, "bytes" | "parts"> => ({
  bytes: size,
  parts: parts.map((part) => ({
    name: part.name,
    size: part.size,
    bytes: part.name === undefined && part.bytes !== undefined ? part.content() : undefined,
  })),
});

/** Programs may set any. */
function timeOf({ meta: { modifiedMs } }: FsNode): number {
  return modifiedMs >= -maxTimeMs && modifiedMs <= maxTimeMs ? modifiedMs : 0;
}

function isStored({ kind, mode, modifiedMs, bytes, parts = [] }: CurrentEntry, stored: StoredEntry | undefined): boolean {
  const names = stored?.parts ?? [];
  return (
    stored?.kind === kind &&
    stored.mode === mode &&
    stored.modifiedMs === modifiedMs &&
    stored.bytes === bytes &&
    parts.length === names.length &&
    parts.every(({ name }, index) => name === names[index])
  );
}

/** With a directory, all that is in it is removed. */
function outermost(paths: readonly string[]): readonly string[] {
  const all = new Set(paths);
  return paths.filter((path) => {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) if (all.has(path.slice(0, end))) return false;
    return true;
  });
}

async function storeAll(parts: readonly PartContent[]): Promise<void> {
  const queue = parts.values();
  const holes = new Map<number, Promise<unknown>>();
  const write = (bytes: Uint8Array): Promise<unknown> => call("file_write", bytes);
  const hole = (size: number): Promise<unknown> => {
    const known = holes.get(size) ?? write(new Uint8Array(size));
    holes.set(size, known);
    return known;
  };
  const store = async (): Promise<void> => {
    for (const part of queue) part.name = (await (part.bytes === undefined ? hole(part.size) : write(part.bytes))) as string;
  };
  try {
    await Promise.all(Array.from({ length: concurrent }, store));
  } catch (error) {
    throw hostFileError(error, "write");
  }
}

const toEntry = ({ parts, ...entry }: CurrentEntry): StoredEntry => ({
  ...entry,
  ...(parts && { parts: parts.map(({ name = unknownName }) => name) }),
});

function checkListing(entries: readonly StoredEntry[]): void {
  const bytes = encodeUtf8(stringify(entries)).length;
  if (bytes <= maxListing) return;
  throw ruleError(
    "files_too_many",
    `the list of the ${entries.length} files and directories in /tmp has ${bytes} bytes; the limit is ${maxListing}: delete those that later steps do not need, or put them into one archive`,
  );
}
