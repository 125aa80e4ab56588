import type { Build } from "../../domain/definition.ts";
import { nextTick } from "../../domain/schedule.ts";
import type { SourceResource } from "./resources.ts";
import { timersOf } from "./timers.ts";

/**
 * When the first of the source's timers ticks next, RFC 3339; undefined without timers or while it is switched off. An interval
 * is reckoned from when it was armed, which is when the source was deployed.
 * @param armedAt epoch ms
 */
export function nextTickTime(source: SourceResource, build: Build, now: number, armedAt = now): string | undefined {
  if (!source.spec.active) return undefined;
  const ticks = [...timersOf(source, build).values()].map((schedule) => nextTick(schedule, now, armedAt));
  return ticks.length === 0 ? undefined : new Date(Math.min(...ticks)).toISOString();
}
