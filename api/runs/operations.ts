import { z } from "zod";
import type { DryRunOutcome } from "../../domain/invocation/dry-run.ts";
import { HeadwaterError, NotFound } from "../../domain/errors.ts";
import { isId } from "../../domain/ids.ts";
import { parseLimit } from "../../domain/page.ts";
import { operation, type ApiContext } from "../context.ts";
import { dropBody } from "../http/request/call.ts";
import { type Reply, accepted, ok, okList, okPage } from "../http/response/replies.ts";
import { flag, pages, parsePage } from "../http/request/parameters.ts";
import { all, inProgress, one, page } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import { whyNotFound } from "../resources/not-found.ts";
import type { Answered } from "../http/response/answered.ts";
import { sourceIdOf } from "../sources/find-source.ts";
import { dryRunResponse, runResponse } from "./response.ts";
import { untilRecorded } from "./run-now.ts";
import { dryRunSchema, logLineSchema, runSchema, startedRunSchema } from "./schemas.ts";
import { runFields, startRun, type NewRun } from "./start-run.ts";
import { tickResponse, tickSchema } from "./tick-response.ts";

const filter = z.object({ failed: flag.optional().describe("True: only failed runs. False: only successful runs.") });
export const logParameters = z.object({
  limit: z
    .string()
    .optional()
    .meta({ description: "Maximum lines, 100 by default.", override: { type: "integer", minimum: 1 } }),
});

export const runOperations = [
  operation({
    route: "GET /sources/:id/runs",
    id: "listRuns",
    summary: "List the runs of a source",
    query: filter.extend(pages.shape),
    responses: page(runSchema),
    handle: async (call, context) => {
      const { failed } = call.query();
      const request = parsePage(call.parameters);
      const source = await sourceIdOf(call, context);
      const filters = failed === undefined ? {} : { failed };
      return okList((part) => context.ports.history.pageRuns(source, { ...part, ...filters }), request, runResponse);
    },
  }),
  operation({
    route: "POST /sources/:id/runs",
    id: "runSource",
    change: { action: "run", kind: "Source" },
    summary: "Run a source now",
    neverEmpty: ["dry_run", "event_id"],
    description:
      "Waits until the run ends. The response is 200 even if the code throws: see `status` and `error`. Without an event, the source runs with a tick of its first timer, or with an empty request to its HTTP interface.",
    body: runFields,
    takesEvent: true,
    responses: { ...one(z.union([runSchema, dryRunSchema])), ...inProgress(startedRunSchema) },
    errors: [409, 504],
    handle: async (call, context) => {
      const newRun = await startRun(call, context);
      dropBody(call);
      const { run, source } = newRun;
      if ("outcome" in newRun) return dryRunReply(newRun, await newRun.outcome, context);
      // The reply may be lost or exceed the size of a message; the history has it as well.
      const summary = (await newRun.ended) ?? (await context.ports.history.findRun(source, run));
      if (summary !== undefined) return ok(runResponse(summary), await untilRecorded(source, run, context));
      context.startedRuns.add(run, source);
      return accepted(startedRun(run, source));
    },
  }),
  operation({
    route: "GET /sources/:id/runs/:run_id",
    id: "getRun",
    summary: "Get a run with its logs",
    description: "A run that took longer than its request has the status `running` until it ends.",
    responses: one(z.union([runSchema, startedRunSchema])),
    handle: async (call, context) => {
      const source = await sourceIdOf(call, context);
      const id = pathOf(call, "run_id");
      const found = await context.ports.history.findRun(source, id);
      if (found !== undefined) return ok(runResponse(found));
      if (context.startedRuns.has(id, source)) return ok(startedRun(id, source));
      throw runNotFound(source, id);
    },
  }),
  operation({
    route: "GET /sources/:id/ticks",
    id: "listTicks",
    summary: "List the results of the ticks of a source's timers",
    description: "Ticks that were due while the source was active, newest first.",
    query: pages,
    responses: page(tickSchema),
    handle: async (call, context) => {
      const request = parsePage(call.parameters, "event");
      const source = await sourceIdOf(call, context);
      return okPage(await context.ports.history.pageTicks(source, request), tickResponse, "event");
    },
  }),
  operation({
    route: "GET /sources/:id/logs",
    id: "listLogs",
    summary: "List the last lines of a source's log, newest first",
    query: logParameters,
    responses: all(logLineSchema),
    handle: async (call, context) => {
      const { limit } = call.query();
      const source = await sourceIdOf(call, context);
      const lines = await context.ports.history.lastLogs(source, parseLimit(limit ?? 100));
      return ok(lines.toReversed().map(({ run, record }) => ({ ...record, run_id: run })));
    },
  }),
];

const startedRun = (id: string, source: string) => ({ id, source_id: source, status: "running", trigger: "manual" }) as const;

function runNotFound(source: string, id: string): NotFound {
  const why = isId("run", id) ? `source ${source} has no run ${id}, or it was deleted` : whyNotFound("run", id);
  return new NotFound(`record not found: ${why}`);
}

function dryRunReply(newRun: NewRun, outcome: DryRunOutcome | undefined, { config }: ApiContext): Reply<Answered<typeof dryRunSchema>> {
  if (outcome !== undefined) return ok(dryRunResponse(newRun, outcome));
  const message = `the dry run did not end within ${Math.round(config.runTimeoutMs / 1000)} s, or no runner started it: it stored nothing, try again`;
  throw new HeadwaterError(504, "dry_run_timeout", message);
}
