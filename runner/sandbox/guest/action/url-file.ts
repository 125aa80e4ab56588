import type { Fields } from "../component/component.ts";
import { ruleError, ruleTypeError } from "../runtime/errors.ts";
import { fileSystem, writeStream, type FileSystem, type Read, type RunFile } from "./files.ts";
import { URL } from "../web/url/url.ts";
import type * as fetching from "../web/fetch/fetch.ts";

// Evaluated with the first file that is fetched.
declare function require(path: "../web/fetch/fetch.ts"): typeof fetching;

const maxShown = 100;

interface Builtins {
  buffer: { readonly Buffer: { from(bytes: ArrayBuffer | Uint8Array): Read } };
  stream: { readonly Readable: { from(chunks: AsyncIterable<unknown>, options: { readonly objectMode: false }): unknown } };
}

/** A file at a URL. It is requested at each read. */
export const urlFile = (url: string): RunFile => new UrlFile(url);

/** Has what a file of a run has: what reads it, and refusals of the rest. */
class UrlFile implements RunFile {
  readonly path: string;
  readonly name: string;

  constructor(url: string) {
    this.path = url;
    this.name = nameIn(url);
  }

  get size(): number {
    throw this.#unknown("size");
  }

  get modifiedAt(): Date {
    throw this.#unknown("time of change");
  }

  isFile(): boolean {
    return true;
  }

  isDirectory(): boolean {
    return false;
  }

  async toBuffer(): Promise<Read> {
    const bytes = await (await this.#response()).arrayBuffer();
    return builtin("buffer").Buffer.from(bytes);
  }

  async toEncodedString(encoding = "utf8", start?: number, end?: number): Promise<string> {
    return (await this.toBuffer()).toString(encoding, start, end);
  }

  async toFile(local: string): Promise<void> {
    const fs: FileSystem = fileSystem();
    await writeStream(fs, local, this.#chunks());
  }

  async toUrl(): Promise<string> {
    return this.path;
  }

  createReadStream(): unknown {
    return builtin("stream").Readable.from(this.#chunks(), { objectMode: false });
  }

  async fromFile(): Promise<never> {
    throw this.#readOnly();
  }

  async fromUrl(): Promise<never> {
    throw this.#readOnly();
  }

  async fromReadableStream(): Promise<never> {
    throw this.#readOnly();
  }

  async write(): Promise<never> {
    throw this.#readOnly();
  }

  createWriteStream(): never {
    throw this.#readOnly();
  }

  async delete(): Promise<never> {
    throw this.#readOnly();
  }

  toJSON(): Fields {
    return { path: this.path, name: this.name };
  }

  async #response(): ReturnType<typeof fetching.fetch> {
    const response = await require("../web/fetch/fetch.ts").fetch(this.path);
    if (!response.ok) throw new Error(`${this.#shown} was answered with status ${response.status}`);
    return response;
  }

  async *#chunks(): AsyncGenerator<Uint8Array> {
    const { Buffer } = builtin("buffer");
    const body = ((await this.#response()).body ?? []) as AsyncIterable<Uint8Array>;
    for await (const chunk of body) yield Buffer.from(chunk);
  }

  /** Without its query, which may be a signature. */
  get #shown(): string {
    return `'${this.path.replace(/[?#].*$/su, "").slice(0, maxShown)}'`;
  }

  #readOnly(): Error {
    return ruleTypeError("file_read_only", `${this.#shown} is a URL, which can only be read: write to a path below /tmp`);
  }

  #unknown(what: string): Error {
    return ruleError(
      "invalid_file",
      `the ${what} of ${this.#shown} is unknown, because it is a URL: read it, for instance with toBuffer()`,
    );
  }
}

/** The last part of its path, decoded where that is possible. */
function nameIn(url: string): string {
  const { pathname, hostname } = new URL(url);
  const name = pathname.slice(pathname.lastIndexOf("/") + 1);
  try {
    const decoded = decodeURIComponent(name);
    // As that of a stored file, it is one name: people write files under it.
    return (/[/\\\0]/u.test(decoded) ? name : decoded) || hostname;
  } catch {
    return name;
  }
}

function builtin<Name extends keyof Builtins>(name: Name): Builtins[Name] {
  fileSystem();
  return (globalThis as unknown as { readonly __builtin: (name: Name) => Builtins[Name] }).__builtin(name); // Of a context with the Node layer.
}
