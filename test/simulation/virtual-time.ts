import { AsyncLocalStorage } from "node:async_hooks";

/** What the globals of a process's code reach. */
export interface ProcessGlobals {
  readonly uptimeMs: number;
  readonly random: () => number;
  setTimer(action: () => void, ms: number, repeat: boolean): ProcessTimer;
  signalAfter(ms: number): AbortSignal;
}

export interface Task {
  cancel(): void;
}

interface Scheduled {
  readonly atMs: number;
  /** Tasks of one time run in the order in which they were scheduled. */
  readonly order: number;
  /** Undefined once it was canceled. */
  run: (() => void) | undefined;
}

/** The process in whose code we are. Timers and clocks of code outside of all processes stay real. */
export const currentProcess: AsyncLocalStorage<ProcessGlobals> = new AsyncLocalStorage();

const real = { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate };
const { random } = Math;
const { now } = performance;
const { timeout } = AbortSignal;

/** The one clock of a simulation. Time passes only from one task to the next, so a day in which little happens takes seconds. */
export class VirtualTime {
  #now = 0;
  #order = 0;
  readonly #heap: Scheduled[] = [];

  /** Ms since the start. */
  get now(): number {
    return this.#now;
  }

  /** Runs an action after a time, at once after everything that is due before. */
  after(ms: number, run: () => void): Task {
    const scheduled: Scheduled = { atMs: this.#now + Math.max(0, ms), order: ++this.#order, run };
    this.#push(scheduled);
    return { cancel: () => void (scheduled.run = undefined) };
  }

  /** Runs all tasks up to this time, each after all continuations of the one before. */
  async runUntil(atMs: number): Promise<void> {
    for (let next = this.#heap[0]; next !== undefined && next.atMs <= atMs; next = this.#heap[0]) {
      this.#pop();
      if (next.run === undefined) continue;
      this.#now = next.atMs;
      next.run();
      await new Promise<void>((resolve) => void real.setImmediate(resolve));
    }
    this.#now = atMs;
  }

  #push(scheduled: Scheduled): void {
    const heap = this.#heap;
    let at = heap.push(scheduled) - 1;
    for (;;) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (at === 0 || above === undefined || isBefore(above, scheduled)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = scheduled;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
      if (left === undefined) break;
      const [child, below] = right !== undefined && isBefore(right, left) ? [2 * at + 2, right] : [2 * at + 1, left];
      if (isBefore(last, below)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
  }
}

const isBefore = (one: Scheduled, other: Scheduled): boolean =>
  one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);

/**
 * Gives the code of simulated processes virtual timers, `performance.now` and a seeded `Math.random`, until the returned function is called. It
 * meets everything else, such as the date, at ports.
 */
export function installVirtualTime(): () => void {
  const timer = (repeat: boolean, otherwise: (...args: never[]) => unknown) =>
    function set(action: (...args: unknown[]) => void, ms?: number, ...args: unknown[]): unknown {
      const process = currentProcess.getStore();
      if (process === undefined) return (otherwise as (...all: unknown[]) => unknown)(action, ms, ...args);
      return process.setTimer(() => action(...args), Math.max(1, ms ?? 1), repeat);
    };
  const clear = (otherwise: (timer: never) => void) => (timer: unknown) => {
    if (timer instanceof ProcessTimer) timer.cancel();
    else otherwise(timer as never);
  };
  Object.assign(globalThis, {
    setTimeout: timer(false, real.setTimeout),
    setInterval: timer(true, real.setInterval),
    setImmediate: (action: (...args: unknown[]) => void, ...args: unknown[]) => {
      const process = currentProcess.getStore();
      return process === undefined ? real.setImmediate(action, ...args) : process.setTimer(() => action(...args), 0, false);
    },
    clearTimeout: clear(real.clearTimeout),
    clearInterval: clear(real.clearInterval),
  });
  performance.now = () => currentProcess.getStore()?.uptimeMs ?? now.call(performance);
  Math.random = () => currentProcess.getStore()?.random() ?? random();
  AbortSignal.timeout = (ms) => currentProcess.getStore()?.signalAfter(ms) ?? timeout.call(AbortSignal, ms);
  return () => {
    Object.assign(globalThis, real);
    Object.assign(performance, { now });
    Math.random = random;
    AbortSignal.timeout = timeout;
  };
}

/** What `setTimeout` returns in a process. */
export class ProcessTimer implements Task {
  #task: Task | undefined;

  set(task: Task): void {
    this.#task = task;
  }

  cancel(): void {
    this.#task?.cancel();
    this.#task = undefined;
  }

  unref(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  [Symbol.toPrimitive](): number {
    return 0;
  }
}
