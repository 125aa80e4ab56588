// Memory for Atomics.wait, by which this thread sleeps. User code cannot reach it, and nothing notifies it.
const { apply } = Reflect;
const { wait } = Atomics;
const neverWoken = new Int32Array(
  new (globalThis as unknown as { SharedArrayBuffer: new (bytes: number) => ArrayBuffer }).SharedArrayBuffer(4),
);

/** Stops this thread, and all that runs in the isolate. */
export function sleep(ms: number): void {
  apply(wait, undefined, [neverWoken, 0, 0, ms]);
}
