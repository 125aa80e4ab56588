import type { TimedMeasure } from "../../domain/measures/measure.ts";

/** Epoch ms; the end is exclusive. */
export interface MeasureRange {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly stepMs: number;
}

/** Counts and durations of sources, workflows, webhooks and owners over time. */
export interface Measures {
  /** By subject, in the order of time; steps in which nothing happened are absent. */
  read(subjects: readonly string[], range: MeasureRange): Promise<ReadonlyMap<string, readonly TimedMeasure[]>>;
  /** Of all users and organizations together, in the order of time. @throws Unavailable when it takes too long */
  readAll(range: MeasureRange): Promise<readonly TimedMeasure[]>;
}
