import { accountIdOf } from "./account-props.ts";
import type { ComponentDefinition, PropDefinition } from "./definition.ts";
import { InvalidInput } from "../errors.ts";
import { valueOf } from "./prop-values.ts";
import { parseTimer, secondsBetweenTicks, type TimerSchedule } from "../schedule/schedule.ts";

/** `configurable_props` of a component: the definition of each prop, its name first. */
export function configurablePropsResponse(definition: ComponentDefinition): readonly PropDefinition[] {
  return definition.props.map(({ name, type, ...rest }) => ({ name, type, ...rest }));
}

/**
 * `configured_props` of a source: timers as `{cron, interval_seconds}`, the HTTP interface as its address, the database as its type,
 * other props with their configured or default value. Secret values are never returned.
 */
export function configuredPropsResponse(
  definition: ComponentDefinition,
  values: Readonly<Record<string, unknown>>,
  endpointUrl: string | null,
): Readonly<Record<string, unknown>> {
  const known = definition.props.flatMap((prop): [string, unknown][] => {
    const shown = showProp(prop, valueOf(prop, values), endpointUrl);
    return shown === undefined ? [] : [[prop.name, shown]];
  });
  const names = new Set(definition.props.map(({ name }) => name));
  return Object.fromEntries([...known, ...Object.entries(values).filter(([name]) => definition.hasAdditionalProps && !names.has(name))]);
}

function showProp(prop: PropDefinition, value: unknown, endpointUrl: string | null): unknown {
  switch (prop.type) {
    case "$.interface.http":
      return { endpoint_url: endpointUrl };
    case "$.service.db":
      return { type: prop.type };
    case "app":
      return showAccount(value);
    case "$.interface.timer":
      return value === undefined || value === null ? undefined : showTimer(value);
    case "alert":
    case "dir":
    case "$.interface.apphook":
      return undefined;
    default:
      return prop.secret === true || value === null ? undefined : value;
  }
}

/** An account that was given as an id is shown in the form that known clients expect. */
function showAccount(value: unknown): unknown {
  const authProvisionId = accountIdOf(value);
  return authProvisionId === undefined ? (value ?? undefined) : { authProvisionId };
}

/** A custom resource may hold an invalid timer: its conditions say so, and it is shown without a schedule. */
function showTimer(value: unknown): ShownTimer {
  const timer = timerOrNone(value);
  if (timer === undefined) return { cron: null, interval_seconds: null };
  const interval_seconds = secondsBetweenTicks(timer);
  const jitter = timer.jitterSeconds === undefined ? {} : { jitter_seconds: timer.jitterSeconds };
  if (timer.kind === "interval") return { cron: null, interval_seconds, ...jitter };
  return { cron: timer.cron, interval_seconds, timezone: timer.timezone, ...jitter };
}

interface ShownTimer {
  readonly cron: string | null;
  readonly interval_seconds: number | null;
  readonly timezone?: string;
  readonly jitter_seconds?: number;
}

function timerOrNone(value: unknown): TimerSchedule | undefined {
  try {
    return parseTimer(value);
  } catch (error) {
    if (error instanceof InvalidInput) return undefined;
    throw error;
  }
}
