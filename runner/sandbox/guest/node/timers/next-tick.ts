import { queueTick } from "../../runtime/ticks.ts";

/** As in Node: runs before the promise callbacks queued by the same code, or after them if a promise callback queued it. */
export function nextTick(callback: (...args: never[]) => unknown, ...args: unknown[]): void {
  if (typeof callback !== "function") throw new TypeError('The "callback" argument must be of type function.');
  queueTick(callback, args);
}
