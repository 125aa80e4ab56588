import { addHistograms, emptyHistogram, type Histogram } from "./histogram.ts";

/** Numbers of a measure that are added. */
export const counters = [
  "runs",
  "errors",
  "events",
  "computeMs",
  "waits",
  "waitedMs",
  "attempts",
  "failedAttempts",
  "deliveries",
  "deadLetters",
] as const;
/** Numbers of a measure of which the largest is kept. */
export const maxima = ["maxWaitedMs", "maxDurationMs"] as const;

export type Counter = (typeof counters)[number];
export type Maximum = (typeof maxima)[number];

/**
 * What a subject (a source, workflow, webhook, user or organization) did in a step of time. That of a user or an organization includes all
 * that it owns.
 *
 * | number | counts |
 * |---|---|
 * | runs, errors | runs that ended, and those of them that failed |
 * | events | emitted events |
 * | computeMs | time in which code ran |
 * | waits, waitedMs | runs that started, and how long their invocations waited |
 * | attempts, failedAttempts, deliveries | attempts at webhooks and of what workflows send, those that failed, and those that delivered |
 * | deadLetters | deliveries whose last attempt failed |
 * | durations | of runs from start to end; of a webhook, of attempts |
 */
export interface Measure extends Readonly<Record<Counter | Maximum, number>> {
  readonly durations: Histogram;
}

/** A measure with the start of its step, epoch ms. */
export interface TimedMeasure extends Measure {
  readonly atMs: number;
}

// `fromEntries` forgets the keys.
const zeros = Object.fromEntries([...counters, ...maxima].map((name) => [name, 0])) as Record<Counter | Maximum, number>;
export const emptyMeasure: Measure = { ...zeros, durations: emptyHistogram };

export function addMeasures(one: Measure, other: Measure): Measure {
  const sum = { ...zeros };
  for (const name of counters) sum[name] = one[name] + other[name];
  for (const name of maxima) sum[name] = Math.max(one[name], other[name]);
  return { ...sum, durations: addHistograms(one.durations, other.durations) };
}
