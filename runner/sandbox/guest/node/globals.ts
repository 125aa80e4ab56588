/** The parts of the web runtime the Node layer uses; the web prelude defined them before this script ran. */
export interface GuestGlobals {
  setTimeout(callback: (...args: never[]) => void, delayMs?: number, ...args: unknown[]): { unref(): unknown };
  setInterval(callback: (...args: never[]) => void, delayMs?: number, ...args: unknown[]): unknown;
  setImmediate(callback: (...args: never[]) => void, ...args: unknown[]): unknown;
  clearTimeout(timer: unknown): void;
  clearInterval(timer: unknown): void;
  clearImmediate(timer: unknown): void;
  queueMicrotask(callback: () => void): void;
  readonly console: Record<"log" | "info" | "warn" | "error" | "debug" | "trace", (...args: unknown[]) => void>;
  readonly performance: { now(): number; readonly timeOrigin: number };
  readonly URL: new (url: string, base?: string) => GuestUrl;
  readonly URLSearchParams: new (init?: unknown) => object;
  readonly TextEncoder: new () => { encode(text: string): Uint8Array<ArrayBuffer> };
  readonly TextDecoder: new (label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }) => { decode(bytes?: unknown): string };
  readonly AbortController: new () => { readonly signal: GuestSignal; abort(reason?: unknown): void };
  readonly AbortSignal: new () => GuestSignal;
  readonly ReadableStream: new (source?: unknown, strategy?: unknown) => GuestReadableStream;
  readonly WritableStream: new (sink?: unknown, strategy?: unknown) => GuestWritableStream;
  readonly crypto: { readonly subtle: object; randomUUID(): string; getRandomValues<T>(array: T): T };
  structuredClone(value: unknown): unknown;
  [name: string]: unknown;
}

export interface GuestSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: string, listener: (event: unknown) => void, options?: object): void;
  removeEventListener(type: string, listener: (event: unknown) => void): void;
}

export interface GuestUrl {
  href: string;
  protocol: string;
  username: string;
  password: string;
  host: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  hash: string;
  readonly origin: string;
}

export interface GuestReadableStream {
  getReader(): {
    read(): Promise<{ done: boolean; value: unknown }>;
    cancel(reason?: unknown): Promise<void>;
    releaseLock(): void;
  };
}

export interface GuestWritableStream {
  getWriter(): {
    readonly ready: Promise<void>;
    write(chunk: unknown): Promise<void>;
    close(): Promise<void>;
    abort(reason?: unknown): Promise<void>;
  };
}

// globalThis has no type for what the web prelude adds; this is the one place that gives it one.
export const guest = globalThis as unknown as GuestGlobals;
