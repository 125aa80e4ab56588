import type { RunError } from "../run/run-products.ts";

/**
 * Sources that listen to each other may form a cycle. Each event counts the deliveries to sources that led to it. A run above the limit
 * does not start, but ends with an error, which listeners of `$errors` receive.
 */
export const maxHops = 100;

/** Whether an invocation with this many hops must not run. */
export const isOverHopLimit = (hops: number): boolean => hops > maxHops;

/**
 * Hops of an event at a listening source. Undefined: do not deliver it, because the event reports a run above the limit. Otherwise two
 * sources that listen to each other's `$errors` would still form a cycle.
 */
export const nextHop = (hops: number): number | undefined => (isOverHopLimit(hops) ? undefined : hops + 1);

/** Maximum sources of the chain that an event carries, and so of a cycle that the error can show. */
const maxWayLength = 16;

/** The chain of sources for events caused by this one; the nearest last. */
export const nextWay = (way: readonly string[], source: string): readonly string[] => [...way, source].slice(-maxWayLength);

/** The error of a run above the limit, with the chain that led to it. */
export function hopLimitError(source: string, way: readonly string[] = []): RunError {
  const message = `an event reached ${source} after ${maxHops} deliveries from source to source and is not run: ${describeWay(source, way)}`;
  return { name: "HopLimit", code: "hop_limit", message };
}

/** The cycle, `dc_a → dc_b → dc_a`, or the known part of the chain. */
function describeWay(source: string, way: readonly string[]): string {
  const before = way.lastIndexOf(source);
  if (before >= 0) return `the sources form a cycle: ${[...way.slice(before), source].join(" → ")}. Delete one of these subscriptions`;
  return way.length === 0 ? "check whether sources listen to each other" : `its last sources are … → ${[...way, source].join(" → ")}`;
}
