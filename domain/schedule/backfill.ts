import { nextTick, type TimerSchedule } from "./schedule.ts";

/** Maximum ticks of one request. */
export const maxBackfill = 1_000;

/** Runs of past ticks that were requested, one after the other: a chain in which each tick arms the next one when its run has ended or is suspended. */
export interface Backfill {
  /** The end of the range, exclusive; epoch ms. */
  readonly until: number;
  /** Whether a tick also waits for the end of a suspended run, because the timer allows no two at once. */
  readonly inTurn: boolean;
}

/** The first tick from then on. Ticks of an interval are at whole multiples of it since 1970 (UTC), so that they are the same in each request. */
export const pastTick = (schedule: TimerSchedule, fromMs: number): number => nextTick(schedule, fromMs - 1);

/** The ticks from `fromMs` up to, and without, `toMs`: at most one more than {@link maxBackfill}. */
export function backfillTicks(schedule: TimerSchedule, fromMs: number, toMs: number): readonly number[] {
  const ticks: number[] = [];
  for (let tick = pastTick(schedule, fromMs); tick < toMs && ticks.length <= maxBackfill; tick = pastTick(schedule, tick + 1))
    ticks.push(tick);
  return ticks;
}
