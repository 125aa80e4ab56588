import { kindOfId } from "../ids.ts";
import type { RunError } from "../run-products.ts";

/**
 * Sources and workflows that listen to each other may form a cycle. Each event counts the deliveries to sources and workflows that led to
 * it. A run above the limit does not start, but ends with an error, which listeners of `$errors` receive.
 */
export const maxHops = 100;

/** Whether an invocation with this many hops must not run. */
export const isOverHopLimit = (hops: number): boolean => hops > maxHops;

/**
 * Hops of an event at a listening source or workflow. Undefined: do not deliver it, because the event reports a run above the limit.
 * Otherwise two sources that listen to each other's `$errors` would still form a cycle.
 */
export const nextHop = (hops: number): number | undefined => (isOverHopLimit(hops) ? undefined : hops + 1);

/** Maximum sources and workflows of the chain that an event carries, and so of a cycle that the error can show. */
const maxWayLength = 16;

/** The chain of sources and workflows for events caused by this one; the nearest last. */
export const nextWay = (way: readonly string[], source: string): readonly string[] => [...way, source].slice(-maxWayLength);

/** Repeating what has this error would end in the same one. */
export const hopLimitCode = "hop_limit";

/** The error of a run above the limit, with the chain that led to it. */
export function hopLimitError(reached: string, way: readonly string[] = []): RunError {
  const nouns = [...way, reached].some((id) => kindOfId(id) === "workflow") ? "sources and workflows" : "sources";
  const message = `an event reached ${reached} after ${maxHops} deliveries to ${nouns} and is not run: ${describeWay(reached, way, nouns)}`;
  return { name: "HopLimit", code: hopLimitCode, message };
}

/** The cycle, `dc_a → p_b → dc_a`, or the known part of the chain. */
function describeWay(reached: string, way: readonly string[], nouns: string): string {
  const before = way.lastIndexOf(reached);
  const orCalls = nouns === "sources" ? "" : ", or a step that calls the next workflow";
  if (before >= 0)
    return `the ${nouns} form a cycle: ${[...way.slice(before), reached].join(" → ")}. Delete one of these subscriptions${orCalls}`;
  return way.length === 0 ? `check whether ${nouns} listen to each other` : `its last ${nouns} are … → ${[...way, reached].join(" → ")}`;
}
