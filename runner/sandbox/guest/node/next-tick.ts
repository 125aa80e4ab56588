const resolved = Promise.resolve();

/** Microtask order, as close to Node's tick queue as the isolate allows: callbacks run in the order they were queued. */
export function nextTick(callback: (...args: never[]) => unknown, ...args: unknown[]): void {
  if (typeof callback !== "function") throw new TypeError('The "callback" argument must be of type function.');
  void resolved.then(() => {
    Reflect.apply(callback, undefined, args);
  });
}
