/** Bytes in use at a time, epoch ms. */
export interface DiskSample {
  readonly atMs: number;
  readonly bytes: number;
}

/** `unknown`: there are too few samples. `steady`: it does not grow, or less than it varies. */
export type DiskForecast =
  | { readonly state: "unknown" | "steady" }
  /** `fullAtMs`: null without a limit, or if it is further than {@link maxAheadMs} away. */
  | { readonly state: "growing"; readonly bytesPerDay: number; readonly fullAtMs: number | null };

export const forecastStates = ["unknown", "steady", "growing"] as const;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Fewer say nothing about growth: a stream fills and drains within hours. */
const minSamples = 4;
const minSpanMs = 6 * hourMs;
/** A line through two weeks says nothing about later years. */
const maxAheadMs = 365 * dayMs;
/** Growth counts if it is larger than this many standard deviations of the samples from the line. */
const minGrowthInDeviations = 2;

/**
 * When the disk is full if it grows as in all samples, or as in those of the last day, whichever comes first: growth that began yesterday hardly
 * shows in two weeks. @param samples in any order, the current use among them
 */
export function forecastOf(samples: readonly DiskSample[], limitBytes: number | null): DiskForecast {
  const last = Math.max(...samples.map(({ atMs }) => atMs));
  const whole = lineForecast(samples, limitBytes);
  const ofDay = lineForecast(
    samples.filter(({ atMs }) => atMs >= last - dayMs),
    limitBytes,
  );
  return fullAtOf(ofDay) < fullAtOf(whole) ? ofDay : whole;
}

const fullAtOf = (forecast: DiskForecast): number =>
  forecast.state === "growing" ? (forecast.fullAtMs ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;

/** Extends the straight line that fits the samples best (least squares). */
function lineForecast(samples: readonly DiskSample[], limitBytes: number | null): DiskForecast {
  const times = samples.map(({ atMs }) => atMs);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  if (samples.length < minSamples || last - first < minSpanMs) return { state: "unknown" };
  const { slope, deviation } = lineThrough(samples);
  const grown = slope * (last - first);
  if (grown < 1 || grown <= minGrowthInDeviations * deviation) return { state: "steady" };
  const current = samples.find(({ atMs }) => atMs === last)?.bytes ?? 0;
  const fullInMs = limitBytes === null ? Number.POSITIVE_INFINITY : Math.max(0, limitBytes - current) / slope;
  return {
    state: "growing",
    bytesPerDay: Math.round(slope * dayMs),
    fullAtMs: fullInMs > maxAheadMs ? null : Math.round(last + fullInMs),
  };
}

/** `slope` in bytes per ms; `deviation`: standard deviation of the samples from the line, in bytes. */
function lineThrough(samples: readonly DiskSample[]): { readonly slope: number; readonly deviation: number } {
  const count = samples.length;
  const mean = (valueOf: (sample: DiskSample) => number): number => samples.reduce((sum, sample) => sum + valueOf(sample), 0) / count;
  const [meanMs, meanBytes] = [mean(({ atMs }) => atMs), mean(({ bytes }) => bytes)];
  const slope =
    mean(({ atMs, bytes }) => (atMs - meanMs) * (bytes - meanBytes)) /
    Math.max(
      1,
      mean(({ atMs }) => (atMs - meanMs) ** 2),
    );
  const variance = mean(({ atMs, bytes }) => (bytes - meanBytes - slope * (atMs - meanMs)) ** 2);
  return { slope, deviation: Math.sqrt(variance) };
}
