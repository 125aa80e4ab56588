import type { ComponentResource } from "../../crds/component.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { sourceHealth } from "../../crds/source-health.ts";
import { sourceKind, type SourceResource } from "../../crds/source.ts";
import { disabledCode, disabledError } from "../../domain/run/kills.ts";
import { disabledReason, errorLine } from "../../domain/source/source-health.ts";
import { nextStatus, readyConditions, withFields } from "../controller/status.ts";
import type { OperatorPorts, SourceActivity } from "../ports.ts";
import { buildFor } from "../configured/additional-props.ts";
import { componentNameOf } from "./observe/component-of.ts";
import { statusHealth } from "../health/status-health.ts";
import { batchSize, writeIntervalMs, writeRefreshed } from "../health/write-refreshed.ts";
import { withHealth } from "../deployable/report.ts";
import { nextTickTime } from "./plan/desired.ts";
import { wasReady } from "./observe/settled.ts";
import type { StatusFields } from "./plan/step.ts";

/** Interval between refreshes. */
const intervalMs = 5 * 60_000;

export interface ActivityCaches {
  sources(): Iterable<SourceResource>;
  component(key: string): ComponentResource | undefined;
}

/**
 * Updates the last run, last error, next tick, backlog and state in the status of sources where they have changed. Idle sources are never
 * written. Does nothing until the next refresh is due.
 */
export function activityReconciler(ports: OperatorPorts, caches: ActivityCaches) {
  let nextRefresh = ports.clock.now() + intervalMs;
  return async (_key: string, signal: AbortSignal): Promise<number> => {
    const now = ports.clock.now();
    if (now < nextRefresh) return nextRefresh - now;
    nextRefresh = now + intervalMs;
    await refreshActivity(ports, caches, signal);
    return Math.max(1, nextRefresh - ports.clock.now());
  };
}

interface Activity {
  /** Undefined: no run since the status was written. */
  readonly activity: SourceActivity | undefined;
  /** Undefined: NATS did not respond. */
  readonly backlog: number | undefined;
}

/** Refreshes all sources once. @returns the number of statuses written */
export async function refreshActivity(ports: OperatorPorts, caches: ActivityCaches, signal: AbortSignal): Promise<number> {
  let written = 0;
  const backlogs = await ports.sourceBacklogs.read().catch(() => undefined);
  const known = [...caches.sources()].flatMap((source) => {
    const { id } = source.status;
    return id === undefined || source.invalid !== undefined ? [] : [{ id, source }];
  });
  for (let from = 0; from < known.length; from += batchSize) {
    signal.throwIfAborted();
    const sources = known.slice(from, from + batchSize);
    const activities = await ports.activity.since(
      sources.map(({ id, source }) => ({ source: id, lastRunAt: timeOf(source.status.lastRunTime) })),
    );
    const byId = new Map(activities.map((activity) => [activity.source, activity]));
    for (const { id, source } of sources) {
      const latest = { activity: byId.get(id), backlog: backlogs === undefined ? undefined : (backlogs.get(id) ?? 0) };
      if (!hasChanged(source, latest)) continue;
      if (written > 0) await sleep(writeIntervalMs, undefined, { signal });
      if (await writeRefreshed(ports.store, sourceKind, source, (current) => statusOf(current, latest, caches, ports))) written++;
    }
  }
  return written;
}

function hasChanged({ status }: SourceResource, { activity, backlog }: Activity): boolean {
  if (activity !== undefined || status.state === undefined) return true;
  return backlog !== undefined && backlog !== (status.backlog ?? 0);
}

function statusOf(source: SourceResource, { activity, backlog }: Activity, caches: ActivityCaches, ports: OperatorPorts) {
  const fields = { ...activityFields(source, activity, caches, ports), ...(backlog === undefined ? {} : { backlog }) };
  const status = withFields(source.status, fields);
  if (activity === undefined) return withHealth(source, status, sourceHealth);
  return withFields(status, statusHealth(sourceHealth({ ...source, status }, activity.failing)));
}

function activityFields(
  source: SourceResource,
  activity: SourceActivity | undefined,
  caches: ActivityCaches,
  ports: OperatorPorts,
): StatusFields {
  if (activity === undefined) return {};
  const { lastRunAt, lastError } = activity;
  const build = buildFor(source, caches.component(`${source.metadata.namespace}/${componentNameOf(source)}`));
  const next = build === undefined ? undefined : nextTickTime(source, build, ports.clock.now(), source.status.updatedAt);
  return {
    lastRunTime: new Date(lastRunAt).toISOString(),
    ...(lastError === undefined ? {} : { lastErrorTime: new Date(lastError.at).toISOString(), lastError: errorLine(lastError) }),
    ...(next === undefined ? {} : { nextTickTime: next }),
    ...disabledFields(source, activity, ports),
  };
}

/** Marks the source as not ready: its reconciler then finds the cause, removes its timers and reports it. */
function disabledFields(source: SourceResource, { source: id, failing }: SourceActivity, { clock }: OperatorPorts): StatusFields {
  if (failing?.error.code !== disabledCode || failing.deployment !== source.status.deployment || !wasReady(source)) return {};
  const { message } = disabledError(id);
  const conditions = readyConditions({ ready: false, transient: true, reason: disabledReason, message });
  return { conditions: nextStatus(source, { conditions, now: clock.now() }).conditions };
}

function timeOf(text: string | undefined): number {
  return text === undefined ? 0 : Date.parse(text);
}
