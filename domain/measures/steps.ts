/** The steps for which measures are stored. */
export const measureSteps = ["minute", "hour", "day"] as const;
export type MeasureStep = (typeof measureSteps)[number];

export const stepMs: Readonly<Record<MeasureStep, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** How long measures of each step are kept, in ms. Older ones are added to the next longer step; those of days are deleted. */
export type KeptMeasures = Readonly<Record<MeasureStep, number>>;

export const defaultKeptMeasures: KeptMeasures = {
  minute: 24 * stepMs.hour,
  hour: 30 * stepMs.day,
  day: 400 * stepMs.day,
};

/** Start of the step that contains the time. Steps of hours and days are those of UTC. */
export const startOfStep = (atMs: number, step: MeasureStep): number => atMs - (atMs % stepMs[step]);
