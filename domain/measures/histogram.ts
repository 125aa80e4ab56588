/** Number of buckets. */
export const histogramSize = 40;

/**
 * Counts of durations, by bucket. Bucket 0 holds durations up to 1 ms, bucket n those over 2^((n-1)/2) ms and up to 2^(n/2) ms, and the
 * last one all over 2^19 ms (8.7 minutes). The buckets are the same everywhere, so histograms of several steps or subjects are added
 * exactly.
 */
export type Histogram = readonly number[];

export function bucketOf(durationMs: number): number {
  if (!(durationMs > 1)) return 0;
  return Math.min(Math.ceil(2 * Math.log2(durationMs)), histogramSize - 1);
}

/** A quantile is the middle of its bucket: it differs from the exact one by at most this factor, if that is over 1 ms. */
export const quantileErrorFactor = 2 ** 0.25;

/**
 * The duration that a share `q` (0 to 1) of the durations do not exceed.
 * @param maxMs the longest duration: no quantile is longer, and those in the last bucket, which has no end, are equal to it
 * @returns null without durations
 */
export function quantile(histogram: Histogram, q: number, maxMs: number): number | null {
  const total = histogram.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const rank = Math.max(1, Math.ceil(q * total));
  let seen = 0;
  const bucket = histogram.findIndex((count) => (seen += count) >= rank);
  if (bucket === histogramSize - 1) return maxMs;
  const middleMs = bucket === 0 ? 1 : 2 ** (bucket / 2) / quantileErrorFactor;
  return Math.min(middleMs, maxMs);
}

export const addHistograms = (one: Histogram, other: Histogram): Histogram => one.map((count, bucket) => count + (other[bucket] ?? 0));

export const emptyHistogram: Histogram = Array.from({ length: histogramSize }, () => 0);
