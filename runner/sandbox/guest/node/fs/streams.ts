import { Buffer } from "../buffer/buffer.ts";
import { nextTick } from "../timers/next-tick.ts";
import { Readable, Writable } from "../stream/stream.ts";
import { closeSync, openSteps, readSteps, writeSteps } from "./descriptors.ts";
import { perform, type Steps } from "./steps.ts";
import { listed, pathText } from "./tree.ts";

type Done = (error?: Error | null) => void;
interface StreamOptions {
  readonly flags?: string;
  readonly mode?: number;
  readonly fd?: number;
  readonly start?: number;
  readonly end?: number;
  readonly encoding?: string;
  readonly autoClose?: boolean;
  readonly highWaterMark?: number;
  readonly emitClose?: boolean;
  readonly signal?: unknown;
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
function attempt(work: () => void, done: Done): void {
  try {
    work();
  } catch (error) {
    done(asError(error));
    return;
  }
  done();
}
const given = (options: string | StreamOptions | undefined): StreamOptions =>
  typeof options === "string" ? { encoding: options } : (options ?? {});

export class ReadStream extends Readable {
  readonly path: string | undefined;
  readonly flags: string;
  fd: number | null;
  bytesRead = 0;
  #position: number | null;
  readonly #end: number;
  readonly #keepOpen: boolean;
  constructor(at: unknown, options?: string | StreamOptions) {
    const { fd, start, end = Infinity, flags = "r", encoding, highWaterMark = 65_536, autoClose, signal } = given(options);
    super({
      highWaterMark,
      ...(encoding === undefined ? {} : { encoding }),
      ...(signal === undefined ? {} : { signal }),
      autoDestroy: true,
    });
    this.path = at === null || at === undefined ? undefined : pathText(at);
    this.flags = flags;
    this.fd = fd ?? null;
    this.#position = start ?? null;
    this.#end = end;
    this.#keepOpen = autoClose === false;
    nextTick(() => this.#open());
  }
  get pending(): boolean {
    return this.fd === null;
  }
  #open(): void {
    if (this.destroyed || this.fd !== null) return;
    perform(
      openSteps(this.path, this.flags),
      (fd) => this.#begin(fd),
      (error) => this.destroy(asError(error)),
    );
  }
  #begin(fd: number): void {
    if (this.destroyed) return closeSync(fd);
    this.fd = fd;
    this.emit("open", fd);
    this.emit("ready");
    this._read(65_536);
  }
  #wanted = 0;
  override _read(size: number): void {
    if (this.fd === null) return;
    this.#wanted = Math.min(size, this.#end === Infinity ? size : this.#end - (this.#position ?? this.bytesRead) + 1);
    const buffer = Buffer.alloc(Math.max(0, this.#wanted));
    perform(
      readSteps(this.fd, buffer, 0, buffer.length, this.#position),
      (count) => {
        if (this.destroyed) return;
        if (this.#position !== null) this.#position += count;
        this.bytesRead += count;
        this.push(count === 0 ? null : buffer.subarray(0, count));
      },
      (error) => this.destroy(asError(error)),
    );
  }
  override _destroy(error: Error | null, callback: Done): void {
    const { fd } = this;
    this.fd = null;
    attempt(
      () => fd !== null && !this.#keepOpen && closeSync(fd),
      (failed) => callback(error ?? failed),
    );
  }
  close(callback?: Done): void {
    if (callback !== undefined) this.once("close", callback);
    this.destroy();
  }
}

export class WriteStream extends Writable {
  readonly path: string | undefined;
  readonly flags: string;
  fd: number | null;
  bytesWritten = 0;
  #position: number | undefined;
  constructor(at: unknown, options?: string | StreamOptions) {
    const { fd, start, flags = "w", mode = 0o666, highWaterMark, signal } = given(options);
    super({
      decodeStrings: true,
      ...(highWaterMark === undefined ? {} : { highWaterMark }),
      ...(signal === undefined ? {} : { signal }),
    });
    this.path = at === null || at === undefined ? undefined : pathText(at);
    this.flags = flags;
    this.fd = fd ?? null;
    this.#position = start;
    this.#mode = mode;
    nextTick(() =>
      perform(
        this.#open(),
        () => {},
        (error) => this.destroy(asError(error)),
      ),
    );
  }
  get pending(): boolean {
    return this.fd === null;
  }
  readonly #mode: number;
  #opened = false;
  /** The first that gets here opens the file. */
  *#open(): Steps<number> {
    yield* listed();
    if (this.fd !== null) return this.fd;
    if (this.destroyed) throw new Error("the stream was destroyed before its file was opened");
    const fd = yield* openSteps(this.path, this.flags, this.#mode); // waits for nothing any more
    this.fd = fd;
    if (!this.#opened)
      nextTick(() => {
        this.emit("open", fd);
        this.emit("ready");
      });
    this.#opened = true;
    return fd;
  }
  override _write(chunk: unknown, _encoding: string, callback: Done): void {
    perform(
      this.#writeSteps(chunk),
      () => callback(),
      (error) => callback(asError(error)),
    );
  }
  *#writeSteps(chunk: unknown): Steps<void> {
    const count = yield* writeSteps(yield* this.#open(), chunk, 0, undefined, this.#position);
    if (this.#position !== undefined) this.#position += count;
    this.bytesWritten += count;
  }
  override _final(callback: Done): void {
    perform(
      this.#open(), // an empty stream makes an empty file
      () => callback(),
      (error) => callback(asError(error)),
    );
  }
  override _destroy(error: Error | null, callback: Done): void {
    const { fd } = this;
    this.fd = null;
    attempt(
      () => fd !== null && closeSync(fd),
      (failed) => callback(error ?? failed),
    );
  }
  close(callback?: Done): void {
    if (callback !== undefined) this.once("close", callback);
    this.end();
  }
}
