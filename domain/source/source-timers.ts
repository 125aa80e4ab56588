import type { ComponentDefinition } from "../component/definition.ts";
import { parseTimerProp } from "../component/prop-types.ts";
import { runtimeProps } from "../component/prop-values.ts";
import { nextTick, type TimerSchedule } from "../schedule/schedule.ts";

/** Schedules by prop name. @throws InvalidInput naming the prop with an invalid schedule */
export function timersOf(definition: ComponentDefinition, props: Readonly<Record<string, unknown>>): ReadonlyMap<string, TimerSchedule> {
  const values = runtimeProps(definition, props);
  const configured = definition.props.filter(({ name, type }) => type === "$.interface.timer" && values[name] !== undefined);
  return new Map(configured.map(({ name }) => [name, parseTimerProp(name, values[name])]));
}

/**
 * Epoch ms of the first tick after `now`; undefined without timers.
 * @param armedAt epoch ms at which the source was deployed and its timers were armed: intervals start there
 * @throws InvalidInput as {@link timersOf}
 */
export function nextTickOf(
  definition: ComponentDefinition,
  props: Readonly<Record<string, unknown>>,
  now: number,
  armedAt = now,
): number | undefined {
  const ticks = [...timersOf(definition, props).values()].map((schedule) => nextTick(schedule, now, armedAt));
  return ticks.length === 0 ? undefined : Math.min(...ticks);
}
