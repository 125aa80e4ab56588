import type { SourceState } from "../../domain/run/commit.ts";
import type { Deployment } from "../../domain/source/deployment.ts";
import { kindOfId } from "../../domain/ids.ts";
import type { Invocation, InvocationNumber } from "../../domain/invocation/invocation.ts";
import { workflowRunId } from "../../domain/invocation/run-id.ts";
import { pastTick } from "../../domain/schedule/backfill.ts";
import { lastTicks, nextTick, parseTimer, parseWorkflowTimer, tickAfter, type TimerSchedule } from "../../domain/schedule/schedule.ts";
import { dueAtOf, maxReportedSkips, type SkippedTick } from "../../domain/schedule/ticks.ts";
import { dueAtWithJitter } from "../../domain/schedule/timer-options.ts";
import type { RunnerPorts } from "../ports.ts";

/** Maximum skipped ticks that are counted: computing one takes a tenth of a millisecond. */
const maxSkipped = 1_000;

interface Received {
  readonly invocation: Invocation;
  readonly position: InvocationNumber;
  readonly storedAt: number;
}

/**
 * Arms the next tick of a chained timer. A cron timer in a zone with clock changes, and a timer with jitter or other options, is a chain of
 * one-shot schedules: each tick arms the next one before it is acked, so that the chain cannot break. If several ticks were due in the
 * meantime, the last one runs (of a workflow with `catchUp`, the last ones, one after the other), and the others are counted as skipped, so
 * that a source slower than its timer does not fall behind forever. The chain ends with its deployment.
 *
 * @param isSkipped the tick starts no run
 */
export async function armNextLink(
  received: Received,
  deployment: Pick<Deployment, "source" | "active" | "generation" | "props">,
  ports: Pick<RunnerPorts, "timers" | "clock">,
  isSkipped = false,
): Promise<void> {
  const { skippedTicks: _, skips: before = [], dueAt: _due, ...invocation } = received.invocation;
  const { chain } = invocation;
  if (chain === undefined || !deployment.active || deployment.generation !== invocation.generation) return;
  const { source } = deployment;
  const isOfWorkflow = kindOfId(source) === "workflow";
  const now = ports.clock.now();
  const schedule = (isOfWorkflow ? parseWorkflowTimer : parseTimer)(deployment.props[chain]);
  const link = nextLink(schedule, invocation.at ?? received.storedAt, now, nameOf(source, chain));
  const skipped: readonly SkippedTick[] = isSkipped
    ? [...before, { dueAt: dueAtOf(received.invocation, received.storedAt), reason: "earlier_tick_unfinished" }]
    : [];
  await ports.timers.armAt(source, chain, link.dueAt, {
    ...invocation,
    ...(isOfWorkflow && !isSkipped ? lastRunOf(received, now) : {}),
    at: link.at,
    ...(link.dueAt === link.at ? {} : { dueAt: link.dueAt }),
    ...(isOfWorkflow ? skipsOf([...skipped, ...withReason(link.skipped, schedule)]) : countOf(link.skipped)),
  });
}

/** Arms the next past tick of a backfill, after the run of this one: whatever becomes of the timer in the meantime. */
export async function armNextPastTick(received: Received, ports: Pick<RunnerPorts, "timers" | "clock">): Promise<void> {
  const { invocation } = received;
  const { source, chain, backfill, at } = invocation;
  if (backfill === undefined || chain === undefined || at === undefined) return;
  const next = pastTick(parseTimer(invocation.event), at + 1);
  if (next >= backfill.until) return;
  const now = ports.clock.now();
  await ports.timers.armAt(source, chain, now, { ...invocation, ...lastRunOf(received, now), at: next });
}

const lastRunOf = ({ invocation, position }: Received, now: number): Pick<Invocation, "lastRun"> => ({
  lastRun: { id: workflowRunId(invocation, position), startedAt: now },
});

/** Jitter follows from this name and the tick. */
const nameOf = (source: string, chain: string): string => `${source} ${chain}`;

interface Link {
  readonly at: number;
  readonly dueAt: number;
  /** Due times of the ticks between. */
  readonly skipped: readonly number[];
}

/** The first of the last `catchUp` ticks (by default, of one) that are already due, or else the next one. */
function nextLink(schedule: TimerSchedule, afterMs: number, now: number, name: string): Link {
  const { catchUp = 1 } = schedule;
  const due = (tick: number): number => dueAtWithJitter(schedule, name, tick);
  const missed: number[] = [];
  let next = tickAfter(schedule, afterMs);
  for (; due(next) <= now && missed.length <= maxSkipped; next = tickAfter(schedule, next)) missed.push(next);
  const isCounted = missed.length <= maxSkipped;
  const kept = isCounted ? missed.slice(-catchUp) : schedule.catchUp === undefined ? [] : lastTicks(schedule, afterMs, now, catchUp);
  const at = kept[0] ?? (isCounted ? next : nextTick(schedule, now, afterMs));
  return {
    at,
    dueAt: due(at),
    skipped: missed
      .filter((tick) => tick < at)
      .slice(0, maxSkipped)
      .map(due),
  };
}

const countOf = (skipped: readonly number[]): Pick<Invocation, "skippedTicks"> =>
  skipped.length > 0 ? { skippedTicks: skipped.length } : {};

const skipsOf = (skips: readonly SkippedTick[]): Pick<Invocation, "skips"> =>
  skips.length > 0 ? { skips: skips.slice(-maxReportedSkips) } : {};

/** A tick that waits for a run lets later ones pass. Otherwise no tick is skipped on the way, unless nothing ran. */
function withReason(skipped: readonly number[], { overlap }: TimerSchedule): readonly SkippedTick[] {
  const reason = overlap === "queue" || overlap === "cancel" ? "earlier_tick_unfinished" : "missed";
  return skipped.map((dueAt) => ({ dueAt, reason }));
}

/** Whether a link has run before. NATS fires it twice if its ack is lost for longer than NATS remembers message ids. */
export function linkHasRun({ chain, at }: Invocation, { links = {} }: SourceState): boolean {
  const last = chain === undefined ? undefined : links[chain];
  return last !== undefined && at !== undefined && at <= last;
}

/** Due times, epoch ms, of the ticks that were skipped between the last link that ran and this one. */
export function skippedLinks(
  { source, chain, at, skippedTicks = 0, generation }: Invocation,
  links: SourceState["links"],
  deployment: Pick<Deployment, "generation" | "props">,
): readonly number[] {
  const last = chain === undefined ? undefined : links?.[chain];
  if (chain === undefined || last === undefined || at === undefined || skippedTicks === 0 || generation !== deployment.generation)
    return [];
  const schedule = parseTimer(deployment.props[chain]);
  const due: number[] = [];
  for (let next = tickAfter(schedule, last); next < at && due.length < maxSkipped; next = tickAfter(schedule, next)) due.push(next);
  return due.slice(-skippedTicks).map((tick) => dueAtWithJitter(schedule, nameOf(source, chain), tick));
}
