import { InvalidInput, NotFound } from "../../domain/errors.ts";
import { isEventId } from "../../domain/event/event-id.ts";
import { isRunId } from "../../domain/invocation/run-id.ts";
import type { TracedAttempt, TracedEvent, TracedRun } from "../../domain/trace/records.ts";
import type { TraceRecords } from "./ports.ts";
import type { VisibleObjects } from "./visible-objects.ts";

/** What a trace was asked for. */
export type Focus =
  | { readonly kind: "run"; readonly run: TracedRun }
  | { readonly kind: "event"; readonly event: TracedEvent }
  | { readonly kind: "delivery"; readonly attempts: readonly [TracedAttempt, ...TracedAttempt[]] };

const maxIdLength = 400;

/**
 * Finds a run by `r_…`, an event by `<source or workflow>.<event id>` or, if it was delivered, by its `webhook-id`, a delivery by its id.
 * @throws NotFound also for what belongs to others; InvalidInput for an event without its source
 */
export async function findFocus(id: string, records: TraceRecords, objects: VisibleObjects): Promise<Focus> {
  if (id.length > maxIdLength) throw notFound(id);
  if (isEventId(id))
    throw new InvalidInput(
      `'${id}' names an event, but not its source or workflow: write dc_….${id}, with the id of the one that emitted it`,
    );
  if (isRunId(id)) {
    for (const run of await records.findRuns(id, await objects.owners()))
      if ((await objects.nameOf(run.emitter)) !== undefined) return { kind: "run", run };
    throw notFound(id);
  }
  const [emitter = "", event = ""] = id.split(".", 2);
  if (isEventId(event) && (await objects.nameOf(emitter)) !== undefined) {
    const found = await records.findEvent(emitter, event);
    if (found !== undefined) return { kind: "event", event: found };
  }
  const attempts = id.includes(".") ? await visibleOf(await records.findDelivery(id, await objects.owners()), objects) : [];
  const ofEmit = id.includes(".") ? [] : await visibleOf(await records.findDeliveriesOf(id, await objects.owners()), objects);
  const [first, ...more] = [...attempts, ...ofEmit];
  if (first === undefined) throw notFound(id);
  const isOwn = ofEmit.length > 0 && (await objects.nameOf(first.source)) !== undefined;
  const emitted = isOwn ? await records.findEvent(first.source, first.event) : undefined;
  if (emitted !== undefined) return { kind: "event", event: emitted };
  return { kind: "delivery", attempts: [first, ...more.filter(({ delivery }) => delivery === first.delivery)] };
}

async function visibleOf(attempts: readonly TracedAttempt[], objects: VisibleObjects): Promise<readonly TracedAttempt[]> {
  const visible = await Promise.all(
    attempts.map(async (attempt) => ((await objects.nameOf(attempt.listener)) === undefined ? [] : [attempt])),
  );
  return visible.flat();
}

const notFound = (id: string): NotFound =>
  new NotFound(
    `record not found: no run, event or delivery '${id.slice(0, 80)}' of yours or of your organizations is stored: it must be r_…, dc_….<event id>, a webhook-id, or the id of a delivery`,
  );
