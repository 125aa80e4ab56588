import shim from "process/";
import "../buffer/buffer.ts";
import EventEmitter from "../events/events.ts";
import { nextTick } from "../timers/next-tick.ts";
import { duplexFromWeb, duplexToWeb, readableFromWeb, readableToWeb, writableFromWeb, writableToWeb } from "./stream-web.ts";
import { Duplex, finished, PassThrough, pipeline, Readable, Stream, Transform, Writable } from "readable-stream";
import * as vendor from "readable-stream";

// readable-stream ticks through the `process` package, whose nextTick is a timer: every chunk would cost a round trip to
// the host. It reads the property at each call, so replacing it here is enough.
shim.nextTick = nextTick;

Readable.fromWeb = readableFromWeb;
Readable.toWeb = readableToWeb;
Writable.fromWeb = writableFromWeb;
Writable.toWeb = writableToWeb;
Duplex.fromWeb = duplexFromWeb;
Duplex.toWeb = duplexToWeb;

interface StreamModule {
  (...args: never[]): unknown;
  [name: string]: unknown;
}

// The default export of readable-stream is Readable with names on it; Node's module is the legacy Stream class.
const legacy = Stream as unknown as StreamModule; // gains the module's functions below
const names = vendor as unknown as Record<string, unknown>;

const additions: Record<string, unknown> = {
  Stream: legacy,
  Readable,
  Writable,
  Duplex,
  Transform,
  PassThrough,
  finished,
  pipeline,
  compose: names["compose"],
  addAbortSignal: names["addAbortSignal"],
  destroy: names["destroy"],
  isDisturbed: names["isDisturbed"],
  isErrored: names["isErrored"],
  isReadable: names["isReadable"],
  getDefaultHighWaterMark: (objectMode: boolean): number => (objectMode ? objectHighWaterMark : byteHighWaterMark),
  setDefaultHighWaterMark,
};

let byteHighWaterMark = 65_536;
let objectHighWaterMark = 16;

function setDefaultHighWaterMark(objectMode: boolean, value: number): void {
  if (objectMode) objectHighWaterMark = value;
  else byteHighWaterMark = value;
}

for (const [name, value] of Object.entries(additions)) {
  const own = Object.getOwnPropertyDescriptor(legacy, name);
  if (own === undefined || own.configurable === true)
    Object.defineProperty(legacy, name, { value, writable: true, configurable: true, enumerable: true });
}

export { Duplex, EventEmitter, finished, PassThrough, pipeline, Readable, Stream, Transform, Writable };
/** `node:stream`: the legacy Stream class with everything else on it. */
export default legacy;
