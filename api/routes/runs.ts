import { defaultPool } from "../../domain/subjects.ts";
import { z } from "zod";
import { Conflict, NotFound } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { parseLimit } from "../../domain/page.ts";
import { ok, okPage, type Handle } from "../http/call.ts";
import { pathOf } from "../http/handle.ts";
import { flag, parse, parsePage } from "../http/parameters.ts";
import { publicIdOf } from "../resources/identity.ts";
import { verdictOf } from "../resources/verdict.ts";
import { runResponse } from "../responses/run.ts";
import type { SourceResource } from "../sources/source.ts";
import type { ApiContext } from "./context.ts";
import { sourceIdOf, sourceOf } from "./sources.ts";

export const request = z.object({ event: z.unknown().optional() });
export const filter = z.object({ failed: flag.optional() });
export const logParameters = z.object({ limit: z.string().optional() });

export function runRoutes(context: ApiContext): Record<"create" | "list" | "get" | "logs", Handle> {
  const { config, ports } = context;
  return {
    /** Waits for the end of the run; one whose code threw has succeeded as a request. */
    create: async (call) => {
      const { event } = parse(request, call.body);
      const source = await sourceOf(call, context);
      checkRunnable(source);
      const run = newId("run", ports.randomBytes);
      const manual = {
        run,
        source: publicIdOf(source),
        pool: source.status.pool ?? defaultPool,
        generation: source.metadata.generation,
        ...(event === undefined ? {} : { event }),
      };
      // The answer may be lost on its way, or larger than a message may be; the history has it as well.
      const summary =
        (await ports.runs.run(manual, AbortSignal.timeout(config.runTimeoutMs))) ?? (await ports.history.findRun(manual.source, run));
      if (summary === undefined)
        return {
          status: 202,
          body: { data: { id: run, source_id: manual.source, status: "running", trigger: "manual" } },
        };
      return ok(runResponse(summary));
    },
    list: async (call) => {
      const { failed } = parse(filter, call.parameters);
      const page = parsePage(call.parameters);
      const source = await sourceIdOf(call, context);
      return okPage(await ports.history.pageRuns(source, { ...page, ...(failed === undefined ? {} : { failed }) }), runResponse);
    },
    get: async (call) => {
      const source = await sourceIdOf(call, context);
      const id = pathOf(call, "run_id");
      const found = await ports.history.findRun(source, id);
      if (found === undefined) throw new NotFound();
      return ok(runResponse(found));
    },
    /** The last hundred lines unless fewer are asked for, newest first as every list. */
    logs: async (call) => {
      const { limit } = parse(logParameters, call.parameters);
      const source = await sourceIdOf(call, context);
      const lines = await ports.history.lastLogs(source, parseLimit(limit ?? 100));
      return ok(lines.toReversed().map(({ run, record }) => ({ ...record, run_id: run })));
    },
  };
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
