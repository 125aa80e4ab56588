/**
 * Node's tick queue: ticks queued during a host call run before the promise callbacks of that call, as after a callback in
 * Node. Ticks queued by a promise callback must run after all promises that are settled by then. The isolate cannot observe those,
 * and a separate host call for each would slow down streams: such ticks wait for as many microtask turns as promise chains are long.
 */
interface Tick {
  readonly callback: (...args: never[]) => unknown;
  readonly args: readonly unknown[];
  next: Tick | undefined;
}

const turns = 16;
const { apply } = Reflect;
const resolved = Promise.resolve();

let first: Tick | undefined;
let last: Tick | undefined;
let isInCall = false;
let isWaiting = false;

export function queueTick(callback: Tick["callback"], args: readonly unknown[]): void {
  const tick: Tick = { callback, args, next: undefined };
  if (last === undefined) first = tick;
  else last.next = tick;
  last = tick;
  if (!isInCall) wait();
}

/** Runs queued ticks, including those they queue. */
export function runTicks(): void {
  while (first !== undefined) {
    const { callback, args } = first;
    first = first.next;
    if (first === undefined) last = undefined;
    apply(callback, undefined, args);
  }
}

/** Runs `act`, then the ticks that it queued, before any promise callback. */
export function withTicks(act: () => void): void {
  isInCall = true;
  try {
    act();
    runTicks();
  } finally {
    isInCall = false;
    if (first !== undefined) wait(); // A tick threw.
  }
}

function wait(): void {
  if (isWaiting) return;
  isWaiting = true;
  turn(turns);
}

function turn(left: number): void {
  void resolved.then(() => {
    if (left > 0) return turn(left - 1);
    isWaiting = false;
    try {
      runTicks();
    } finally {
      if (first !== undefined) wait();
    }
  });
}
