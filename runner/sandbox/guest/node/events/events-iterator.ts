import type EventEmitter from "events/";
import { isTarget, type Target } from "./events-once.ts";
import { abortError } from "../errors.ts";
import type { GuestSignal } from "../globals.ts";

interface IteratorOptions {
  readonly signal?: GuestSignal;
  readonly close?: readonly string[];
}

interface Waiter {
  resolve(result: IteratorResult<unknown[]>): void;
  reject(error: unknown): void;
}

/** `events.on`: an endless iterator over the arguments of an event, until `close` events, `return`, an error or an abort. */
export function eventIterator(
  emitter: EventEmitter | Target,
  type: string,
  options: IteratorOptions = {},
): AsyncIterableIterator<unknown[]> {
  const { signal } = options;
  if (signal?.aborted === true) throw abortError(signal);
  const queue: unknown[][] = [];
  const waiters: Waiter[] = [];
  let failure: { error: unknown } | undefined;
  let ended = false;

  const onEvent = (...args: unknown[]): void => {
    const waiter = waiters.shift();
    if (waiter === undefined) queue.push(args);
    else waiter.resolve({ value: args, done: false });
  };
  const fail = (error: unknown): void => {
    const waiter = waiters.shift();
    if (waiter === undefined) failure = { error };
    else waiter.reject(error);
    end();
  };
  const onAbort = (): void => signal && fail(abortError(signal));
  const end = (): void => {
    ended = true;
    signal?.removeEventListener("abort", onAbort);
    if (isTarget(emitter)) emitter.removeEventListener(type, onEvent);
    else {
      emitter.off(type, onEvent).off("error", fail);
      for (const name of options.close ?? []) emitter.off(name, end);
    }
    for (const waiter of waiters.splice(0)) waiter.resolve({ value: undefined, done: true });
  };

  signal?.addEventListener("abort", onAbort, { once: true });
  if (isTarget(emitter)) emitter.addEventListener(type, onEvent);
  else {
    emitter.on(type, onEvent);
    if (type !== "error") emitter.on("error", fail);
    for (const name of options.close ?? []) emitter.on(name, end);
  }

  return {
    next: async () => {
      const value = queue.shift();
      if (value !== undefined) return { value, done: false };
      if (failure !== undefined) {
        const { error } = failure;
        failure = undefined;
        throw error;
      }
      if (ended) return { value: undefined, done: true };
      return new Promise((resolve, reject) => waiters.push({ resolve, reject }));
    },
    return: async () => {
      end();
      return { value: undefined, done: true };
    },
    throw: async (error: unknown) => {
      fail(error);
      return { value: undefined, done: true };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
