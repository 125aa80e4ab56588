/**
 * Node's tick queue: what was queued while the host's call ran its course goes before the promises of that call, as after a callback of
 * Node's. What a promise's callback queues has to go after all promises that are settled by then, which nobody in the isolate can see,
 * and an entry of its own for each would cost a stream its speed: it waits for as many turns of the promises' queue as chains are long.
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

/** Runs what is queued, and what that queues. */
export function runTicks(): void {
  while (first !== undefined) {
    const { callback, args } = first;
    first = first.next;
    if (first === undefined) last = undefined;
    apply(callback, undefined, args);
  }
}

/** Runs `act` and then the ticks that it queued, before any promise goes on. */
export function withTicks(act: () => void): void {
  isInCall = true;
  try {
    act();
    runTicks();
  } finally {
    isInCall = false;
    if (first !== undefined) wait(); // One of them threw.
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
