import { z } from "zod";
import { Conflict } from "../../../domain/errors.ts";
import { newId } from "../../../domain/ids.ts";
import { waitUntil } from "../../../domain/retry.ts";
import type { WorkflowRunDetails } from "../../../domain/workflow/recorded-run.ts";
import { operation, type ApiContext } from "../../context.ts";
import { dropBody, type Call, type Input } from "../../http/request/call.ts";
import { accepted, ok } from "../../http/response/replies.ts";
import { inProgress, one } from "../../http/response/schemas.ts";
import { checkQuota } from "../../owners/quota.ts";
import { publicIdOf } from "../../resources/identity.ts";
import { workflowOf } from "../find-workflow.ts";
import { manualRunOf } from "../runnable.ts";
import { workflowRunResponse } from "./response.ts";
import { workflowRunSchema } from "./schemas.ts";

const fields = z.object({
  event: z.unknown().optional().describe("`steps.trigger.event`. Default: what the first trigger would send."),
});

const startedSchema = z
  .object({ id: z.string().describe("`r_…`."), workflow_id: z.string(), status: z.literal("running"), trigger: z.literal("manual") })
  .meta({ id: "StartedWorkflowRun" });

const pollMs = 40;

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
      const { run, workflow, ended } = await startRun(call, context);
      dropBody(call);
      const recorded = (await ended) === undefined ? undefined : await untilRecorded(workflow, run, context);
      const found = recorded ?? (await context.ports.history.findWorkflowRun(workflow, run));
      return found === undefined
        ? accepted({ id: run, workflow_id: workflow, status: "running", trigger: "manual" })
        : ok(workflowRunResponse(found));
    },
  }),
];

/** Stores the invocation. Only this function holds the event, see `dropBody`. */
async function startRun(call: Call & Input<unknown, z.output<typeof fields>>, context: ApiContext) {
  const { access, config, ports } = context;
  const resource = await workflowOf(call, context);
  const { event } = call.body();
  const [run, workflow] = [newId("run", ports.randomBytes), publicIdOf(resource)];
  if (!resource.spec.active)
    throw new Conflict(`workflow ${workflow} is inactive: activate it with PUT /v1/workflows/${workflow} and {"active": true}`, {
      code: "workflow_inactive",
    });
  const manual = await manualRunOf(resource, { run, event, trace: call.trace }, context);
  const owner = await access.ownerOf(resource);
  if (owner !== undefined) await checkQuota(owner, ports);
  const { ended } = await ports.runs.run(manual, AbortSignal.timeout(config.runTimeoutMs));
  return { run, workflow, ended };
}

/** The run after its last commit, so that the caller's next request finds it. */
async function untilRecorded(workflow: string, run: string, { config, ports }: ApiContext): Promise<WorkflowRunDetails | undefined> {
  let found: WorkflowRunDetails | undefined;
  await waitUntil(
    async () => {
      // Ignore errors: the history may be readable a moment later.
      found = await ports.history.findWorkflowRun(workflow, run).catch(() => undefined);
      return found !== undefined && found.status !== "running";
    },
    config.recordTimeoutMs,
    pollMs,
  );
  return found;
}
