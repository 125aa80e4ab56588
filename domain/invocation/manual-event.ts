import { withAdditional, type ComponentDefinition, type PropDefinition } from "../component/definition.ts";
import { InvalidInput } from "../errors.ts";
import type { HttpEvent, TimerEvent } from "./invocation.ts";
import { valueOf } from "../component/prop-values.ts";
import { parseTimer, type TimerSchedule } from "../schedule/schedule.ts";

/** The parts of a source that determine its expected event. */
export interface ManuallyRun {
  readonly definition: ComponentDefinition;
  /** All props when the component has additional ones. */
  readonly configurableProps?: readonly PropDefinition[] | undefined;
  readonly props: Readonly<Record<string, unknown>>;
  readonly endpoint: string | null;
}

/** The event of a tick, without its due time. */
export function tickEvent(schedule: TimerSchedule): Omit<TimerEvent, "timestamp"> {
  if (schedule.kind === "interval") return { interval_seconds: schedule.intervalSeconds };
  return { interval_seconds: null, cron: schedule.cron, timezone: schedule.timezone };
}

/**
 * The event of a manual run without one: a tick of the first timer, or an empty request to the HTTP interface, or none. A source with
 * both gets the tick, which is complete, unlike a request without a body.
 * @throws InvalidInput if `run` needs an event and the source has no trigger that defines it
 */
export function defaultEvent(source: ManuallyRun, nowMs: number): TimerEvent | HttpEvent | undefined {
  const { props } = withAdditional(source.definition, source.configurableProps);
  const schedule = props.filter(({ type }) => type === "$.interface.timer").flatMap((prop) => scheduleOf(prop, source.props) ?? [])[0];
  if (schedule !== undefined) return { timestamp: Math.floor(nowMs / 1000), ...tickEvent(schedule) };
  if (props.some(({ type }) => type === "$.interface.http")) return emptyRequest(source.endpoint);
  if (source.definition.needsEvent !== true) return undefined;
  throw new InvalidInput(
    'event is needed: the source has neither a timer nor an HTTP interface, so nothing says what its run expects; send {"event": …}, or event_id and emitter_id of a past event',
    { code: "event_missing" },
  );
}

/** A custom resource may contain an invalid timer, which its conditions report. */
function scheduleOf(prop: PropDefinition, values: Readonly<Record<string, unknown>>): TimerSchedule | undefined {
  const value = valueOf(prop, values);
  if (value === undefined) return undefined;
  try {
    return parseTimer(value);
  } catch (error) {
    if (error instanceof InvalidInput) return undefined;
    throw error;
  }
}

/** A request without headers and body. */
export function emptyRequest(endpoint: string | null): HttpEvent {
  const url = endpoint ?? "http://localhost";
  return { method: "GET", path: "/", url: url.endsWith("/") ? url : `${url}/`, query: {}, headers: {}, client_ip: "127.0.0.1" };
}
