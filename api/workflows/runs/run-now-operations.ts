import { z } from "zod";
import type { WorkflowResource } from "../../../crds/workflow.ts";
import { Conflict } from "../../../domain/errors.ts";
import { newId } from "../../../domain/ids.ts";
import type { RunSummary } from "../../../domain/invocation/invocation.ts";
import type { TraceContext } from "../../../domain/traces.ts";
import { operation, type ApiContext } from "../../context.ts";
import { dropBody } from "../../http/request/call.ts";
import { accepted, ok } from "../../http/response/replies.ts";
import { inProgress, one } from "../../http/response/schemas.ts";
import { checkQuota } from "../../owners/quota.ts";
import type { ManualRun } from "../../ports.ts";
import { publicIdOf } from "../../resources/identity.ts";
import { workflowOf } from "../find-workflow.ts";
import { manualRunOf } from "../runnable.ts";
import { untilRecorded } from "./find-run.ts";
import { workflowRunResponse } from "./response.ts";
import { workflowRunSchema } from "./schemas.ts";

const fields = z.object({
  event: z.unknown().optional().describe("`steps.trigger.event`. Default: what the first trigger would send."),
});

export const startedSchema = z
  .object({ id: z.string().describe("`r_…`."), workflow_id: z.string(), status: z.literal("running"), trigger: z.literal("manual") })
  .meta({ id: "StartedWorkflowRun" });

/** Starts runs. */
export const workflowRunNowOperations = [
  operation({
    route: "POST /workflows/:workflow_id/runs",
    id: "runWorkflow",
    change: { action: "run", kind: "Workflow" },
    summary: "Run a workflow now",
    description: "Waits until the run ends or is suspended. The response is 200 even if a step fails: see `status` and `error`.",
    body: fields,
    takesEvent: true,
    responses: { ...one(workflowRunSchema), ...inProgress(startedSchema) },
    errors: [409],
    handle: async (call, context) => {
      // Only `startRun` holds the event, see `dropBody`.
      const started = await startRun(await workflowOf(call, context), { event: call.body().event, trace: call.trace }, context);
      dropBody(call);
      return replyOf(started, context);
    },
  }),
];

export interface StartedRun {
  readonly run: string;
  readonly workflow: string;
  readonly ended: Promise<RunSummary | undefined>;
}

/** Stores the invocation of a new run. @throws Conflict `workflow_inactive`, QuotaUsedUp, Unavailable */
export async function startRun(
  resource: WorkflowResource,
  request: Pick<ManualRun, "event" | "repeats"> & { readonly trace: TraceContext | undefined },
  context: ApiContext,
): Promise<StartedRun> {
  const { access, config, ports } = context;
  const [run, workflow] = [newId("run", ports.randomBytes), publicIdOf(resource)];
  if (!resource.spec.active)
    throw new Conflict(`workflow ${workflow} is inactive: activate it with PUT /v1/workflows/${workflow} and {"active": true}`, {
      code: "workflow_inactive",
    });
  const { event, trace, repeats } = request;
  const manual = await manualRunOf(resource, { run, event, trace }, context);
  const owner = await access.ownerOf(resource);
  if (owner !== undefined) await checkQuota(owner, ports);
  const { ended } = await ports.runs.run(
    { ...manual, ...(repeats === undefined ? {} : { repeats }) },
    AbortSignal.timeout(config.runTimeoutMs),
  );
  return { run, workflow, ended };
}

/** The run once it has ended or is suspended, or as far as it is known if that takes long. */
export async function replyOf({ run, workflow, ended }: StartedRun, context: ApiContext) {
  const isAnswered = (await ended) !== undefined;
  const recorded = isAnswered ? await untilRecorded(workflow, run, ({ status }) => status !== "running", context) : undefined;
  const found = recorded ?? (await context.ports.history.findWorkflowRun(workflow, run));
  return found === undefined
    ? accepted({ id: run, workflow_id: workflow, status: "running", trigger: "manual" })
    : ok(workflowRunResponse(found));
}
