import { z } from "zod";
import { sourceKind } from "../../crds/source.ts";
import { Conflict, HeadwaterError, InvalidInput, NotFound } from "../../domain/errors.ts";
import { isEventId } from "../../domain/event-id.ts";
import { eventMetadata } from "../../domain/event-summary.ts";
import { newId } from "../../domain/ids.ts";
import { parseLimit } from "../../domain/page.ts";
import { defaultPool } from "../../domain/subjects.ts";
import { accepted, ok, okPage, type Call, type Reply } from "../http/call.ts";
import { pathOf } from "../http/handle.ts";
import { flag, parse, parsePage, text } from "../http/parameters.ts";
import { checkQuota } from "../owners/quota.ts";
import type { ManualRun } from "../ports.ts";
import { publicIdOf } from "../resources/identity.ts";
import { verdictOf } from "../resources/verdict.ts";
import type { Answered } from "../responses/answered.ts";
import { dryRunResponse, runResponse } from "../responses/run.ts";
import type { dryRunSchema } from "../responses/schemas-history.ts";
import type { SourceResource } from "../sources/source.ts";
import type { ApiContext } from "./context.ts";
import { sourceIdOf, sourceOf } from "./sources.ts";

export const request = z.object({
  event: z.unknown().optional(),
  event_id: text.refine(isEventId, "it must be <epoch milliseconds>-<sequence>").nullish(),
  emitter_id: text.nullish(),
  dry_run: flag.nullish(),
});
export const filter = z.object({ failed: flag.optional() });
export const logParameters = z.object({ limit: z.string().optional() });

export function runRoutes(context: ApiContext) {
  const { access, config, ports } = context;
  return {
    /** Waits for the end of the run; one whose code threw has succeeded as a request. */
    create: async (call: Call) => {
      const fields = parse(request, call.body);
      const source = await sourceOf(call, context);
      checkRunnable(source);
      const run = newId("run", ports.randomBytes);
      const manual = {
        run,
        source: publicIdOf(source),
        pool: source.status.pool ?? defaultPool,
        generation: source.metadata.generation,
        ...(await givenEvent(fields, publicIdOf(source), call, context)),
        ...(call.trace === undefined ? {} : { trace: call.trace }),
      };
      if (fields.dry_run === true) return dryRun(manual, context);
      const owner = await access.ownerOf(source);
      if (owner !== undefined) await checkQuota(owner, ports);
      // The answer may be lost on its way, or larger than a message may be; the history has it as well.
      const summary =
        (await ports.runs.run(manual, AbortSignal.timeout(config.runTimeoutMs))) ?? (await ports.history.findRun(manual.source, run));
      if (summary === undefined) return accepted({ id: run, source_id: manual.source, status: "running", trigger: "manual" });
      return ok(runResponse(summary));
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
      if (found === undefined) throw new NotFound();
      return ok(runResponse(found));
    },
    /** The last hundred lines unless fewer are asked for, newest first as every list. */
    logs: async (call: Call) => {
      const { limit } = parse(logParameters, call.parameters);
      const source = await sourceIdOf(call, context);
      const lines = await ports.history.lastLogs(source, parseLimit(limit ?? 100));
      return ok(lines.toReversed().map(({ run, record }) => ({ ...record, run_id: run })));
    },
  };
}

/** What `run` receives: given as it is, or as the id of an event of this source or of another one that the caller may see. */
async function givenEvent(
  { event, event_id: id, emitter_id }: z.infer<typeof request>,
  source: string,
  { user }: Call,
  { access, ports }: ApiContext,
): Promise<Pick<ManualRun, "event" | "metadata">> {
  const emitter = emitter_id ?? source;
  if (id === undefined || id === null) {
    if (emitter !== source) throw new InvalidInput(`emitter_id ${emitter} is given without event_id: an event has both`);
    return event === undefined ? {} : { event };
  }
  if (event !== undefined) throw new InvalidInput("event and event_id are both given: a run receives one event");
  if (emitter !== source) await access.getListed(sourceKind, "source", emitter, user);
  const found = await ports.history.findEvent(emitter, id);
  if (found === undefined)
    throw new NotFound(`event ${id} of ${emitter} is not found: there was none, or it is not kept any more`, { code: "event_not_found" });
  return { event: JSON.parse(found.payload) as unknown, metadata: eventMetadata(found, emitter) };
}

async function dryRun(manual: ManualRun, { config, ports }: ApiContext): Promise<Reply<Answered<typeof dryRunSchema>>> {
  const outcome = await ports.runs.dryRun({ ...manual, timeoutMs: config.runTimeoutMs });
  if (outcome !== undefined) return ok(dryRunResponse(manual, outcome));
  const message = `the dry run did not end within ${Math.round(config.runTimeoutMs / 1000)} s, or no runner took it up: it left nothing, try again`;
  throw new HeadwaterError(504, "dry_run_timeout", message);
}

function checkRunnable(source: SourceResource): void {
  const id = publicIdOf(source);
  if (!source.spec.active)
    throw new Conflict(`source ${id} is inactive: activate it with PUT /v1/sources/${id} and {"active": true}`, {
      code: "source_inactive",
    });
  const verdict = verdictOf(source, source.metadata.generation);
  if (verdict?.outcome === "ready") return;
  const why = verdict?.message ?? "it is being deployed; try again in a moment";
  throw new Conflict(`source ${id} is not deployed: ${why}`, { code: "source_not_ready" });
}
