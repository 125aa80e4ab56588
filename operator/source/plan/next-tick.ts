import type { SourceResource } from "../../../crds/source.ts";
import type { Build } from "../../../domain/component/definition.ts";
import { nextTickOf } from "../../../domain/schedule/source-timers.ts";

/** When the source's next timer ticks, RFC 3339; undefined without timers or while paused. @param armedAt epoch ms */
export function nextTickTime({ spec }: SourceResource, { definition }: Build, now: number, armedAt = now): string | undefined {
  const next = spec.active ? nextTickOf(definition, spec.props, now, armedAt) : undefined;
  return next === undefined ? undefined : new Date(next).toISOString();
}
