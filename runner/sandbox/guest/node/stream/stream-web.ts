import { Duplex, finished, Readable, Writable } from "readable-stream";
import { guest, type GuestReadableStream, type GuestWritableStream } from "../globals.ts";

// Conversions between Node streams and web streams, with back-pressure both ways.

interface Controller {
  enqueue(chunk: unknown): void;
  close(): void;
  error(reason: unknown): void;
  readonly desiredSize: number | null;
}
type Options = ConstructorParameters<typeof Readable>[0];
type Done = (error?: Error | null) => void;

const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));
const fail = (callback: Done) => (reason: unknown) => callback(asError(reason));

export function readableFromWeb(source: unknown, options?: Options): Readable {
  const reader = (source as GuestReadableStream).getReader(); // throws for anything but a web stream, as Node does
  return new Readable({
    ...options,
    read() {
      reader.read().then(
        ({ done, value }) => void this.push(done ? null : value),
        (reason: unknown) => this.destroy(asError(reason)),
      );
    },
    destroy(error: Error | null, callback: Done) {
      reader.cancel(error ?? undefined).then(
        () => callback(error),
        () => callback(error),
      );
    },
  });
}

export function readableToWeb(source: unknown): unknown {
  const stream = source as Readable; // Node throws on anything else too, at the first property
  const plain = (chunk: unknown): unknown =>
    ArrayBuffer.isView(chunk) ? new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength) : chunk;
  let open = true;
  return new guest.ReadableStream({
    start(controller: Controller) {
      stream.pause();
      stream.on("data", (chunk: unknown) => {
        if (!open) return;
        controller.enqueue(plain(chunk));
        if ((controller.desiredSize ?? 0) <= 0) stream.pause();
      });
      finished(stream, { writable: false }, (error?: Error) => {
        if (!open) return;
        open = false;
        if (error) controller.error(error);
        else controller.close();
      });
      stream.pause();
    },
    pull: () => void stream.resume(),
    cancel(reason: unknown) {
      open = false;
      stream.destroy(reason === undefined ? null : asError(reason));
    },
  });
}

export function writableFromWeb(target: unknown, options?: Options): Writable {
  const writer = (target as GuestWritableStream).getWriter();
  return new Writable({
    ...options,
    write(chunk: unknown, _encoding: string, callback: Done) {
      writer.ready.then(() => writer.write(chunk)).then(() => callback(), fail(callback));
    },
    final(callback: Done) {
      writer.close().then(() => callback(), fail(callback));
    },
    destroy(error: Error | null, callback: Done) {
      if (error === null) return callback(null);
      writer.abort(error).then(
        () => callback(error),
        () => callback(error),
      );
    },
  });
}

export function writableToWeb(target: unknown): unknown {
  const stream = target as Writable;
  return new guest.WritableStream({
    start(controller: Controller) {
      finished(stream, { readable: false }, (error?: Error) => error && controller.error(error));
    },
    write: (chunk: unknown) =>
      new Promise<void>((resolve, reject) => stream.write(chunk, (error?: Error | null) => (error ? reject(error) : resolve()))),
    close: () => new Promise<void>((resolve) => stream.end(() => resolve())),
    abort: (reason: unknown) => void stream.destroy(asError(reason)),
  });
}

export function duplexFromWeb(pair: unknown, options?: Options): Duplex {
  const { readable, writable } = pair as { readable: unknown; writable: unknown };
  return Duplex.from({ readable: readableFromWeb(readable, options), writable: writableFromWeb(writable, options) });
}

export function duplexToWeb(duplex: unknown): unknown {
  return { readable: readableToWeb(duplex), writable: writableToWeb(duplex) };
}
