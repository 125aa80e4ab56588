/** The value below which `share` (0 to 1) of the values lie, nearest rank; NaN without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);

/** p50 and the highest of times in ms, for the note of a figure whose value is another percentile. */
export const describeTimes = (times: readonly number[]): string =>
  `p50 ${percentile(times, 0.5).toFixed(0)} ms, most ${percentile(times, 1).toFixed(0)} ms`;
