import Base from "events/";
import { nodeError } from "../errors.ts";
import { eventIterator } from "./events-iterator.ts";
import { oncePromise } from "./events-once.ts";
import type { GuestSignal } from "../globals.ts";
import { nextTick } from "../timers/next-tick.ts";

// events 3.3 is Node 11's EventEmitter; the later additions are made here, on the same class, because readable-stream
// extends it too.

export const errorMonitor = Symbol("events.errorMonitor");
export const captureRejectionSymbol = Symbol.for("nodejs.rejection");
const capturing = Symbol("captureRejections");
const disposeSymbol = (Symbol as unknown as { dispose?: symbol }).dispose ?? Symbol.for("Symbol.dispose"); // newer than es2024

type Any = (...args: unknown[]) => unknown;
interface Emitter extends Base {
  [capturing]?: boolean;
  [captureRejectionSymbol]?: (error: unknown, type: string | symbol, ...args: unknown[]) => void;
  _events?: Record<string | symbol, unknown>;
}
interface EmitterStatics {
  readonly captureRejections: boolean;
}

// The package's constructor takes no options. This one does, and shares the prototype, so that `instanceof` holds for both:
// readable-stream extends the package's.
const EventEmitter = function (this: Emitter, options?: { captureRejections?: boolean }) {
  Reflect.apply(Base as unknown as () => void, this, []); // a plain function
  if (options?.captureRejections === true || statics.captureRejections)
    Object.defineProperty(this, capturing, { value: true, configurable: true });
} as unknown as typeof Base;
type EventEmitter = Base;
const {
  prototype: _prototype,
  name: _name,
  length: _length,
  ...inherited
} = Object.getOwnPropertyDescriptors(Base) as Record<string, PropertyDescriptor>;
Object.defineProperties(EventEmitter, inherited);
Object.defineProperty(EventEmitter, "name", { value: "EventEmitter", configurable: true });
Object.defineProperty(EventEmitter, "prototype", { value: Base.prototype });
Object.defineProperty(Base.prototype, "constructor", { value: EventEmitter, writable: true, configurable: true });
const statics = EventEmitter as unknown as EmitterStatics; // extended below
const { emit } = Base.prototype;

EventEmitter.prototype.emit = function (this: Emitter, type: string | symbol, ...args: unknown[]): boolean {
  if (type === "error" && this._events !== undefined && this._events[errorMonitor] !== undefined)
    Reflect.apply(emit, this, [errorMonitor, ...args]);
  if (type === "error" && !(args[0] instanceof Error) && this._events?.["error"] === undefined) throw unhandled(args[0]);
  if (this[capturing] === true && type !== "error") return emitCapturing(this, type, args);
  return Reflect.apply(emit, this, [type, ...args]);
};

/** The error for an `error` event without listeners whose argument is not an Error. */
function unhandled(given: unknown): Error {
  let shown: string;
  try {
    shown = typeof given === "string" ? `'${given}'` : String(given);
  } catch {
    shown = typeof given;
  }
  return Object.assign(nodeError("ERR_UNHANDLED_ERROR", `Unhandled error. (${shown})`), { context: given });
}

function emitCapturing(emitter: Emitter, type: string | symbol, args: unknown[]): boolean {
  const listeners = emitter.rawListeners(type);
  for (const listener of listeners) {
    const result: unknown = Reflect.apply(listener, emitter, args);
    if (!isThenable(result)) continue;
    result.then(undefined, (error: unknown) => nextTick(() => rejected(emitter, error, type, args)));
  }
  return listeners.length > 0;
}

function rejected(emitter: Emitter, error: unknown, type: string | symbol, args: unknown[]): void {
  const own = emitter[captureRejectionSymbol];
  if (typeof own === "function") Reflect.apply(own, emitter, [error, type, ...args]);
  else emitter.emit("error", error);
}

function isThenable(value: unknown): value is { then(ok: undefined, failed: (error: unknown) => void): void } {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

function getEventListeners(target: unknown, type: string): unknown[] {
  if (target instanceof EventEmitter) return target.listeners(type);
  // The guest's EventTarget may offer its listeners under this registered symbol.
  const list = (target as { [key: symbol]: unknown } | null)?.[Symbol.for("headwater.listeners")];
  return typeof list === "function" ? (Reflect.apply(list, target, [type]) as unknown[]) : [];
}

function setMaxListeners(count = 10, ...targets: unknown[]): void {
  if (typeof count !== "number" || count < 0)
    throw nodeError(
      "ERR_OUT_OF_RANGE",
      `The value of "n" is out of range. It must be a non-negative number. Received ${String(count)}`,
      RangeError,
    );
  if (targets.length === 0) EventEmitter.defaultMaxListeners = count;
  for (const target of targets) if (target instanceof EventEmitter) target.setMaxListeners(count);
}

function addAbortListener(signal: GuestSignal, listener: (event: unknown) => void): Record<symbol, () => void> {
  let remove = (): void => {};
  if (signal.aborted) nextTick(() => listener({ type: "abort", target: signal }));
  else {
    signal.addEventListener("abort", listener, { once: true });
    remove = () => signal.removeEventListener("abort", listener);
  }
  return { [disposeSymbol]: () => remove() };
}

class EventEmitterAsyncResource extends EventEmitter {
  get asyncId(): number {
    return 0;
  }
  get triggerAsyncId(): number {
    return 0;
  }
  get asyncResource(): object {
    return this;
  }
  emitDestroy(): void {}
}

const additions: Record<string | symbol, unknown> = {
  EventEmitter,
  errorMonitor,
  captureRejectionSymbol,
  captureRejections: false,
  usingDomains: false,
  once: oncePromise,
  on: eventIterator,
  getEventListeners,
  setMaxListeners,
  getMaxListeners: (target: unknown): number =>
    target instanceof EventEmitter ? target.getMaxListeners() : EventEmitter.defaultMaxListeners,
  listenerCount: (target: EventEmitter, type: string): number =>
    target instanceof EventEmitter ? target.listenerCount(type) : getEventListeners(target, type).length,
  addAbortListener,
  EventEmitterAsyncResource,
};
for (const [name, value] of Object.entries(additions))
  Object.defineProperty(EventEmitter, name, { value, writable: true, configurable: true, enumerable: true });
// The package's `listenerCount(type)` ignores the second argument.
const { listenerCount } = EventEmitter.prototype;
EventEmitter.prototype.listenerCount = function (type, listener) {
  if (listener === undefined) return Reflect.apply(listenerCount, this, [type]);
  return this.rawListeners(type).filter((one) => one === listener || (one as unknown as { listener?: unknown }).listener === listener)
    .length;
};

export type Listener = Any;
export { EventEmitter };
/** `node:events`: the class itself, with the module's functions on it. */
export default EventEmitter;
