import { setTimeout as sleep } from "node:timers/promises";
import { sourceHealth } from "../../crds/source-health.ts";
import { sourceKind } from "../../crds/source.ts";
import { Conflict, NotFound } from "../../domain/errors.ts";
import { disabledCode, disabledError } from "../../domain/kills.ts";
import { disabledReason, errorLine } from "../../domain/source-health.ts";
import { nextStatus, readyConditions } from "../controller/status.ts";
import type { OperatorPorts, SourceActivity } from "../ports.ts";
import { buildFor } from "./additional-props.ts";
import { componentNameOf } from "./component-of.ts";
import { healthFields, statusHealth } from "./health.ts";
import { nextTickTime } from "./next-tick.ts";
import type { ComponentResource, SourceResource } from "./resources.ts";
import { wasReady } from "./settled.ts";
import { withFields, type StatusFields } from "./step.ts";

/** Time between two looks at the latest runs. */
const everyMs = 5 * 60_000;
/** Sources per query. */
const batch = 500;
/** Limits the writes to 300 a minute, however many sources run: a status is for people, and does not hold what changes with each run. */
const betweenWritesMs = 200;

export interface ActivityCaches {
  sources(): Iterable<SourceResource>;
  component(key: string): ComponentResource | undefined;
}

/**
 * Keeps the last run, last error, next tick, backlog and state in the status of sources for which they have changed. Sources at rest are
 * never written. Waits until the next look is due, whatever wakes it.
 */
export function activityReconciler(ports: OperatorPorts, caches: ActivityCaches) {
  let nextLook = ports.clock.now() + everyMs;
  return async (_key: string, signal: AbortSignal): Promise<number> => {
    const now = ports.clock.now();
    if (now < nextLook) return nextLook - now;
    nextLook = now + everyMs;
    await refreshActivity(ports, caches, signal);
    return Math.max(1, nextLook - ports.clock.now());
  };
}

interface Seen {
  /** Undefined: it has not run since the status was written. */
  readonly activity: SourceActivity | undefined;
  /** Undefined: NATS did not answer. */
  readonly backlog: number | undefined;
}

/** Looks at all sources once. @returns how many statuses were written */
export async function refreshActivity(ports: OperatorPorts, caches: ActivityCaches, signal: AbortSignal): Promise<number> {
  let written = 0;
  const backlogs = await ports.sourceBacklogs.read().catch(() => undefined);
  for (const sources of batches([...caches.sources()])) {
    signal.throwIfAborted();
    const activities = await ports.activity.since(
      sources.map(({ id, source }) => ({ source: id, lastRunAt: timeOf(source.status.lastRunTime) })),
    );
    const byId = new Map(activities.map((activity) => [activity.source, activity]));
    for (const { id, source } of sources) {
      const seen = { activity: byId.get(id), backlog: backlogs === undefined ? undefined : (backlogs.get(id) ?? 0) };
      if (!isNews(source, seen)) continue;
      if (written > 0) await sleep(betweenWritesMs, undefined, { signal });
      if (await write(source, seen, caches, ports)) written++;
    }
  }
  return written;
}

function isNews({ status }: SourceResource, { activity, backlog }: Seen): boolean {
  if (activity !== undefined || status.state === undefined) return true;
  return backlog !== undefined && backlog !== (status.backlog ?? 0);
}

/** A source that has changed in the meantime is being reconciled: the next look writes it. */
async function write(source: SourceResource, seen: Seen, caches: ActivityCaches, ports: OperatorPorts): Promise<boolean> {
  const { namespace, name } = source.metadata;
  const current = await ports.store.find(sourceKind, namespace, name);
  if (current === undefined || current.metadata.uid !== source.metadata.uid || current.metadata.deletionTimestamp !== undefined)
    return false;
  const { activity, backlog } = seen;
  const fields = { ...activityFields(current, activity, caches, ports), ...(backlog === undefined ? {} : { backlog }) };
  const status = withFields(current.status, fields);
  const health =
    activity === undefined ? healthFields(current, status) : statusHealth(sourceHealth({ ...current, status }, activity.failing));
  try {
    await ports.store.updateStatus(sourceKind, { ...current, status: withFields(status, health) });
    return true;
  } catch (error) {
    if (error instanceof Conflict || error instanceof NotFound) return false;
    throw error;
  }
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

/** Marks it as not ready: its reconciler then finds the cause, ends its timers and reports it. */
function disabledFields(source: SourceResource, { source: id, failing }: SourceActivity, { clock }: OperatorPorts): StatusFields {
  if (failing?.error.code !== disabledCode || failing.deployment !== source.status.deployment || !wasReady(source)) return {};
  const { message } = disabledError(id);
  const conditions = readyConditions({ ready: false, passing: true, reason: disabledReason, message });
  return { conditions: nextStatus(source, { conditions, now: clock.now() }).conditions };
}

function timeOf(text: string | undefined): number {
  return text === undefined ? 0 : Date.parse(text);
}

function* batches(sources: Iterable<SourceResource>): Iterable<readonly { readonly id: string; readonly source: SourceResource }[]> {
  let next: { id: string; source: SourceResource }[] = [];
  for (const source of sources) {
    const { id } = source.status;
    if (id === undefined || source.invalid !== undefined) continue;
    next.push({ id, source });
    if (next.length === batch) yield next.splice(0);
  }
  if (next.length > 0) yield next;
}
