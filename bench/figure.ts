/** What a figure wants to reach: its ratio to the baseline, or the value itself. */
export interface Goal {
  readonly of: "ratio" | "value";
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** One measured number. Ratios are against a baseline measured in the same run, because machines differ and are never quiet. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What the value is compared with, in the same unit. */
  readonly baseline?: number;
  /** Absent: for information only. */
  readonly goal?: Goal;
  /** Under which conditions, or what else was seen. */
  readonly note?: string;
}

/** value / baseline; undefined without a baseline. */
export function ratioOf({ value, baseline }: Figure): number | undefined {
  return baseline === undefined ? undefined : value / baseline;
}

/** Undefined for a figure without a goal. What could not be measured has not been reached. */
export function isReached(figure: Figure): boolean | undefined {
  const { goal } = figure;
  if (goal === undefined) return undefined;
  const measured = goal.of === "ratio" ? ratioOf(figure) : figure.value;
  if (measured === undefined || Number.isNaN(measured)) return false;
  return measured >= (goal.atLeast ?? Number.NEGATIVE_INFINITY) && measured <= (goal.atMost ?? Number.POSITIVE_INFINITY);
}

export function describeGoal({ of, atLeast, atMost }: Goal): string {
  const bounds = [atLeast === undefined ? [] : [`≥ ${atLeast}`], atMost === undefined ? [] : [`≤ ${atMost}`]].flat();
  return `${of === "ratio" ? "ratio " : ""}${bounds.join(", ")}`;
}
