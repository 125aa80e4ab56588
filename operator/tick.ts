import type { Invocation } from "../domain/invocation/invocation.ts";
import { tickEvent } from "../domain/invocation/manual-event.ts";
import { nextTick, serverSchedule, type TimerSchedule } from "../domain/schedule/schedule.ts";

/** A timer of a source or workflow. */
export interface SourceTimer {
  /** Public id of the source or workflow. */
  readonly source: string;
  /** Its prop, or the name of the workflow's trigger. */
  readonly prop: string;
  readonly schedule: TimerSchedule;
  readonly generation: number;
}

/** The invocation of each tick; of a chained timer, that of its next tick. */
export function tickOf({ source, generation, prop, schedule }: SourceTimer, now: number): Invocation {
  const tick = { source, generation, trigger: "timer", event: tickEvent(schedule) } as const;
  if (serverSchedule(schedule).kind !== "chain") return tick;
  return { ...tick, chain: prop, at: nextTick(schedule, now) };
}
