import { quantile } from "../../domain/measures/histogram.ts";
import { addMeasures, emptyMeasure, type Measure, type TimedMeasure } from "../../domain/measures/measure.ts";
import { withoutGaps, type PlannedRange } from "../../domain/measures/range.ts";
import type { Answered } from "../http/response/answered.ts";
import type { metricsSchema } from "./schemas.ts";

type Metrics = Answered<typeof metricsSchema>;

export function metricsResponse(id: string, measures: readonly TimedMeasure[], range: PlannedRange): Metrics {
  const total = measures.reduce<Measure>(addMeasures, emptyMeasure);
  return {
    id,
    step: range.step,
    step_ms: range.stepMs,
    from_ms: range.fromMs,
    to_ms: range.untilMs,
    total: measuredResponse(total),
    points: withoutGaps(measures, range).map((measure) => ({ at_ms: measure.atMs, ...measuredResponse(measure) })),
  };
}

function measuredResponse(measure: Measure): Metrics["total"] {
  const { durations, maxDurationMs, waits, waitedMs, maxWaitedMs } = measure;
  const quantileOf = (q: number): number | null => rounded(quantile(durations, q, maxDurationMs));
  return {
    runs: measure.runs,
    errors: measure.errors,
    events: measure.events,
    compute_ms: measure.computeMs,
    p50_ms: quantileOf(0.5),
    p95_ms: quantileOf(0.95),
    max_ms: quantileOf(1) === null ? null : maxDurationMs,
    wait_avg_ms: waits === 0 ? null : rounded(waitedMs / waits),
    wait_max_ms: waits === 0 ? null : maxWaitedMs,
    attempts: measure.attempts,
    failed_attempts: measure.failedAttempts,
    deliveries: measure.deliveries,
    dead_letters: measure.deadLetters,
  };
}

/** One digit is more than the error of a bucket allows. */
const rounded = (ms: number | null): number | null => (ms === null ? null : Math.round(ms * 10) / 10);
