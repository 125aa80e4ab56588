import type { RunError } from "../run/run-error.ts";

/**
 * Sources that listen to each other may form a cycle. Each event counts the deliveries to sources that led to it. A run above the limit
 * does not start, but ends with an error, which listeners of `$errors` receive.
 */
export const maxHops = 100;

/** Whether an invocation of that many hops must not be run. */
export const isOverHopLimit = (hops: number): boolean => hops > maxHops;

/**
 * Hops of an event at a listening source. Undefined: do not deliver it, because the event reports a run above the limit. Otherwise two
 * sources that listen to each other's `$errors` would still form a cycle.
 */
export const nextHop = (hops: number): number | undefined => (isOverHopLimit(hops) ? undefined : hops + 1);

/** Sources of a chain that its events carry: enough to show a cycle of up to so many. */
const maxWay = 16;

/** The chain of sources for events caused by this one; the nearest last. */
export const nextWay = (way: readonly string[], source: string): readonly string[] => [...way, source].slice(-maxWay);

/** The error of a run above the limit, with the chain that led to it. */
export function hopLimitError(source: string, way: readonly string[] = []): RunError {
  const message = `an event reached ${source} after ${maxHops} deliveries from source to source and is not run: ${shownWay(source, way)}`;
  return { name: "HopLimit", code: "hop_limit", message };
}

/** The cycle, `dc_a → dc_b → dc_a`, or the known part of the chain. */
function shownWay(source: string, way: readonly string[]): string {
  const before = way.lastIndexOf(source);
  if (before >= 0) return `they go round in a circle: ${[...way.slice(before), source].join(" → ")}. End one of these subscriptions`;
  return way.length === 0 ? "do sources listen to each other in a circle?" : `it came by … → ${[...way, source].join(" → ")}`;
}
