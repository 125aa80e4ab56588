import type { RunError } from "./run-products.ts";

/** Failed outcomes among the recent ones. */
export interface Failures {
  readonly count: number;
  /** Epoch ms of the first of them. */
  readonly since: number;
}

/** The latest outcomes of a webhook's attempts, or of a workflow's runs. */
export interface RecentOutcomes {
  /** Grows with each further one. */
  readonly position: number;
  /** Number of those that count for the success rate: of the last {@link maxOutcomes}, the ones of the last hour. */
  readonly total: number;
  /** Those of them that failed; undefined: none did. */
  readonly failed: Failures | undefined;
  /** All since the last success; undefined: the last one succeeded. */
  readonly failing: Failures | undefined;
  /** Of the last one that failed, without its stack. */
  readonly lastError: Pick<RunError, "name" | "message" | "code"> | undefined;
}

export const maxOutcomes = 100;
export const outcomesWindowMs = 3_600_000;
/** Below this success rate something is degraded. */
const minSuccessRate = 0.95;

/** Between 0 and 1, to three digits; undefined without recent outcomes. */
export function successRate(recent: RecentOutcomes | undefined): number | undefined {
  if (recent === undefined || recent.total === 0) return undefined;
  return Math.round((1 - (recent.failed?.count ?? 0) / recent.total) * 1_000) / 1_000;
}

/** The failures that make it degraded; undefined if too few have failed. */
export function degradedBy(recent: RecentOutcomes | undefined): Failures | undefined {
  return (successRate(recent) ?? 1) < minSuccessRate ? recent?.failed : undefined;
}
