import { InvalidInput } from "../errors.ts";
import { emptyMeasure, type TimedMeasure } from "./measure.ts";
import { stepMs, type KeptMeasures, type MeasureStep } from "./steps.ts";

/** Steps in which measures can be read, shortest first: of one that is stored, or several of them. */
export const readSteps = ["minute", "5_minutes", "15_minutes", "hour", "day"] as const;
export type ReadStep = (typeof readSteps)[number];

const stepsOf: Readonly<Record<ReadStep, { readonly of: MeasureStep; readonly count: number }>> = {
  minute: { of: "minute", count: 1 },
  "5_minutes": { of: "minute", count: 5 },
  "15_minutes": { of: "minute", count: 15 },
  hour: { of: "hour", count: 1 },
  day: { of: "day", count: 1 },
};

export const readStepMs = (step: ReadStep): number => stepsOf[step].count * stepMs[stepsOf[step].of];

export const maxPoints = 1_500;
/** A step that is chosen for the caller gives at most this many points: a chart shows no more. */
const maxChosenPoints = 200;
const defaultRangeMs = stepMs.day;

export interface WantedRange {
  /** Epoch ms; default: a day before the end. */
  readonly from?: number | undefined;
  /** Epoch ms, exclusive; default: now. */
  readonly to?: number | undefined;
  /** Default: the shortest that is kept, and gives few enough points for a chart. */
  readonly step?: ReadStep | undefined;
}

/** Whole steps. */
export interface PlannedRange {
  readonly step: ReadStep;
  readonly stepMs: number;
  readonly fromMs: number;
  /** Exclusive. */
  readonly untilMs: number;
}

/** @throws InvalidInput for a range that ends before it begins, has too many points, or is older than its step is kept */
export function planRange({ from, to, step }: WantedRange, kept: KeptMeasures, now: number): PlannedRange {
  const until = Math.min(to ?? now, now);
  const begin = from ?? until - defaultRangeMs;
  if (begin >= until)
    throw new InvalidInput(
      `from ${begin} is not before ${until === now ? "now" : "to"}, ${until}: choose an earlier time, in epoch milliseconds`,
    );
  const chosen = step ?? chosenStep(begin, until, kept, now);
  const { of } = stepsOf[chosen];
  if (!isKept(chosen, begin, kept, now))
    throw new InvalidInput(
      `metrics by ${of} are kept for ${hoursOrDays(kept[of])}, and from ${begin} is earlier: choose ${longerOr("a later time", of)}`,
    );
  const range = wholeSteps(chosen, begin, until);
  const points = pointsOf(range);
  if (points > maxPoints)
    throw new InvalidInput(
      `the range has ${points} points with step ${chosen}, and a response has at most ${maxPoints}: choose ${longerOr("a shorter range", of)}`,
    );
  return range;
}

export const pointsOf = ({ fromMs, untilMs, stepMs: length }: PlannedRange): number => (untilMs - fromMs) / length;

function chosenStep(begin: number, until: number, kept: KeptMeasures, now: number): ReadStep {
  const fits = (step: ReadStep): boolean => isKept(step, begin, kept, now) && pointsOf(wholeSteps(step, begin, until)) <= maxChosenPoints;
  return readSteps.find(fits) ?? "day";
}

function wholeSteps(step: ReadStep, begin: number, until: number): PlannedRange {
  const length = readStepMs(step);
  return { step, stepMs: length, fromMs: Math.floor(begin / length) * length, untilMs: Math.ceil(until / length) * length };
}

/** A step more, so that the time needed for the request does not count. */
const isKept = (step: ReadStep, begin: number, kept: KeptMeasures, now: number): boolean =>
  stepsOf[step].of === "day" || begin >= now - kept[stepsOf[step].of] - readStepMs(step);

const longerOr = (other: string, step: MeasureStep): string =>
  step === "day" ? other : `step=${step === "minute" ? "hour" : "day"}, or ${other}`;

const hoursOrDays = (ms: number): string => (ms < 2 * stepMs.day ? `${ms / stepMs.hour} hours` : `${ms / stepMs.day} days`);

/** A measure for each step, empty where nothing happened. @param measures in the order of time */
export function withoutGaps(measures: readonly TimedMeasure[], { fromMs, untilMs, stepMs: length }: PlannedRange): readonly TimedMeasure[] {
  const byTime = new Map(measures.map((measure) => [measure.atMs, measure]));
  return Array.from({ length: (untilMs - fromMs) / length }, (_, index) => {
    const atMs = fromMs + index * length;
    return byTime.get(atMs) ?? { ...emptyMeasure, atMs };
  });
}
