import { randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { z } from "zod";
import { HeadwaterError, InvalidInput, Unavailable } from "../../domain/errors.ts";
import { openStream, sealStream } from "./sealed-stream.ts";

/** Grows when an older version could not restore the backup. */
const backupFormat = 1;
/** The one file that is not sealed; written last. */
const labelFile = "backup.json";
/** The list of the other files, and what is known of them. */
const contentsName = "contents";

/** What everybody may read of a backup. */
const labelShape = z.object({ format: z.int(), id: z.string(), version: z.string(), createdAt: z.string() });
export type BackupLabel = z.infer<typeof labelShape>;

const contentsShape = z.object({ files: z.array(z.string()), facts: z.unknown() });

/** A backup that is being written. */
export interface BackupWriter {
  /** Writes one file, or replaces it. @throws Unavailable when the disk is full */
  write(name: string, chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void>;
  /** Completes the backup, which has its name only from now on. @param facts JSON that restoring needs */
  complete(facts: unknown): Promise<BackupLabel>;
  /** Removes what is written. */
  abandon(): Promise<void>;
}

const partialOf = (directory: string): string => `${directory}.partial`;

/** Begins a backup in a directory that must not exist. What a killed process has left is removed. @throws InvalidInput */
export async function createBackup(directory: string, key: Buffer, version: string): Promise<BackupWriter> {
  const there = await stat(directory).catch(() => undefined);
  if (there !== undefined) throw new InvalidInput(`${directory} exists already: name a new directory for the backup`);
  const partial = partialOf(directory);
  await written(directory, async () => {
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial, { recursive: true, mode: 0o700 });
  });
  const files = new Set<string>();
  const write = (name: string, chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> =>
    written(directory, async () => {
      const file = join(partial, name);
      const source = Readable.from(chunks, { objectMode: false });
      await pipeline(source, createGzip({ level: 1 }), sealStream({ key, name }), createWriteStream(file, { mode: 0o600, flush: true }));
      files.add(name);
    });
  return {
    write,
    complete: async (facts) => {
      await write(contentsName, [Buffer.from(JSON.stringify({ files: [...files], facts }))]);
      const label: BackupLabel = { format: backupFormat, id: randomUUID(), version, createdAt: new Date().toISOString() };
      await written(directory, async () => {
        await writeFile(join(partial, labelFile), `${JSON.stringify(label)}\n`, { mode: 0o600, flush: true });
        await rename(partial, directory);
        await syncDirectory(dirname(directory));
      });
      return label;
    },
    abandon: () => rm(partial, { recursive: true, force: true }),
  };
}

/** A rename is durable once its directory is. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function written(directory: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (cause) {
    if (cause instanceof HeadwaterError || !(cause instanceof Error) || !("code" in cause) || !("syscall" in cause)) throw cause;
    const problem = cause.code === "ENOSPC" || cause.code === "EDQUOT" ? "the disk is full" : String(cause.code);
    throw new Unavailable(`the backup ${directory} cannot be written: ${problem}`, { code: "backup_not_written", cause });
  }
}

/** A complete backup. */
export interface Backup {
  readonly label: BackupLabel;
  readonly facts: unknown;
  read(name: string): AsyncIterable<Buffer>;
  /** Reads all files to their end. @throws InvalidInput when one is damaged, incomplete or missing */
  verify(onFile: (name: string) => void): Promise<void>;
}

/** @throws InvalidInput when it is no complete backup, of a newer format, or sealed with another key */
export async function openBackup(directory: string, key: Buffer): Promise<Backup> {
  const label = parseLabel(directory, await readFile(join(directory, labelFile), "utf8").catch(() => undefined));
  if (label.format > backupFormat)
    throw new InvalidInput(
      `the backup ${directory} has format ${label.format} of version ${label.version}, and this version reads up to format ${backupFormat}: restore it with version ${label.version} or a newer one`,
      { code: "newer_backup" },
    );
  const read = (name: string): Readable => readSealed(directory, key, name);
  const contents = contentsShape.parse(
    JSON.parse(await textOf(read(contentsName)).catch((cause: unknown) => rethrowKey(directory, cause))),
  );
  return {
    label,
    facts: contents.facts,
    read,
    verify: async (onFile) => {
      for (const name of contents.files) {
        onFile(name);
        await pipeline(read(name), new Writable({ write: (_chunk, _encoding, done) => done() }));
      }
    },
  };
}

function parseLabel(directory: string, text: string | undefined): BackupLabel {
  if (text === undefined) throw new InvalidInput(`${directory} holds no complete backup: it has no ${labelFile}`, { code: "no_backup" });
  try {
    return labelShape.parse(JSON.parse(text));
  } catch (cause) {
    throw new InvalidInput(`${join(directory, labelFile)} is damaged: use another backup`, { code: "damaged_backup", cause });
  }
}

function rethrowKey(directory: string, cause: unknown): never {
  if (!(cause instanceof InvalidInput)) throw cause;
  throw new InvalidInput(
    `the backup ${directory} does not open: it is damaged, or was made with another key than this installation's. Restore the keys first (in a cluster the Secret headwater-keys, else the directory of HEADWATER_KEYS)`,
    { code: "damaged_backup", cause },
  );
}

function readSealed(directory: string, key: Buffer, name: string): Readable {
  const opened = openStream({ key, name });
  const unzipped = createGunzip();
  const file = createReadStream(join(directory, name));
  // The consumer sees the first error: that of the file, of the seal, or of the compression.
  pipeline(file, opened, unzipped).catch((error: unknown) => unzipped.destroy(readError(name, error)));
  return unzipped;
}

function readError(name: string, cause: unknown): Error {
  if (cause instanceof HeadwaterError) return cause;
  const reason = cause instanceof Error && "code" in cause && cause.code === "ENOENT" ? "missing" : "damaged or incomplete";
  return new InvalidInput(`${name} of the backup is ${reason}: use another backup`, { code: "damaged_backup", cause });
}

async function textOf(chunks: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts).toString();
}

/** Names of the complete backups in a directory, oldest first. */
export async function listBackups(parent: string): Promise<readonly string[]> {
  const names = await readdir(parent).catch(() => []);
  const dated: { readonly name: string; readonly createdAt: string }[] = [];
  for (const name of names) {
    const text = await readFile(join(parent, name, labelFile), "utf8").catch(() => undefined);
    if (text !== undefined) dated.push({ name, createdAt: parseLabel(join(parent, name), text).createdAt });
  }
  return dated.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1)).map(({ name }) => name);
}

/** Removes the oldest backups beside a backup, so that `keep` are left, and what killed processes have left. @returns names of those removed */
export async function pruneBackups(directory: string, keep: number): Promise<readonly string[]> {
  const parent = dirname(directory);
  const old = (await listBackups(parent)).slice(0, -keep);
  const partial = (await readdir(parent)).filter((name) => name.endsWith(partialOf("")) && name !== partialOf(basename(directory)));
  for (const name of [...old, ...partial]) await rm(join(parent, name), { recursive: true });
  return old;
}
