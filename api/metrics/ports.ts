import type { TimedMeasure } from "../../domain/measures/measure.ts";

/** Counts and durations of sources, workflows, webhooks and owners over time. */
export interface Measures {
  /** By subject, in the order of time; steps in which nothing happened are absent. */
  read(
    subjects: readonly string[],
    range: { readonly fromMs: number; readonly untilMs: number; readonly stepMs: number },
  ): Promise<ReadonlyMap<string, readonly TimedMeasure[]>>;
}
