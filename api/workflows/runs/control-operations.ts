import { z } from "zod";
import { Conflict } from "../../../domain/errors.ts";
import { defaultPool } from "../../../domain/subjects.ts";
import type { RecordedWorkflowRun } from "../../../domain/workflow/recorded-run.ts";
import type { RunAction, RunControl } from "../../../domain/workflow/run-control.ts";
import { hasEnded } from "../../../domain/workflow/run-state.ts";
import { operation, type ApiContext } from "../../context.ts";
import type { Call } from "../../http/request/call.ts";
import { text } from "../../http/request/parameters.ts";
import { accepted, ok } from "../../http/response/replies.ts";
import { inProgress, one } from "../../http/response/schemas.ts";
import { publicIdOf } from "../../resources/identity.ts";
import { workflowOf } from "../find-workflow.ts";
import { runOf, untilRecorded } from "./find-run.ts";
import { workflowRunResponse } from "./response.ts";
import { workflowRunSchema } from "./schemas.ts";

const maxReason = 500;

const withReason = z.object({
  reason: text.max(maxReason, `it must have at most ${maxReason} characters`).nullish().describe("For people: `reason` of the run."),
});
const withData = z.object({
  data: z.unknown().optional().describe("A JSON value: the body of `steps.<name>.$resume_data`, if the run waits for a request."),
});

/** What is asked of runs that have not ended. */
export const workflowRunControlOperations = [
  operation({
    route: "POST /workflows/:workflow_id/runs/:run_id/cancel",
    id: "cancelWorkflowRun",
    change: { action: "cancel_run", kind: "Workflow" },
    summary: "Cancel a run of a workflow",
    description: "A step that runs at the time ends first. The response is 202 if that takes longer than three seconds.",
    body: withReason,
    responses: { ...one(workflowRunSchema), ...inProgress(workflowRunSchema) },
    errors: [409],
    handle: (call, context) => control(call, "cancel", { reason: call.body().reason ?? "it was canceled" }, context),
  }),
  operation({
    route: "POST /workflows/:workflow_id/runs/:run_id/pause",
    id: "pauseWorkflowRun",
    change: { action: "pause_run", kind: "Workflow" },
    summary: "Pause a run of a workflow before its next step",
    description: "A step that runs at the time ends first. The run is then suspended until it is resumed, for at most 366 days.",
    body: withReason,
    responses: { ...one(workflowRunSchema), ...inProgress(workflowRunSchema) },
    errors: [409],
    handle: (call, context) => control(call, "pause", { reason: call.body().reason ?? "it is paused" }, context),
  }),
  operation({
    route: "POST /workflows/:workflow_id/runs/:run_id/resume",
    id: "resumeWorkflowRun",
    change: { action: "resume_run", kind: "Workflow" },
    summary: "Resume a run of a workflow that is paused or waits",
    description: "A run that waits for a time goes on at once, one that waits for a request goes on as by its resume URL.",
    body: withData,
    responses: { ...one(workflowRunSchema), ...inProgress(workflowRunSchema) },
    errors: [409],
    handle: (call, context) => {
      const { data } = call.body();
      return control(call, "resume", data === undefined ? {} : { data }, context);
    },
  }),
];

async function control(call: Call, action: RunAction, more: Omit<RunControl, "run" | "action">, context: ApiContext) {
  const { access, ports } = context;
  const resource = await workflowOf(call, context);
  const workflow = publicIdOf(resource);
  const run = await runOf(call, workflow, context);
  checkPossible(action, run);
  await ports.runs.control({
    source: workflow,
    owner: (await access.ownerOf(resource)) ?? workflow,
    pool: resource.status.pool ?? defaultPool,
    control: { run: run.id, action, ...(action === "resume" ? { after: run.commits } : {}), ...more },
  });
  const changed = await untilRecorded(workflow, run.id, (now) => hasEffect(action, run, now), context);
  if (changed !== undefined) checkEffect(action, changed);
  return changed === undefined ? accepted(workflowRunResponse(run)) : ok(workflowRunResponse(changed));
}

/** @throws Conflict */
function checkPossible(action: RunAction, { id, status }: RecordedWorkflowRun): void {
  if (hasEnded(status)) throw new Conflict(`run ${id} has ended as ${status}: it cannot be changed, but repeated`, { code: "run_ended" });
  if (action === "pause" && status === "suspended")
    throw new Conflict(`run ${id} is suspended already: resume or cancel it`, { code: "run_suspended" });
  if (action === "resume" && status !== "suspended")
    throw new Conflict(`run ${id} is ${status}: only a suspended run can be resumed`, { code: "run_not_suspended" });
}

/** The run may have ended, or its step may wait, before the request had an effect. @throws Conflict */
function checkEffect(action: RunAction, run: RecordedWorkflowRun): void {
  const { status, reason } = run;
  if (action === "cancel" && status !== "canceled") checkPossible(action, run);
  // A pause has a reason, a wait has none.
  if (action === "pause" && (hasEnded(status) || reason === null)) checkPossible(action, run);
}

/** Whether the history shows what the request has led to. */
function hasEffect(action: RunAction, before: RecordedWorkflowRun, { status, commits }: RecordedWorkflowRun): boolean {
  switch (action) {
    case "cancel":
      return hasEnded(status);
    case "pause":
      return status !== "running";
    case "resume":
      return commits > before.commits;
  }
}
