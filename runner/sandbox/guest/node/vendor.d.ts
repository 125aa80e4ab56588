// Types of the packages below the Node layer, as far as they are used. The packages ship none that fit here (`types: []`). A trailing slash
// makes the bundler take the npm package and never a built-in.

declare module "buffer/" {
  export class Buffer extends Uint8Array<ArrayBuffer> {
    static from(data: string, encoding?: string): Buffer;
    static from(data: ArrayBuffer, offset?: number, length?: number): Buffer;
    static from(data: ArrayLike<number> | ArrayBufferLike, offset?: number, length?: number): Buffer;
    static alloc(bytes: number, fill?: unknown, encoding?: string): Buffer;
    static allocUnsafe(bytes: number): Buffer;
    static concat(list: readonly Uint8Array[], length?: number): Buffer;
    static isBuffer(value: unknown): value is Buffer;
    static isEncoding(encoding: unknown): boolean;
    static byteLength(data: unknown, encoding?: string): number;
    static compare(a: Uint8Array, b: Uint8Array): number;
    static poolSize: number;
    toString(encoding?: string, start?: number, end?: number): string;
    write(text: string, offset?: number | string, length?: number | string, encoding?: string): number;
    equals(other: Uint8Array): boolean;
    compare(other: Uint8Array): number;
    override slice(start?: number, end?: number): Buffer;
    override subarray(start?: number, end?: number): Buffer;
    readUInt8(offset?: number): number;
    readUInt32BE(offset?: number): number;
    readUInt32LE(offset?: number): number;
    copy(target: Uint8Array, targetStart?: number, start?: number, end?: number): number;
  }
  export const SlowBuffer: typeof Buffer;
  export const kMaxLength: number;
}

declare module "events/" {
  type Listener = (...args: never[]) => unknown;
  class EventEmitter {
    constructor(options?: { captureRejections?: boolean });
    static defaultMaxListeners: number;
    static EventEmitter: typeof EventEmitter;
    on(type: string | symbol, listener: Listener): this;
    once(type: string | symbol, listener: Listener): this;
    off(type: string | symbol, listener: Listener): this;
    addListener(type: string | symbol, listener: Listener): this;
    removeListener(type: string | symbol, listener: Listener): this;
    removeAllListeners(type?: string | symbol): this;
    prependListener(type: string | symbol, listener: Listener): this;
    prependOnceListener(type: string | symbol, listener: Listener): this;
    emit(type: string | symbol, ...args: unknown[]): boolean;
    listeners(type: string | symbol): Listener[];
    rawListeners(type: string | symbol): Listener[];
    listenerCount(type: string | symbol, listener?: Listener): number;
    eventNames(): (string | symbol)[];
    setMaxListeners(count: number): this;
    getMaxListeners(): number;
  }
  export default EventEmitter;
}

declare module "process/" {
  const shim: {
    nextTick: (callback: (...args: never[]) => unknown, ...args: unknown[]) => void;
    emitWarning?: (warning: unknown) => void;
  };
  export default shim;
}

declare module "punycode/" {
  const punycode: Record<string, unknown>;
  export default punycode;
}

declare module "readable-stream" {
  import EventEmitter from "events/";
  type Done = (error?: Error | null) => void;
  interface StreamOptions {
    highWaterMark?: number;
    objectMode?: boolean;
    readableObjectMode?: boolean;
    writableObjectMode?: boolean;
    readableHighWaterMark?: number;
    writableHighWaterMark?: number;
    allowHalfOpen?: boolean;
    autoDestroy?: boolean;
    emitClose?: boolean;
    decodeStrings?: boolean;
    defaultEncoding?: string;
    encoding?: string;
    signal?: unknown;
    construct?: (this: never, callback: Done) => void;
    read?: (this: Readable, size: number) => void;
    write?: (this: never, chunk: never, encoding: string, callback: Done) => void;
    writev?: (this: never, chunks: never[], callback: Done) => void;
    final?: (this: never, callback: Done) => void;
    destroy?: (this: never, error: Error | null, callback: Done) => void;
    transform?: (this: never, chunk: never, encoding: string, callback: (error?: Error | null, data?: unknown) => void) => void;
    flush?: (this: never, callback: (error?: Error | null, data?: unknown) => void) => void;
  }
  export class Stream extends EventEmitter {
    constructor(options?: StreamOptions);
    pipe<T extends EventEmitter>(target: T, options?: { end?: boolean }): T;
    readable: boolean;
    writable: boolean;
    destroyed: boolean;
    closed: boolean;
    errored: Error | null;
    destroy(error?: Error | null): this;
    _destroy(error: Error | null, callback: Done): void;
    _construct(callback: Done): void;
  }
  export class Readable extends Stream implements AsyncIterable<unknown> {
    static from(source: unknown, options?: StreamOptions): Readable;
    static fromWeb(source: unknown, options?: StreamOptions): Readable;
    static toWeb(source: unknown, options?: unknown): unknown;
    static isDisturbed(stream: unknown): boolean;
    readableFlowing: boolean | null;
    readableEnded: boolean;
    readableLength: number;
    readableHighWaterMark: number;
    readableEncoding: string | null;
    readableObjectMode: boolean;
    readableAborted: boolean;
    readableDidRead: boolean;
    read(size?: number): unknown;
    push(chunk: unknown, encoding?: string): boolean;
    unshift(chunk: unknown, encoding?: string): void;
    pause(): this;
    resume(): this;
    isPaused(): boolean;
    setEncoding(encoding: string): this;
    unpipe(target?: unknown): this;
    _read(size: number): void;
    [Symbol.asyncIterator](): AsyncIterator<unknown>;
  }
  export class Writable extends Stream {
    static fromWeb(target: unknown, options?: StreamOptions): Writable;
    static toWeb(target: unknown): unknown;
    writableEnded: boolean;
    writableFinished: boolean;
    writableLength: number;
    writableHighWaterMark: number;
    writableNeedDrain: boolean;
    writableObjectMode: boolean;
    write(chunk: unknown, encoding?: unknown, callback?: unknown): boolean;
    end(chunk?: unknown, encoding?: unknown, callback?: unknown): this;
    cork(): void;
    uncork(): void;
    setDefaultEncoding(encoding: string): this;
    _write(chunk: unknown, encoding: string, callback: Done): void;
    _final(callback: Done): void;
  }
  export class Duplex extends Readable {
    static from(source: unknown, options?: StreamOptions): Duplex;
    static fromWeb(pair: unknown, options?: StreamOptions): Duplex;
    static toWeb(duplex: unknown): unknown;
    allowHalfOpen: boolean;
    writableEnded: boolean;
    writableFinished: boolean;
    writableLength: number;
    writableHighWaterMark: number;
    writableNeedDrain: boolean;
    writableObjectMode: boolean;
    write(chunk: unknown, encoding?: unknown, callback?: unknown): boolean;
    end(chunk?: unknown, encoding?: unknown, callback?: unknown): this;
    cork(): void;
    uncork(): void;
    setDefaultEncoding(encoding: string): this;
    _write(chunk: unknown, encoding: string, callback: Done): void;
    _final(callback: Done): void;
  }
  export class Transform extends Duplex {
    _transform(chunk: unknown, encoding: string, callback: (error?: Error | null, data?: unknown) => void): void;
    _flush(callback: (error?: Error | null, data?: unknown) => void): void;
  }
  export class PassThrough extends Transform {}
  export const finished: (stream: unknown, ...rest: unknown[]) => () => void;
  export const pipeline: (...streams: unknown[]) => unknown;
  export const compose: (...streams: unknown[]) => Duplex;
  export const addAbortSignal: (signal: unknown, stream: unknown) => unknown;
  export const destroy: unknown;
}
