import type { Invocation } from "../domain/invocation/invocation.ts";
import { tickEvent } from "../domain/invocation/manual-event.ts";
import { lastTicks, nextTick, serverSchedule, type TimerSchedule } from "../domain/schedule/schedule.ts";
import { dueAtWithJitter } from "../domain/schedule/timer-options.ts";

/** A timer of a source or workflow. */
export interface SourceTimer {
  /** Public id of the source or workflow. */
  readonly source: string;
  /** Its prop, or the name of the workflow's trigger. */
  readonly prop: string;
  readonly schedule: TimerSchedule;
  readonly generation: number;
  /** Epoch ms since which a workflow that has just been switched on had been off; absent: it was on. */
  readonly offSince?: number;
}

/** The invocation of each tick; of a chained timer, that of its next tick, or of the first missed one that is to run. */
export function tickOf({ source, generation, prop, schedule, offSince }: SourceTimer, now: number): Invocation {
  const tick = { source, generation, trigger: "timer", event: tickEvent(schedule) } as const;
  if (serverSchedule(schedule).kind !== "chain") return tick;
  const [missed] = offSince === undefined ? [] : lastTicks(schedule, offSince, now, schedule.catchUp ?? 0);
  const at = missed ?? nextTick(schedule, now, now);
  const dueAt = dueAtWithJitter(schedule, `${source} ${prop}`, at);
  return { ...tick, chain: prop, at, ...(dueAt === at ? {} : { dueAt }) };
}
