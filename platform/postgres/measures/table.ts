/**
 * A part of a subject's step: its runs, or the attempts of a webhook, whose duration is in one bucket of the histogram. So a row exists only for
 * buckets that occur. Null stands for zero.
 */
export interface MeasureTable {
  /** Public id of a source, workflow, webhook, user or organization. */
  readonly subject: string;
  /** The step, and the block of time, see slots.ts. */
  readonly slot: number;
  /** Start of the step. */
  readonly at_ms: number;
  /** See domain/measures/histogram.ts; {@link noBucket}: what has no duration. */
  readonly bucket: number;
  readonly runs: number | null;
  readonly errors: number | null;
  readonly events: number | null;
  readonly compute_ms: number | null;
  readonly waits: number | null;
  readonly waited_ms: number | null;
  readonly attempts: number | null;
  readonly failed_attempts: number | null;
  readonly deliveries: number | null;
  readonly dead_letters: number | null;
  readonly max_waited_ms: number | null;
  readonly max_duration_ms: number | null;
}

export const noBucket = -1;
