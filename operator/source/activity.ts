import { setTimeout as sleep } from "node:timers/promises";
import { sourceKind } from "../../crds/source.ts";
import { Conflict, NotFound } from "../../domain/errors.ts";
import { disabledError } from "../../domain/kills.ts";
import { nextStatus, readyConditions } from "../controller/status.ts";
import type { OperatorPorts, SourceActivity } from "../ports.ts";
import { buildFor } from "./additional-props.ts";
import { componentNameOf } from "./component-of.ts";
import { nextTickTime } from "./next-tick.ts";
import type { ComponentResource, SourceResource } from "./resources.ts";
import { wasReady } from "./settled.ts";

/** Between two looks at what ran. */
const everyMs = 5 * 60_000;
/** Sources asked about at a time: one index probe each. */
const batch = 500;
/** At most 300 writes a minute, however many sources run: a status is a help for people, and no place for what moves. */
const betweenWritesMs = 200;

export interface ActivityCaches {
  sources(): Iterable<SourceResource>;
  component(key: string): ComponentResource | undefined;
}

/**
 * Keeps the times of the last run, last error and next tick in the status of sources that have run since. What is at rest is read
 * about and never written. Waits for its time itself, whatever wakes it.
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

/** One look at all sources. @returns how many statuses were written */
export async function refreshActivity(ports: OperatorPorts, caches: ActivityCaches, signal: AbortSignal): Promise<number> {
  let written = 0;
  for (const sources of batches([...caches.sources()])) {
    signal.throwIfAborted();
    const byId = new Map(sources.map((source) => [source.status.id ?? "", source]));
    const known = [...byId].map(([id, { status }]) => ({ source: id, lastRunAt: timeOf(status.lastRunTime) }));
    for (const activity of await ports.activity.since(known)) {
      const source = byId.get(activity.source);
      if (source === undefined) continue;
      if (written > 0) await sleep(betweenWritesMs, undefined, { signal });
      if (await write(source, activity, caches, ports)) written++;
    }
  }
  return written;
}

/** Whoever changed it meanwhile is reconciling it: the next look writes it. */
async function write(source: SourceResource, activity: SourceActivity, caches: ActivityCaches, ports: OperatorPorts): Promise<boolean> {
  const { namespace, name } = source.metadata;
  const current = await ports.store.find(sourceKind, namespace, name);
  if (current === undefined || current.metadata.uid !== source.metadata.uid || current.metadata.deletionTimestamp !== undefined)
    return false;
  try {
    await ports.store.updateStatus(sourceKind, {
      ...current,
      status: { ...current.status, ...fieldsOf(current, activity, caches, ports), ...disabledOf(current, activity, ports) },
    });
    return true;
  } catch (error) {
    if (error instanceof Conflict || error instanceof NotFound) return false;
    throw error;
  }
}

function fieldsOf(source: SourceResource, activity: SourceActivity, caches: ActivityCaches, { clock }: OperatorPorts) {
  const { lastRunAt, lastErrorAt, lastError } = activity;
  const build = buildFor(source, caches.component(`${source.metadata.namespace}/${componentNameOf(source)}`));
  const next = build === undefined ? undefined : nextTickTime(source, build, clock.now(), source.status.updatedAt);
  return {
    lastRunTime: new Date(lastRunAt).toISOString(),
    ...(lastErrorAt === undefined ? {} : { lastErrorTime: new Date(lastErrorAt).toISOString() }),
    ...(lastError === undefined ? {} : { lastError: lastError.slice(0, 500) }),
    ...(next === undefined ? {} : { nextTickTime: next }),
  };
}

/** Not ready any more: whoever reconciles it then looks why, ends its timers and says so. */
function disabledOf(source: SourceResource, { source: id, disabled }: SourceActivity, { clock }: OperatorPorts) {
  if (disabled === undefined || disabled !== source.status.deployment || !wasReady(source)) return {};
  const { message } = disabledError(id);
  const conditions = readyConditions({ ready: false, passing: true, reason: "SourceDisabled", message });
  return { conditions: nextStatus(source, { conditions, now: clock.now() }).conditions };
}

function timeOf(text: string | undefined): number {
  return text === undefined ? 0 : Date.parse(text);
}

function* batches(sources: Iterable<SourceResource>): Iterable<readonly SourceResource[]> {
  let next: SourceResource[] = [];
  for (const source of sources) {
    if (source.status.id === undefined || source.invalid !== undefined) continue;
    next.push(source);
    if (next.length === batch) yield next.splice(0);
  }
  if (next.length > 0) yield next;
}
