import { on, onRunEnd, post } from "./bridge.ts";
import { ruleError } from "./errors.ts";
import { beginWork, endWork, type OpenWork } from "./open-work.ts";

/**
 * setTimeout, setInterval, setImmediate over one wake-up call of the host: the guest orders the timers and requests a wake-up for the
 * earliest. One callback per entry, so that promises settle in between, as in Node. Also as in Node, immediates and timers alternate: all
 * queued immediates, then all due timers, then what was queued in the meantime.
 */
interface Timer {
  readonly id: number;
  readonly isImmediate: boolean;
  readonly callback: (...args: unknown[]) => void;
  readonly args: readonly unknown[];
  readonly repeatMs: number | undefined;
  readonly delayMs: number;
  dueAt: number;
  /** Undefined after `unref()`: the run does not wait for it. */
  work: OpenWork | undefined;
}

const maxTimers = 1_000;
const maxDelayMs = 2 ** 31 - 1;

const { apply } = Reflect;
const { defineProperty } = Object;
const now = Date.now;
const NativeMap = Map;
const NativeTypeError = TypeError;
const mapGet = Map.prototype.get;
const mapSet = Map.prototype.set;
const mapDelete = Map.prototype.delete;
const mapClear = Map.prototype.clear;
const mapForEach = Map.prototype.forEach;
const mapSize = Object.getOwnPropertyDescriptor(Map.prototype, "size")?.get as () => number;

const timers = new NativeMap<number, Timer>();
let lastId = 0;
/** Time of the requested wake-up; Infinity without one. */
let wakeAt = Infinity;
/** The current phase, and the callbacks queued when it began. When idle, immediates come next. */
let turn: "rest" | "immediates" | "timers" = "rest";
let lastOfTurn = 0;

/** What setTimeout returns: usable as Node's object and as the browser's number. */
class Timeout {
  readonly #id: number;
  constructor(id: number) {
    this.#id = id;
  }
  ref(): this {
    const timer = find(this.#id);
    if (timer !== undefined) timer.work ??= beginWork(nameOf(timer));
    return this;
  }
  unref(): this {
    const timer = find(this.#id);
    endWork(timer?.work);
    if (timer !== undefined) timer.work = undefined;
    return this;
  }
  hasRef(): boolean {
    return find(this.#id)?.work !== undefined;
  }
  refresh(): this {
    const timer = find(this.#id);
    if (timer !== undefined) schedule(timer, timer.delayMs);
    return this;
  }
  close(): this {
    remove(this.#id);
    return this;
  }
  [Symbol.toPrimitive](): number {
    return this.#id;
  }
  static idOf(given: unknown): number {
    return typeof given === "object" && given !== null && #id in given ? given.#id : Number(given);
  }
}
const { idOf } = Timeout;

export function setTimeout(callback: unknown, delay?: unknown, ...args: unknown[]): Timeout {
  return start(callback, toDelay(delay), undefined, args);
}

export function setInterval(callback: unknown, delay?: unknown, ...args: unknown[]): Timeout {
  const delayMs = toDelay(delay);
  return start(callback, delayMs, delayMs, args);
}

export function setImmediate(callback: unknown, ...args: unknown[]): Timeout {
  return start(callback, 0, undefined, args, true);
}

export function clearTimer(given: unknown): void {
  if (given !== undefined && given !== null && typeof given !== "symbol") remove(idOf(given));
}

on("wake", () => {
  wakeAt = Infinity;
  const timer = nextDue(now());
  if (timer === undefined) return requestNext();
  if (timer.repeatMs === undefined) drop(timer.id);
  else timer.dueAt = now() + timer.repeatMs;
  requestNext();
  apply(timer.callback, undefined, timer.args);
});

onRunEnd(() => {
  apply(mapClear, timers, []);
  wakeAt = Infinity;
  turn = "rest";
});

for (const [name, value] of [
  ["setTimeout", setTimeout],
  ["setInterval", setInterval],
  ["setImmediate", setImmediate],
  ["clearTimeout", clearTimer],
  ["clearInterval", clearTimer],
  ["clearImmediate", clearTimer],
] as const) {
  defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: true });
}

function start(callback: unknown, delayMs: number, repeatMs: number | undefined, args: readonly unknown[], isImmediate = false): Timeout {
  if (typeof callback !== "function") throw new NativeTypeError(`the callback of a timer must be a function, got ${typeof callback}`);
  if (apply(mapSize, timers, []) >= maxTimers)
    throw ruleError("timer_limit", `more than ${maxTimers} timers are pending, the limit of a run`);
  lastId += 1;
  const timer: Timer = {
    id: lastId,
    isImmediate,
    callback: callback as Timer["callback"],
    args,
    repeatMs,
    delayMs,
    dueAt: 0,
    work: undefined,
  };
  timer.work = beginWork(nameOf(timer));
  apply(mapSet, timers, [timer.id, timer]);
  schedule(timer, delayMs);
  return new Timeout(timer.id);
}

function schedule(timer: Timer, delayMs: number): void {
  timer.dueAt = now() + delayMs;
  if (timer.dueAt < wakeAt) requestWake(timer);
}

function requestWake(timer: Timer): void {
  wakeAt = timer.dueAt;
  const waitMs = timer.dueAt - now();
  post("wake", waitMs > 0 ? waitMs : 0);
}

function find(id: number): Timer | undefined {
  return apply(mapGet, timers, [id]) as Timer | undefined;
}

function drop(id: number): void {
  endWork(find(id)?.work);
  apply(mapDelete, timers, [id]);
}

function nameOf({ isImmediate, repeatMs, delayMs }: Timer): string {
  if (isImmediate) return "setImmediate";
  return repeatMs === undefined ? `setTimeout of ${delayMs} ms` : `setInterval of ${delayMs} ms`;
}

function remove(id: number): void {
  drop(id);
  if (apply(mapSize, timers, []) > 0 || wakeAt === Infinity) return;
  wakeAt = Infinity;
  post("wake", -1);
}

/** The timer that is running now. */
function nextDue(at: number): Timer | undefined {
  for (let turns = 0; turns < 3; turns++) {
    if (turn === "rest") begin("immediates");
    const found = turn === "immediates" ? firstImmediate() : earliestTimer(at);
    if (found !== undefined) return found;
    begin(turn === "immediates" ? "timers" : "immediates");
  }
  turn = "rest";
  return undefined;
}

function begin(next: "immediates" | "timers"): void {
  turn = next;
  lastOfTurn = lastId;
}

function requestNext(): void {
  const next = earliest();
  if (next !== undefined) requestWake(next);
}

function firstImmediate(): Timer | undefined {
  return findEarliest((timer) => timer.isImmediate && timer.id <= lastOfTurn);
}

function earliestTimer(at: number): Timer | undefined {
  return findEarliest((timer) => !timer.isImmediate && timer.id <= lastOfTurn && timer.dueAt <= at);
}

/** At most a thousand timers, mostly one: a linear search is cheaper than a heap. Lower ids first among equal times. */
function earliest(): Timer | undefined {
  return findEarliest(() => true);
}

function findEarliest(suits: (timer: Timer) => boolean): Timer | undefined {
  let found: Timer | undefined;
  apply(mapForEach, timers, [
    (timer: Timer) => {
      if (suits(timer) && (found === undefined || timer.dueAt < found.dueAt)) found = timer;
    },
  ]);
  return found;
}

function toDelay(delay: unknown): number {
  const delayMs = Number(delay);
  return delayMs >= 1 && delayMs <= maxDelayMs ? delayMs : 1;
}
