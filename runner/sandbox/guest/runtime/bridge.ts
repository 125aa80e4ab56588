import { describeError } from "./errors.ts";
import { beginWork, endWork, forgetWork, type OpenWork } from "./open-work.ts";
import { forgetRefusals, noteRefusal, refusal, type Refusal } from "./refusals.ts";
import { sleep } from "./sleep.ts";
import { withTicks } from "./ticks.ts";

/**
 * The only way out of the isolate: an outbox that the host collects, and one synchronous callback.
 *
 * `post` appends to the outbox. Every entry into the isolate is started by the host and returns the outbox array itself, so
 * messages added by the microtasks of that entry are in it when it is copied out. When it grows beyond 256 messages or 256 KiB it
 * is sent through the synchronous callback instead, which throttles a flood. Messages stay until acknowledged.
 *
 * Everything used after load is captured here: user code may replace any intrinsic and must only hurt itself.
 * The host treats every message as hostile.
 */
export type Sendable =
  | string
  | number
  | boolean
  | null
  | undefined
  | Uint8Array
  | readonly Sendable[]
  | { readonly [key: string]: Sendable };

type Handler = (...args: unknown[]) => void;
/** `[sequence, kind, ...args]` */
type Message = Sendable[];
/** `[true, value]`, or `[false, {name, message, code}]`; for `outbox` the last sequence taken. */
type HostCallback = (operation: string, ...args: unknown[]) => unknown;
interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly work: OpenWork | undefined;
}

const outboxMessages = 256;
const outboxBytes = 256 * 1024;
/** Limit of one message: no operation needs more, and the host's thread copies it. */
const maxValues = 10_000;
const maxDepth = 12;
/** More than the host accepts from a whole run: flattening a longer rope string only to refuse it would cost its full length twice. */
const maxBytes = 64 * 1024 * 1024;
/** Pending calls of one run. The host ends a run that has more. */
const maxPending = 2_000;
/** Bounds of the polling interval, which is an eighth of the time waited so far: answers of another process take milliseconds. */
const [minPauseMs, minRemotePauseMs, maxPauseMs] = [0.1, 1, 20] as const;

const { apply } = Reflect;
const { defineProperty, getPrototypeOf, getOwnPropertyDescriptor } = Object;
const NativeError = Error;
const NativePromise = Promise;
const NativeUint8Array = Uint8Array;
const NativeTypeError = TypeError;
const NativeRangeError = RangeError;
const { isArray } = Array;
const { keys } = Object;
const mapGet = Map.prototype.get;
const mapSet = Map.prototype.set;
const mapDelete = Map.prototype.delete;
const mapClear = Map.prototype.clear;
const mapSize = getterOf(Map.prototype, "size");
const { min, max } = Math;
const now = Date.now;
const typedArray = getPrototypeOf(Uint8Array.prototype) as object;
const byteLengthOf = getterOf(typedArray, "byteLength");
const viewKindOf = getterOf(typedArray, Symbol.toStringTag);
const setBytes = (typedArray as Uint8Array).set;

const outbox: Message[] = [];
const handlers = { __proto__: null } as unknown as Record<string, Handler>;
const runEndCallbacks: (() => void)[] = [];
const pending = new Map<number, Pending>();
let callHost: HostCallback | undefined;
let sequence = 0;
let calls = 0;
let queuedBytes = 0;
let copiedValues = 0;
let copiedBytes = 0;

/**
 * Sends a message to the host, in order. It is copied now, so that the outbox never holds objects of user code: their
 * getters would run where no time limit counts.
 */
export function post(kind: string, ...args: Sendable[]): void {
  const copy = copyAll(args);
  sequence += 1;
  const message: Message = [sequence, kind];
  for (let index = 0; index < copy.length; index++) append(message, copy[index]);
  queuedBytes += 64 + copiedBytes;
  append(outbox, message);
  if (outbox.length > outboxMessages || queuedBytes > outboxBytes) flush();
}

/** Calls the host and waits. Throws an Error with the name, message and code that the host gave. */
export function sync(operation: string, ...args: Sendable[]): unknown {
  const message: Sendable[] = [operation];
  const copy = copyAll(args);
  for (let index = 0; index < copy.length; index++) append(message, copy[index]);
  const answer = apply(hostCallback(), undefined, message) as [true, unknown] | [false, unknown];
  if (answer[0]) return answer[1];
  throw hostError(answer[1]);
}

/**
 * Lets the host perform an asynchronous operation and sleeps until it is done, so that the host's thread, which all isolates of the process
 * share, stays free. Throws like `sync`. The time limits of an entry end the sleep.
 */
export function wait(operation: string, ...args: Sendable[]): unknown {
  return poll(operation, args, minPauseMs);
}

/** The same for an operation that another process performs. */
export const waitForRemote = (operation: string, ...args: Sendable[]): unknown => poll(operation, args, minRemotePauseMs);

function poll(operation: string, args: readonly Sendable[], minMs: number): unknown {
  const id = sync("wait_begin", operation, args) as number;
  const begun = now();
  for (;;) {
    const answer = sync("wait_poll", id) as readonly [unknown] | undefined;
    if (answer !== undefined) return answer[0];
    sleep(min(maxPauseMs, max(minMs, (now() - begun) / 8)));
  }
}

/** Calls the host without waiting; rejects with the errors of `sync`. Counts as open work of the run until answered. */
export function call(operation: string, ...args: Sendable[]): Promise<unknown> {
  return request(operation, args, operation);
}

/** The same for callers that register open work themselves. */
export function request(operation: string, args: readonly Sendable[], what?: string): Promise<unknown> {
  calls += 1;
  const id = calls;
  return new NativePromise((resolve, reject) => {
    const refused = refusal() ?? fullness();
    if (refused !== undefined) return reject(hostError(refused));
    // Throws for values that cannot be sent, before the call counts as pending.
    post("call", id, operation, args);
    apply(mapSet, pending, [id, { resolve, reject, work: what === undefined ? undefined : beginWork(what) }]);
  });
}

function fullness(): Refusal | undefined {
  if ((apply(mapSize, pending, []) as number) < maxPending) return undefined;
  return { message: `more than ${maxPending} requests are in flight, the limit of a run`, code: "bridge_limit" };
}

/** Receives messages of one kind from the host. A throw fails the run. */
export function on(kind: string, handler: Handler): void {
  handlers[kind] = handler;
}

/** Registers a cleanup for the end of a run: timers, fetches, sockets. */
export function onRunEnd(callback: () => void): void {
  append(runEndCallbacks, callback);
}

/** Called by the runtime when a run has ended, and again before the next one starts. */
export function endRun(): void {
  apply(mapClear, pending, []);
  forgetRefusals();
  forgetWork();
  for (let index = 0; index < runEndCallbacks.length; index++) {
    const callback = runEndCallbacks[index];
    if (callback !== undefined) callback();
  }
}

on("answer", (id, succeeded, value) => {
  const waiting = apply(mapGet, pending, [id]) as Pending | undefined;
  if (waiting === undefined) return;
  apply(mapDelete, pending, [id]);
  endWork(waiting.work);
  if (succeeded) waiting.resolve(value);
  else {
    const error = hostError(value);
    noteRefusal((value as { readonly code?: unknown }).code);
    waiting.reject(error);
  }
});

/** The host reads this once, right after load. */
export function bind(callback: HostCallback): typeof dispatch {
  callHost = callback;
  return dispatch;
}

function dispatch(acknowledged: number, kind: string, ...args: unknown[]): Message[] {
  forget(acknowledged);
  const handler = handlers[kind];
  try {
    if (handler !== undefined) withTicks(() => apply(handler, undefined, args));
  } catch (error) {
    const { name, message, stack, code } = describeError(error);
    post("uncaught", name, message, stack, code);
  }
  return outbox;
}

function flush(): void {
  forget(apply(hostCallback(), undefined, ["outbox", outbox]) as number);
}

function forget(acknowledged: number): void {
  let count = 0;
  while (count < outbox.length && (outbox[count]?.[0] as number) <= acknowledged) count += 1;
  if (count === 0) return;
  // Not `splice`: it reads the array's constructor, which user code may have replaced and would receive the outbox.
  for (let index = count; index < outbox.length; index++) outbox[index - count] = outbox[index] as Message;
  outbox.length -= count;
  if (outbox.length === 0) queuedBytes = 0;
}

function hostCallback(): HostCallback {
  if (callHost === undefined) throw new NativeError("the host cannot be called while the prelude loads");
  return callHost;
}

function hostError(given: unknown): Error {
  const { name, message, code } = given as { name?: string; message?: string; code?: string };
  const error = new NativeError(message);
  if (name !== undefined && name !== "Error") defineProperty(error, "name", { value: name, configurable: true, writable: true });
  if (code !== undefined) defineProperty(error, "code", { value: code, configurable: true, writable: true, enumerable: true });
  return error;
}

function copyAll(args: readonly Sendable[]): Sendable[] {
  copiedValues = 0;
  copiedBytes = 0;
  return copyOf(args, 0) as Sendable[];
}

/**
 * Copies any value to plain data: strings, numbers, Uint8Arrays of exactly the visible bytes, arrays and objects without
 * prototype. Reading may run user code, here under its time limit.
 */
function copyOf(value: unknown, depth: number): Sendable {
  copiedValues += 1;
  if (copiedValues > maxValues || depth > maxDepth)
    throw new NativeTypeError(`an argument has more than ${maxValues} members or ${maxDepth} levels`);
  if (typeof value === "string") weigh(value.length * 2);
  else if (typeof value === "object" && value !== null) return copyObject(value, depth);
  // A BigInt of any size has no weight here, and would be copied whole.
  else if (typeof value === "function" || typeof value === "symbol" || typeof value === "bigint")
    throw new NativeTypeError(`a ${typeof value} cannot be given to the host`);
  return value as Sendable;
}

function copyObject(value: object, depth: number): Sendable {
  const kind = apply(viewKindOf, value, []);
  if (kind === "Uint8Array") return copyBytes(value as Uint8Array);
  if (kind !== undefined) throw new NativeTypeError(`a ${String(kind)} cannot be given to the host`);
  copiedBytes += 64;
  if (isArray(value)) {
    const list: Sendable[] = [];
    for (let index = 0; index < value.length; index++) append(list, copyOf(value[index], depth + 1));
    return list;
  }
  const record = { __proto__: null } as unknown as Record<string, Sendable>;
  const names = keys(value);
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    record[name] = copyOf((value as Record<string, unknown>)[name], depth + 1);
  }
  return record;
}

/** Copies the visible bytes: structured clone would copy the whole underlying buffer. */
function copyBytes(value: Uint8Array): Uint8Array {
  const bytes = apply(byteLengthOf, value, []) as number;
  weigh(bytes);
  const copy = new NativeUint8Array(bytes);
  apply(setBytes, copy, [value]);
  return copy;
}

function weigh(bytes: number): void {
  copiedBytes += bytes;
  if (copiedBytes > maxBytes) throw new NativeRangeError(`an argument has more than ${maxBytes} bytes`);
}

/** `list.push`, safe from setters that user code may define on Array.prototype. */
function append<Element>(list: Element[], value: Element): void {
  defineProperty(list, list.length, {
    __proto__: null,
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  } as PropertyDescriptor);
}

function getterOf(prototype: object, name: PropertyKey): () => unknown {
  const getter = getOwnPropertyDescriptor(prototype, name)?.get;
  if (getter === undefined) throw new NativeError(`no getter ${String(name)}`);
  return getter;
}
