import type { SourceState } from "../../domain/run/commit.ts";
import type { Deployment } from "../../domain/source/deployment.ts";
import type { Invocation } from "../../domain/invocation/invocation.ts";
import { nextTick, parseTimer, type TimerSchedule } from "../../domain/schedule/schedule.ts";
import type { RunnerPorts } from "../ports.ts";

/** Maximum skipped ticks that are counted: computing one takes a tenth of a millisecond. */
const maxSkipped = 1_000;

/**
 * Arms the next tick of a chained timer. A cron timer in a zone with clock changes is a chain of one-shot schedules: each tick arms the
 * next one before it is acked, so that the chain cannot break. If several ticks were due in the meantime, the last one runs and the others
 * are counted as skipped, so that a source slower than its timer does not fall behind forever. The chain ends with its deployment.
 */
export async function armNextLink(
  received: { readonly invocation: Invocation; readonly storedAt: number },
  deployment: Pick<Deployment, "source" | "active" | "generation" | "props">,
  ports: Pick<RunnerPorts, "timers" | "clock">,
): Promise<void> {
  const { skippedTicks: _, ...invocation } = received.invocation;
  if (invocation.chain === undefined || !deployment.active || deployment.generation !== invocation.generation) return;
  const schedule = parseTimer(deployment.props[invocation.chain]);
  const { at, skipped } = nextLink(schedule, invocation.at ?? received.storedAt, ports.clock.now());
  await ports.timers.armAt(deployment.source, invocation.chain, at, {
    ...invocation,
    at,
    ...(skipped > 0 ? { skippedTicks: skipped } : {}),
  });
}

/** The last tick that is already due, or else the next one. */
function nextLink(schedule: TimerSchedule, afterMs: number, now: number): { readonly at: number; readonly skipped: number } {
  let at = nextTick(schedule, afterMs);
  let skipped = 0;
  for (let next = nextTick(schedule, at); next <= now; next = nextTick(schedule, at)) {
    if (++skipped >= maxSkipped) return { at: nextTick(schedule, now), skipped };
    at = next;
  }
  return { at, skipped };
}

/** Whether a link has run before. NATS fires it twice if its ack is lost for longer than NATS remembers message ids. */
export function linkHasRun({ chain, at }: Invocation, { links = {} }: SourceState): boolean {
  const last = chain === undefined ? undefined : links[chain];
  return last !== undefined && at !== undefined && at <= last;
}

/** Due times, epoch ms, of the ticks that were skipped between the last link that ran and this one. */
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
  for (let next = nextTick(schedule, last); next < at && due.length < maxSkipped; next = nextTick(schedule, next)) due.push(next);
  return due.slice(-skippedTicks);
}
