import { z } from "zod";
import { HeadwaterError, QuotaUsedUp } from "../../../domain/errors.ts";
import { maxLimit } from "../../../domain/page.ts";
import { hasEnded, runStatuses } from "../../../domain/workflow/run-state.ts";
import { operation, type ApiContext } from "../../context.ts";
import { dropBody, type Call, type Input } from "../../http/request/call.ts";
import { text } from "../../http/request/parameters.ts";
import { ok } from "../../http/response/replies.ts";
import { inProgress, one } from "../../http/response/schemas.ts";
import { publicIdOf } from "../../resources/identity.ts";
import { workflowOf } from "../find-workflow.ts";
import { runOf } from "./find-run.ts";
import { firstStepOf, repetitionOf } from "./repetition.ts";
import { replyOf, startRun, startedSchema, type StartedRun } from "./run-now-operations.ts";
import { workflowRunSchema } from "./schemas.ts";

const versions = ["current", "same"] as const;

const how = z.object({
  from: text
    .nullish()
    .describe(
      "Name or id of the step that runs first; of one within another step, the outermost runs. Default: the step that failed the run, or else the first one.",
    ),
  version: z.enum(versions).nullish().describe("`current` (default), or `same`: the version of the run."),
  without_files: z.boolean().nullish().describe("True: the new run begins without the files that the steps before have left."),
});
const withEvent = how.extend({
  event: z.unknown().optional().describe("In place of the event of the run. Without `from`, the new run then begins with the first step."),
});

const times = z.int().nonnegative().nullish();
const selection = how.omit({ from: true }).extend({
  status: z.enum(runStatuses.filter(hasEnded)).nullish().describe("Default: `failed`."),
  from: z.enum(["failed_step", "first_step"]).nullish().describe("Default: `failed_step`."),
  since_ms: times.describe("Only runs that started at this time or later, epoch ms."),
  until_ms: times.describe("Only runs that started before this time, epoch ms."),
  dry_run: z.boolean().nullish().describe("True: says which runs it would repeat."),
});

const repeatedSchema = z
  .object({
    repeated: z.array(z.object({ run_id: z.string().describe("The run."), id: z.string().nullable().describe("The new one.") })),
    refused: z.array(z.object({ run_id: z.string(), code: z.string(), error: z.string() })),
  })
  .meta({ id: "RepeatedRuns" });

/** New runs with the event of earlier ones. */
export const repeatOperations = [
  operation({
    route: "POST /workflows/:workflow_id/runs/:run_id/repeat",
    id: "repeatWorkflowRun",
    change: { action: "repeat_run", kind: "Workflow" },
    summary: "Repeat a run of a workflow, from the step that failed or another one",
    description:
      "Starts a new run. Steps before the first one do not run: what they exported in the repeated run is read from the history. The new run begins with the files that they left, which are deleted within a day after the end of the repeated run.",
    body: withEvent,
    takesEvent: true,
    responses: { ...one(workflowRunSchema), ...inProgress(startedSchema) },
    errors: [409],
    handle: async (call, context) => {
      const started = await startRepetition(call, context);
      dropBody(call);
      return replyOf(started, context);
    },
  }),
  operation({
    route: "POST /workflows/:workflow_id/runs/repeat",
    id: "repeatWorkflowRuns",
    change: { action: "repeat_runs", kind: "Workflow" },
    summary: "Repeat all stored runs of a workflow that failed",
    description:
      "At most the last hundred, oldest first. They wait for their turn by the workflow's settings; when its backlog is full, the rest is left out.",
    body: selection,
    responses: one(repeatedSchema),
    errors: [409],
    handle: (call, context) => repeatAll(call, call.body(), context),
  }),
];

/** Stores the invocation. Only this function holds the event, see `dropBody`. */
async function startRepetition(call: Call & Input<unknown, z.output<typeof withEvent>>, context: ApiContext): Promise<StartedRun> {
  const resource = await workflowOf(call, context);
  const run = await runOf(call, publicIdOf(resource), context);
  const { without_files: withoutFiles, ...wanted } = call.body();
  return startRun(resource, { ...(await repetitionOf(run, resource, { ...wanted, withoutFiles }, context)), trace: call.trace }, context);
}

async function repeatAll(call: Call, selected: z.output<typeof selection>, context: ApiContext) {
  const { status, since_ms: since, until_ms: until, dry_run: isDry, from, version, without_files: withoutFiles } = selected;
  const resource = await workflowOf(call, context);
  const workflow = publicIdOf(resource);
  const { items } = await context.ports.history.pageWorkflowRuns(workflow, { limit: maxLimit, cursor: null, status: status ?? "failed" });
  const runs = items.filter(({ startedAt }) => startedAt >= (since ?? 0) && startedAt < (until ?? Number.POSITIVE_INFINITY)).toReversed();
  const repeated: { run_id: string; id: string | null }[] = [];
  const refused: { run_id: string; code: string; error: string }[] = [];
  // One after the other: those of one workflow keep their order.
  for (const { id } of runs) {
    try {
      const run = await context.ports.history.findWorkflowRun(workflow, id);
      if (run === undefined) continue; // Deleted in the meantime.
      const first = from === "first_step" ? firstStepOf(resource) : undefined;
      const request = await repetitionOf(run, resource, { version, from: first, withoutFiles }, context);
      const started = isDry === true ? undefined : await startRun(resource, { ...request, trace: call.trace }, context);
      started?.ended.catch(() => undefined); // Its outcome is in the history.
      repeated.push({ run_id: id, id: started?.run ?? null });
    } catch (error) {
      if (!(error instanceof HeadwaterError)) throw error;
      refused.push({ run_id: id, code: error.code, error: error.message });
      if (error instanceof QuotaUsedUp) break; // Later ones would run before this one.
    }
  }
  return ok({ repeated, refused });
}
