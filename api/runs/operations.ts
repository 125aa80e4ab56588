import { LRUCache } from "lru-cache";
import { z } from "zod";
import { sourceKind } from "../../crds/source.ts";
import type { DryRunOutcome } from "../../domain/run/dry-run.ts";
import { Conflict, HeadwaterError, InvalidInput, NotFound } from "../../domain/errors.ts";
import { isEventId } from "../../domain/event/event-id.ts";
import { eventMetadata } from "../../domain/event/event-metadata.ts";
import { isId, newId } from "../../domain/ids.ts";
import type { RunSummary } from "../../domain/invocation/invocation.ts";
import { parseLimit } from "../../domain/page.ts";
import { defaultPool } from "../../domain/subjects.ts";
import { accepted, dropBody, ok, okPage, type Call, type Reply } from "../http/request/call.ts";
import { pathOf } from "../http/routing/handle.ts";
import { flag, parse, parsePage, text } from "../http/request/parameters.ts";
import { checkQuota } from "../owners/quota.ts";
import type { ManualRun } from "../ports.ts";
import { publicIdOf } from "../resources/identity.ts";
import { whyNotFound } from "../resources/not-found.ts";
import { verdictOf } from "../resources/watch/verdict.ts";
import type { Answered } from "../resources/response.ts";
import { dryRunResponse, runResponse } from "./response.ts";
import type { dryRunSchema } from "./schemas.ts";
import { defaultEventOf, untilRecorded } from "./run-now.ts";
import { asItRuns } from "../resources/running-source.ts";
import type { SourceResource } from "../resources/source.ts";
import type { ApiContext } from "../context.ts";
import { sourceIdOf, sourceOf } from "../sources/operations.ts";

export const request = z.object({
  event: z.unknown().optional(),
  event_id: text.refine(isEventId, "it must be <epoch milliseconds>-<sequence>").nullish(),
  emitter_id: text.nullish(),
  dry_run: flag.nullish(),
});
export const filter = z.object({ failed: flag.optional() });
export const logParameters = z.object({ limit: z.string().optional() });

/** Bound on runs that had not ended when their request returned. */
const maxStarted = 10_000;
const startedMs = 60 * 60 * 1_000;

export function runRoutes(context: ApiContext) {
  const { ports } = context;
  /** Run → source, for runs that are not in the history because they have not ended. */
  const started = new LRUCache<string, string>({ max: maxStarted, ttl: startedMs });
  return {
    /** Waits for the end of the run. The request succeeds even if the code throws. */
    create: async (call: Call) => {
      const newRun = await startRun(call, context);
      dropBody(call);
      const { run, source } = newRun;
      if ("outcome" in newRun) return dryRunReply(newRun, await newRun.outcome, context);
      // The reply may be lost or exceed the size of a message; the history has it as well.
      const summary = (await newRun.ended) ?? (await ports.history.findRun(source, run));
      if (summary !== undefined) return ok(runResponse(summary), await untilRecorded(source, run, context));
      started.set(run, source);
      return accepted(startedRun(run, source));
    },
    list: async (call: Call) => {
      const { failed } = parse(filter, call.parameters);
      const page = parsePage(call.parameters);
      const source = await sourceIdOf(call, context);
      return okPage(await ports.history.pageRuns(source, { ...page, ...(failed === undefined ? {} : { failed }) }), runResponse);
    },
    get: async (call: Call) => {
      const source = await sourceIdOf(call, context);
      const id = pathOf(call, "run_id");
      const found = await ports.history.findRun(source, id);
      if (found !== undefined) return ok(runResponse(found));
      if (started.get(id) === source) return ok(startedRun(id, source));
      throw runNotFound(source, id);
    },
    /** The last hundred lines or `limit`, newest first. */
    logs: async (call: Call) => {
      const { limit } = parse(logParameters, call.parameters);
      const source = await sourceIdOf(call, context);
      const lines = await ports.history.lastLogs(source, parseLimit(limit ?? 100));
      return ok(lines.toReversed().map(({ run, record }) => ({ ...record, run_id: run })));
    },
  };
}

const startedRun = (id: string, source: string) => ({ id, source_id: source, status: "running", trigger: "manual" }) as const;

function runNotFound(source: string, id: string): NotFound {
  const why = isId("run", id) ? `source ${source} has no run ${id}, or it was deleted` : whyNotFound("run", id);
  return new NotFound(`record not found: ${why}`);
}

/**
 * The argument of `run`: the given event, or the event of this or another visible source with the given id, or, without either, what
 * the source's own trigger would send.
 */
async function eventOf(
  { event, event_id: id, emitter_id }: z.infer<typeof request>,
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
  if (emitter !== source) await access.getListed(sourceKind, "source", emitter, user);
  const found = await ports.history.findEvent(emitter, id);
  if (found === undefined)
    throw new NotFound(`event ${id} of ${emitter} is not found: it never existed, or was deleted`, { code: "event_not_found" });
  return { event: JSON.parse(found.payload) as unknown, metadata: eventMetadata(found, emitter) };
}

interface NewRun {
  readonly run: string;
  readonly source: string;
}

/** Stores the invocation. Only this function holds the event, see `dropBody`. */
async function startRun(
  call: Call,
  context: ApiContext,
): Promise<NewRun & ({ readonly ended: Promise<RunSummary | undefined> } | { readonly outcome: Promise<DryRunOutcome | undefined> })> {
  const { access, config, ports } = context;
  const fields = parse(request, call.body);
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

function dryRunReply(newRun: NewRun, outcome: DryRunOutcome | undefined, { config }: ApiContext): Reply<Answered<typeof dryRunSchema>> {
  if (outcome !== undefined) return ok(dryRunResponse(newRun, outcome));
  const message = `the dry run did not end within ${Math.round(config.runTimeoutMs / 1000)} s, or no runner started it: it stored nothing, try again`;
  throw new HeadwaterError(504, "dry_run_timeout", message);
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
