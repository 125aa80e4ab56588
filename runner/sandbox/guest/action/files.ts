import { type Fields, isObject } from "../component/component.ts";
import { ruleError, ruleTypeError } from "../runtime/errors.ts";
import { fileSession, storeManifest } from "../runtime/run-files.ts";
import { inspect } from "../node/inspect/inspect.ts";
import type * as fetching from "../web/fetch/fetch.ts";

// Evaluated with the first file that is fetched.
declare function require(path: "../web/fetch/fetch.ts"): typeof fetching;

/** What is used of `node:fs`, which only contexts with the Node layer have. */
export interface FileSystem {
  existsSync(path: string): boolean;
  mkdirSync(path: string, options: { readonly recursive: boolean }): void;
  rmSync(path: string, options: { readonly recursive: boolean; readonly force: boolean }): void;
  writeFileSync(path: string, content: unknown): void;
  readdirSync(path: string): string[];
  statSync(path: string): { readonly size: number; readonly mtime: Date; isFile(): boolean; isDirectory(): boolean };
  createReadStream(path: string): unknown;
  createWriteStream(path: string): FileWriter;
  /** What moves contents: they may be large, and stored elsewhere. */
  readonly promises: {
    readFile(path: string): Promise<Read>;
    writeFile(path: string, content: unknown): Promise<void>;
    copyFile(from: string, to: string): Promise<void>;
    rm(path: string, options: { readonly recursive: boolean; readonly force: boolean }): Promise<void>;
  };
}

/** A Buffer. */
export type Read = Uint8Array & { toString(encoding?: string, start?: number, end?: number): string };

/** Of a write stream. */
interface FileWriter {
  end(done: () => void): void;
  write(chunk: unknown): boolean;
  on(name: "error", run: (error: unknown) => void): void;
  once(name: "drain", run: () => void): void;
  destroy(): void;
}

/** What code of a step reads and writes: a file or directory of the run, or what is at a URL. As JSON it is its descriptor. */
export interface RunFile {
  readonly path: string;
  readonly name: string;
  readonly size: number;
  readonly modifiedAt: Date;
  isFile(): boolean;
  isDirectory(): boolean;
  toBuffer(): Promise<Uint8Array>;
  toEncodedString(encoding?: string, start?: number, end?: number): Promise<string>;
  /** Copies it to a path such as /tmp/x. */
  toFile(local: string): Promise<void>;
  /** A URL at which anyone can read the file as it is now, until the files of the run are deleted, and at most for a day. */
  toUrl(): Promise<string>;
  fromFile(local: string): Promise<this>;
  fromUrl(url: string): Promise<this>;
  fromReadableStream(stream: AsyncIterable<Uint8Array | string>): Promise<this>;
  /** @param content text or bytes */
  write(content: unknown): Promise<this>;
  createReadStream(): unknown;
  /** A content type and a length may be given, and have no effect. */
  createWriteStream(): unknown;
  delete(): Promise<void>;
  toJSON(): Fields;
}

/** `$.files`: files that the steps of a workflow run share, below a directory of /tmp. */
export interface FileStore {
  /** A file that does not exist is created. */
  open(path: unknown): RunFile;
  /** From the JSON of a file. */
  openDescriptor(descriptor: unknown): RunFile;
  /** The files and directories in a directory. */
  dir(path?: unknown): AsyncIterable<RunFile>;
}

/** The files of a step. */
export interface OpenFiles {
  readonly store: FileStore;
  /** @param path below /tmp; if it does not begin with that, of a file of the store if there is one, or else below /tmp as well */
  file(path: string): RunFile;
}

const root = "/tmp/.file-store";
const maxShown = 100;

const { encodeURIComponent } = globalThis;

export function fileSystem(): FileSystem {
  const { __builtin: builtin } = globalThis as { readonly __builtin?: (name: string) => unknown };
  if (builtin === undefined)
    throw ruleError(
      "files_unavailable",
      "this context has no file system: use $.files.open(…) or import node:fs in the code of the action",
    );
  return builtin("fs") as FileSystem;
}

/**
 * Without files of a workflow run, what an earlier run in this context has stored is deleted.
 * @param filesUrl what the URLs of files begin with; absent: they have none
 */
export function openFiles(filesUrl?: string): OpenFiles {
  const fs = fileSystem();
  if (fileSession() === undefined) fs.rmSync(root, { recursive: true, force: true });
  const stored = (path: string): StoredFile => new StoredFile(fs, path, () => `${root}/${path}`, filesUrl);
  const file = (path: string): StoredFile => new StoredFile(fs, path, placeOf(path, fs), filesUrl);
  const store: FileStore = {
    open(given) {
      const path = storePath(given);
      const full = `${root}/${path}`;
      if (path === "") throw ruleTypeError("invalid_file", "the path given to $.files.open() is that of the root: name a file");
      fs.mkdirSync(full.slice(0, full.lastIndexOf("/")), { recursive: true });
      if (!fs.existsSync(full)) fs.writeFileSync(full, "");
      return stored(path);
    },
    openDescriptor(descriptor) {
      const path = isObject(descriptor) ? descriptor["path"] : descriptor;
      return isObject(descriptor) && typeof path === "string" && path.startsWith("/tmp/") ? file(path) : store.open(path);
    },
    async *dir(given = "") {
      const path = storePath(given);
      // It is made with the first file: who only looks changes nothing.
      if (path === "" && !fs.existsSync(root)) return;
      for (const name of fs.readdirSync(`${root}/${path}`)) yield stored(path === "" ? name : `${path}/${name}`);
    },
  };
  return { store, file };
}

/** Where a file is that a prop names. Looked up with its first use: a step that uses no file reads no list of files. */
function placeOf(path: string, fs: FileSystem): () => string {
  if (path.startsWith("/tmp/")) return () => path;
  let place: string | undefined;
  return () => (place ??= fs.existsSync(`${root}/${path}`) ? `${root}/${path}` : `/tmp/${path}`);
}

/** Relative to the root, without `.` and `..`. */
function storePath(given: unknown): string {
  if (typeof given !== "string")
    throw ruleTypeError("invalid_file", `the path of a file must be a text, got ${inspect(given).slice(0, maxShown)}`);
  const parts: string[] = [];
  for (const part of given.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}

/** A file or directory of the store, or below /tmp. */
class StoredFile implements RunFile {
  readonly path: string;
  readonly name: string;
  readonly #fs: FileSystem;
  readonly #place: () => string;
  readonly #filesUrl: string | undefined;

  constructor(fs: FileSystem, path: string, place: () => string, filesUrl: string | undefined) {
    this.#fs = fs;
    this.#place = place;
    this.#filesUrl = filesUrl;
    this.path = path;
    this.name = path.slice(path.lastIndexOf("/") + 1);
  }

  get size(): number {
    return this.#fs.statSync(this.#full).size;
  }

  get modifiedAt(): Date {
    return this.#fs.statSync(this.#full).mtime;
  }

  get #full(): string {
    return this.#place();
  }

  isFile(): boolean {
    return this.#fs.statSync(this.#full).isFile();
  }

  isDirectory(): boolean {
    return this.#fs.statSync(this.#full).isDirectory();
  }

  async toBuffer(): Promise<Uint8Array> {
    return await this.#fs.promises.readFile(this.#full);
  }

  async toEncodedString(encoding = "utf8", start?: number, end?: number): Promise<string> {
    return (await this.#fs.promises.readFile(this.#full)).toString(encoding, start, end);
  }

  async toFile(local: string): Promise<void> {
    await this.#fs.promises.copyFile(this.#full, local);
  }

  async toUrl(): Promise<string> {
    if (this.#filesUrl === undefined)
      throw ruleError(
        "files_unavailable",
        "files have URLs only in a run of a workflow, not in a test: the files of a test belong to no run",
      );
    if (this.isDirectory()) throw ruleTypeError("invalid_file", `'${this.path.slice(0, maxShown)}' is a directory: only files have URLs`);
    return `${this.#filesUrl}${await storeManifest(this.#full)}/${encodeURIComponent(this.name.toWellFormed())}`;
  }

  async fromFile(local: string): Promise<this> {
    await this.#fs.promises.copyFile(local, this.#full);
    return this;
  }

  async fromUrl(url: string): Promise<this> {
    const response = await require("../web/fetch/fetch.ts").fetch(url);
    if (!response.ok) throw new Error(`${inspect(url).slice(0, maxShown)} was answered with status ${response.status}`);
    return await this.fromReadableStream((response.body ?? []) as AsyncIterable<Uint8Array>);
  }

  async fromReadableStream(stream: AsyncIterable<Uint8Array | string>): Promise<this> {
    await writeStream(this.#fs, this.#full, stream);
    return this;
  }

  async write(content: unknown): Promise<this> {
    await this.#fs.promises.writeFile(this.#full, content);
    return this;
  }

  createReadStream(): unknown {
    return this.#fs.createReadStream(this.#full);
  }

  createWriteStream(): unknown {
    return this.#fs.createWriteStream(this.#full);
  }

  async delete(): Promise<void> {
    await this.#fs.promises.rm(this.#full, { recursive: true, force: true });
  }

  toJSON(): Fields {
    return { path: this.path, name: this.name };
  }
}

export async function writeStream(fs: FileSystem, full: string, stream: AsyncIterable<Uint8Array | string>): Promise<void> {
  const target = fs.createWriteStream(full);
  const failed = new Promise<never>((_, reject) => target.on("error", reject));
  failed.catch(() => {}); // It may come after the last chunk.
  try {
    for await (const chunk of stream) {
      if (!target.write(chunk)) await Promise.race([failed, new Promise<void>((resolve) => target.once("drain", resolve))]);
    }
  } catch (error) {
    target.destroy();
    throw error;
  }
  await Promise.race([failed, new Promise<void>((resolve) => target.end(resolve))]);
}
