import type { Commit } from "../run/commit.ts";
import { endOf } from "../run/derived-events.ts";
import { hasEnded } from "../workflow/run-state.ts";

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
  const computeMs = workflow === undefined ? run.durationMs : (workflow.step?.durationMs ?? 0);
  return {
    atMs,
    runs: ends ? 1 : 0,
    errors: ends && error !== null ? 1 : 0,
    events: events.length,
    computeMs: durationOf(computeMs),
    durationMs: ends ? durationOf(elapsedMs) : null,
    waitedMs: begins ? durationOf((workflow ?? run).queuedMs ?? 0) : null,
  };
}

const maxTimeMs = 8.64e15;
/** Sums of many still fit into 64 bits. */
const maxDurationMs = 100 * 365 * 86_400_000;

/** Runners execute user code: a forged time must not stop the recorder. */
export const timeOf = (ms: number): number => within(ms, maxTimeMs);
export const durationOf = (ms: number): number => within(ms, maxDurationMs);

const within = (value: number, max: number): number => (Number.isFinite(value) ? Math.round(Math.min(Math.max(value, 0), max)) : 0);
