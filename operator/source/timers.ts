import type { Build } from "../../domain/definition.ts";
import { parseTimerProp } from "../../domain/prop-types.ts";
import { runtimeProps } from "../../domain/prop-values.ts";
import type { TimerSchedule } from "../../domain/schedule.ts";
import type { SourceResource } from "./resources.ts";

/** Schedules by prop name. @throws InvalidInput that names the prop whose value is none; `blockedBy` has looked before. */
export function timersOf({ spec }: SourceResource, { definition }: Build): ReadonlyMap<string, TimerSchedule> {
  const values = runtimeProps(definition, spec.props);
  const configured = definition.props.filter(({ name, type }) => type === "$.interface.timer" && values[name] !== undefined);
  return new Map(configured.map(({ name }) => [name, parseTimerProp(name, values[name])]));
}
