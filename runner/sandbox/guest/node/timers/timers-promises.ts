import { abortError } from "../errors.ts";
import { guest, type GuestSignal } from "../globals.ts";

interface Options {
  readonly signal?: GuestSignal;
}

function wait<Value>(
  start: (done: () => void) => unknown,
  stop: (timer: unknown) => void,
  value: Value,
  { signal }: Options = {},
): Promise<Value> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(abortError(signal));
      return;
    }
    const abort = (): void => {
      stop(timer);
      if (signal !== undefined) reject(abortError(signal));
    };
    const timer = start(() => {
      signal?.removeEventListener("abort", abort);
      resolve(value);
    });
    signal?.addEventListener("abort", abort, { once: true });
  });
}

export const setTimeout = <Value>(delayMs?: number, value?: Value, options?: Options): Promise<Value | undefined> =>
  wait(
    (done) => guest.setTimeout(done, delayMs),
    (timer) => guest.clearTimeout(timer),
    value,
    options,
  );

export const setImmediate = <Value>(value?: Value, options?: Options): Promise<Value | undefined> =>
  wait(
    (done) => guest.setImmediate(done),
    (timer) => guest.clearImmediate(timer),
    value,
    options,
  );

export async function* setInterval<Value>(delayMs?: number, value?: Value, options?: Options): AsyncGenerator<Value | undefined> {
  for (;;) yield await setTimeout(delayMs, value, options);
}

/** `node:timers/promises`. */
export default {
  setTimeout,
  setImmediate,
  setInterval,
  scheduler: {
    wait: (delayMs: number, options?: Options): Promise<unknown> => setTimeout(delayMs, undefined, options),
    yield: (): Promise<unknown> => setImmediate(),
  },
};
