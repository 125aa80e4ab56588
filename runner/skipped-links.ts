import type { SourceState } from "../domain/commit.ts";
import type { Deployment } from "../domain/deployment.ts";
import type { Invocation } from "../domain/invocation.ts";
import { nextTick, parseTimer } from "../domain/schedule.ts";

/** More than this is not counted: reckoning one takes a tenth of a millisecond. */
export const mostSkipped = 1_000;

/** Epoch ms at which the ticks were due that were left out between the last link that ran and this one. */
export function skippedLinks(
  { chain, at, skippedTicks = 0, generation }: Invocation,
  links: SourceState["links"],
  deployment: Pick<Deployment, "generation" | "props">,
): readonly number[] {
  const last = chain === undefined ? undefined : links?.[chain];
  if (chain === undefined || last === undefined || at === undefined || skippedTicks === 0 || generation !== deployment.generation)
    return [];
  const schedule = parseTimer(deployment.props[chain]);
  const due: number[] = [];
  for (let next = nextTick(schedule, last); next < at && due.length < mostSkipped; next = nextTick(schedule, next)) due.push(next);
  return due.slice(-skippedTicks);
}
