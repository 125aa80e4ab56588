import type { RunError } from "./run-error.ts";

/**
 * Sources that hear each other may go round in a circle. Each event carries how many deliveries to sources led to it; a run
 * that would be one too many is not run but answered with an error, which listeners of `$errors` hear like any other.
 */
export const mostHops = 100;

/** Whether an invocation of that many hops must not be run. */
export const isTooFar = (hops: number): boolean => hops > mostHops;

/**
 * Hops of what a source hears of an event. Undefined: it hears nothing, because the event tells of a run that went too far;
 * else two sources that listen to each other's `$errors` would go round all the same.
 */
export const nextHop = (hops: number): number | undefined => (isTooFar(hops) ? undefined : hops + 1);

/** A way grows by one source a hop, and everything that goes round carries it: the last of it tell a circle of up to so many. */
const longestWay = 16;

/** The sources whose events led to what this one's event leads to; the nearest last. */
export const nextWay = (way: readonly string[], source: string): readonly string[] => [...way, source].slice(-longestWay);

/** The error of what must not be run; `way` led to it. */
export function hopLimitError(source: string, way: readonly string[] = []): RunError {
  const message = `an event reached ${source} after ${mostHops} deliveries from source to source and is not run: ${shownWay(source, way)}`;
  return { name: "HopLimit", code: "hop_limit", message };
}

/** The circle, `dc_a → dc_b → dc_a`, or as much of the way as is known. */
function shownWay(source: string, way: readonly string[]): string {
  const before = way.lastIndexOf(source);
  if (before >= 0) return `they go round in a circle: ${[...way.slice(before), source].join(" → ")}. End one of these subscriptions`;
  return way.length === 0 ? "do sources listen to each other in a circle?" : `it came by … → ${[...way, source].join(" → ")}`;
}
