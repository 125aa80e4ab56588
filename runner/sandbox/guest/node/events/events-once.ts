import type EventEmitter from "events/";
import { abortError } from "../errors.ts";
import type { GuestSignal } from "../globals.ts";

export interface Target {
  addEventListener(type: string, listener: (event: unknown) => void, options?: object): void;
  removeEventListener(type: string, listener: (event: unknown) => void): void;
}

export const isTarget = (value: unknown): value is Target => typeof (value as Target | null)?.addEventListener === "function";

/** `events.once`: the arguments of the next event; rejects with an `error` event or when the signal aborts. */
export function oncePromise(emitter: EventEmitter | Target, type: string, options: { signal?: GuestSignal } = {}): Promise<unknown[]> {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(abortError(signal));
      return;
    }
    const settle = (finish: () => void): void => {
      signal?.removeEventListener("abort", onAbort);
      if (isTarget(emitter)) emitter.removeEventListener(type, onEvent);
      else emitter.removeListener(type, onEvent).removeListener("error", onError);
      finish();
    };
    const onAbort = (): void => settle(() => signal !== undefined && reject(abortError(signal)));
    const onEvent = (...args: unknown[]): void => settle(() => resolve(args));
    const onError = (error: unknown): void => settle(() => reject(error));
    signal?.addEventListener("abort", onAbort, { once: true });
    if (isTarget(emitter)) emitter.addEventListener(type, onEvent, { once: true });
    else {
      emitter.once(type, onEvent);
      if (type !== "error") emitter.once("error", onError);
    }
  });
}
