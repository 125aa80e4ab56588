import type { Commit } from "../run/commit.ts";
import { endOf } from "../run/derived-events.ts";
import { hasEnded } from "../workflow/run-state.ts";
import { stepMs } from "./steps.ts";

/** What a commit adds to the measures of its source or workflow, and of the owner. */
export interface CommitCount {
  /** Epoch ms: when the run or its step ended. */
  readonly atMs: number;
  readonly runs: 0 | 1;
  readonly errors: 0 | 1;
  readonly events: number;
  readonly computeMs: number;
  /** Of a run that has ended. */
  readonly durationMs: number | null;
  /** Of a run that has started. */
  readonly waitedMs: number | null;
}

/** A run counts once, with the commit that ends it. */
export function countCommit(commit: Commit): CommitCount {
  const { run, workflow, events, error } = commit;
  const atMs = timeOf(endOf(commit));
  const ends = workflow === undefined || hasEnded(workflow.status);
  const begins = workflow === undefined || workflow.number === 1;
  const elapsedMs = workflow === undefined ? run.durationMs : atMs - workflow.startedAt;
  return {
    atMs,
    runs: ends ? 1 : 0,
    errors: ends && error !== null ? 1 : 0,
    events: events.length,
    computeMs: computeMsOf(commit),
    durationMs: ends ? within(elapsedMs, maxElapsedMs) : null,
    waitedMs: begins ? durationOf((workflow ?? run).queuedMs ?? 0) : null, // Commits of former runners have no `queuedMs`: they count as 0 ms.
  };
}

/** Wall time of a run of a source, or of the steps that a commit of a workflow ends. Waiting between steps costs nothing. */
export function computeMsOf({ run, workflow }: Pick<Commit, "run" | "workflow">): number {
  if (workflow === undefined) return durationOf(run.durationMs);
  const { step, before = [] } = workflow;
  return before.reduce((sum, each) => sum + durationOf(each.step.durationMs), durationOf(step?.durationMs ?? 0));
}

const maxTimeMs = 8.64e15;
/** From the start to the end of a run. That of a workflow may be suspended for months. It is compared, and never added. */
const maxElapsedMs = 100 * 365 * stepMs.day;
/** Of durations that are added, each of a run or a step. Longer ones count as a day, so that a forged one adds little to a sum. */
const maxDurationMs = stepMs.day;

/**
 * Runners execute user code and may forge times. A time further in the past or in the future counts in the current minute: otherwise
 * commits could fill any number of hours, in partitions that are being swept.
 */
export const maxLateMs = stepMs.day;
export const maxEarlyMs = stepMs.hour;

export const timeOf = (ms: number): number => within(ms, maxTimeMs);
export const durationOf = (ms: number): number => within(ms, maxDurationMs);

const within = (value: number, max: number): number => (Number.isFinite(value) ? Math.round(Math.min(Math.max(value, 0), max)) : 0);
