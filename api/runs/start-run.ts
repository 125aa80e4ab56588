import { z } from "zod";
import { sourceKind } from "../../crds/source.ts";
import type { DryRunOutcome } from "../../domain/invocation/dry-run.ts";
import { Conflict, InvalidInput, NotFound } from "../../domain/errors.ts";
import { isEventId } from "../../domain/event/event-id.ts";
import { eventMetadata } from "../../domain/event/event-metadata.ts";
import { newId } from "../../domain/ids.ts";
import { parseJsonOrNull } from "../../domain/json.ts";
import type { RunSummary } from "../../domain/invocation/invocation.ts";
import { defaultPool } from "../../domain/subjects.ts";
import type { ApiContext } from "../context.ts";
import type { Call, Input } from "../http/request/call.ts";
import { flag, text } from "../http/request/parameters.ts";
import { checkQuota } from "../owners/quota.ts";
import type { ManualRun } from "../ports.ts";
import { publicIdOf } from "../resources/identity.ts";
import { asItRuns } from "../resources/source.ts";
import type { SourceResource } from "../resources/source.ts";
import { verdictOf } from "../resources/watch/verdict.ts";
import { sourceOf } from "../sources/find-source.ts";
import { defaultEventOf } from "./run-now.ts";

/** The body of `POST /sources/:id/runs`. */
export const runFields = z.object({
  event: z.unknown().optional().describe("Argument of `run`."),
  event_id: text
    .refine(isEventId, "it must be <epoch milliseconds>-<sequence>")
    .nullish()
    .describe("Id of a stored event to run with, instead of `event`."),
  emitter_id: text.nullish().describe("The source that emitted `event_id`; by default the source itself."),
  dry_run: flag.nullish().describe("True: the run stores nothing, and the response has what it would have stored."),
});

/**
 * The argument of `run`: the given event, or the event of this or another visible source with the given id, or, without either, what
 * the source's own trigger would send.
 */
async function eventOf(
  { event, event_id: id, emitter_id }: z.output<typeof runFields>,
  resource: SourceResource,
  { user }: Call,
  context: ApiContext,
): Promise<Pick<ManualRun, "event" | "metadata">> {
  const { access, ports } = context;
  const source = publicIdOf(resource);
  const emitter = emitter_id ?? source;
  if (id === undefined || id === null) {
    if (emitter !== source) throw new InvalidInput(`emitter_id ${emitter} is given without event_id: send both`);
    const given = event === undefined ? await defaultEventOf(resource, context) : event;
    return given === undefined ? {} : { event: given };
  }
  if (event !== undefined) throw new InvalidInput("event and event_id are both given: a run receives one event");
  if (emitter !== source) await access.getReferenced(sourceKind, "source", emitter, user);
  const found = await ports.history.findEvent(emitter, id);
  if (found === undefined)
    throw new NotFound(`event ${id} of ${emitter} is not found: it never existed, or was deleted`, { code: "event_not_found" });
  return { event: parseJsonOrNull(found.payload), metadata: eventMetadata(found, emitter) };
}

export interface NewRun {
  readonly run: string;
  readonly source: string;
}

/** Stores the invocation. Only this function holds the event, see `dropBody`. */
export async function startRun(
  call: Call & Input<unknown, z.output<typeof runFields>>,
  context: ApiContext,
): Promise<NewRun & ({ readonly ended: Promise<RunSummary | undefined> } | { readonly outcome: Promise<DryRunOutcome | undefined> })> {
  const { access, config, ports } = context;
  const fields = call.body();
  const resource = await sourceOf(call, context);
  checkRunnable(resource);
  const [run, source] = [newId("run", ports.randomBytes), publicIdOf(resource)];
  const owner = await access.ownerOf(resource);
  const manual = {
    run,
    source,
    owner: owner ?? source,
    pool: resource.status.pool ?? defaultPool,
    generation: resource.status.runningGeneration ?? resource.metadata.generation,
    ...(await eventOf(fields, resource, call, context)),
    ...(call.trace === undefined ? {} : { trace: call.trace }),
  };
  if (fields.dry_run === true) return { run, source, ...(await ports.runs.dryRun({ ...manual, timeoutMs: config.runTimeoutMs })) };
  if (owner !== undefined) await checkQuota(owner, ports);
  return { run, source, ...(await ports.runs.run(manual, AbortSignal.timeout(config.runTimeoutMs))) };
}

function checkRunnable(source: SourceResource): void {
  const id = publicIdOf(source);
  if (!asItRuns(source).spec.active)
    throw new Conflict(`source ${id} is inactive: activate it with PUT /v1/sources/${id} and {"active": true}`, {
      code: "source_inactive",
    });
  const verdict = verdictOf(source, source.metadata.generation);
  if (verdict?.outcome === "ready" || isPreviousRunning(source)) return;
  const why = verdict?.message ?? "it is being deployed; try again in a moment";
  throw new Conflict(`source ${id} is not deployed: ${why}`, { code: "source_not_ready" });
}

/** The previous version runs while an update is pending or has failed, but not while it is being replaced. */
function isPreviousRunning({ status }: SourceResource): boolean {
  return status.running !== undefined && status.deployment !== undefined;
}
