import EventEmitter from "../events/events.ts";
import { Buffer } from "../buffer/buffer.ts";
import { readFileSteps, writeFileSteps } from "./contents.ts";
import { closeSync, fstatSync, fsyncSync, ftruncateSteps, openSteps, readSteps, writeSteps } from "./descriptors.ts";
import type { Stats } from "./stats.ts";
import { promised } from "./steps.ts";
import { ReadStream, WriteStream } from "./streams.ts";

/** The FileHandle of `fs.promises.open`. */
export class FileHandle extends EventEmitter {
  readonly fd: number;
  constructor(fd: number) {
    super();
    this.fd = fd;
  }
  async close(): Promise<void> {
    closeSync(this.fd);
    this.emit("close");
  }
  async read(target?: unknown, ...rest: unknown[]): Promise<{ bytesRead: number; buffer: unknown }> {
    const options = (ArrayBuffer.isView(target) ? {} : (target ?? {})) as {
      buffer?: ArrayBufferView;
      offset?: number;
      length?: number;
      position?: number | null;
    };
    const buffer = ArrayBuffer.isView(target) ? target : (options.buffer ?? Buffer.alloc(16_384));
    const [offset, length, position] = ArrayBuffer.isView(target)
      ? (rest as [number?, number?, (number | null)?])
      : [options.offset, options.length, options.position];
    return { bytesRead: await promised(readSteps(this.fd, buffer, offset ?? 0, length, position ?? null)), buffer };
  }
  async write(data: unknown, ...rest: unknown[]): Promise<{ bytesWritten: number; buffer: unknown }> {
    return { bytesWritten: await promised(writeSteps(this.fd, data, ...rest)), buffer: data };
  }
  async readFile(options?: string | Record<string, unknown>): Promise<unknown> {
    return await promised(readFileSteps(this.fd, options));
  }
  async writeFile(data: unknown, options?: string | Record<string, unknown>): Promise<void> {
    await promised(writeFileSteps(this.fd, data, options));
  }
  async appendFile(data: unknown, options?: string | Record<string, unknown>): Promise<void> {
    await promised(writeFileSteps(this.fd, data, options));
  }
  async stat(): Promise<Stats> {
    return fstatSync(this.fd);
  }
  async truncate(length?: number): Promise<void> {
    await promised(ftruncateSteps(this.fd, length));
  }
  async sync(): Promise<void> {
    fsyncSync(this.fd);
  }
  async datasync(): Promise<void> {
    fsyncSync(this.fd);
  }
  createReadStream(options: object = {}): ReadStream {
    return new ReadStream(undefined, { ...options, fd: this.fd });
  }
  createWriteStream(options: object = {}): WriteStream {
    return new WriteStream(undefined, { ...options, fd: this.fd });
  }
  async [(Symbol as unknown as { asyncDispose: symbol }).asyncDispose ?? Symbol.for("Symbol.asyncDispose")](): Promise<void> {
    await this.close();
  }
}

export const openHandle = async (at: unknown, flags?: string, mode?: number): Promise<FileHandle> =>
  new FileHandle(await promised(openSteps(at, flags, mode)));
