import type { Fork, Position } from "./run-state.ts";

/** A fork may have ten thousand results: their list is copied at each commit, and between two commits once for so many that have ended. */
const maxEnded = 64;

/** The fork with what a part or an item has given, unless it has that already. */
export function withResult(fork: Fork, index: number, text: string): Fork {
  if (fork.results[index] !== null || fork.ended?.some(([ended]) => ended === index) === true) return fork;
  const next = { ...fork, ended: [...(fork.ended ?? []), [index, text] as const] };
  return next.ended.length < maxEnded ? next : merged(next);
}

/** By part or item: JSON text of what it has given; null: it has not ended. */
export function resultsOf({ results, ended = [] }: Fork): readonly (string | null)[] {
  if (ended.length === 0) return results;
  const all = [...results];
  for (const [index, text] of ended) all[index] = text;
  return all;
}

/** What is stored: all results of forks are in their lists. */
export function withAllResults<Place extends Position>(position: Place): Place {
  const { fork } = position;
  if (fork === undefined) return position;
  return { ...position, fork: { ...merged(fork), branches: fork.branches.map((branch) => withAllResults(branch)) } };
}

function merged(fork: Fork): Fork {
  const { ended: _, ...rest } = fork;
  return { ...rest, results: resultsOf(fork) };
}
