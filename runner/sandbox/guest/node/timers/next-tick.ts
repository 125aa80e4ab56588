import { queueTick } from "../../component/ticks.ts";

/** As Node's: before the promises of what queues it, or after them when one of them does. */
export function nextTick(callback: (...args: never[]) => unknown, ...args: unknown[]): void {
  if (typeof callback !== "function") throw new TypeError('The "callback" argument must be of type function.');
  queueTick(callback, args);
}
