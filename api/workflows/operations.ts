import { workflowKind, type WorkflowResource } from "../../crds/workflow.ts";
import { operation, type ApiContext } from "../context.ts";
import { dropBody, type Call, type Input } from "../http/request/call.ts";
import { ownerParameters } from "../http/request/parameters.ts";
import { noContent, ok } from "../http/response/replies.ts";
import { nothing, one } from "../http/response/schemas.ts";
import { listOperations } from "../list-operations.ts";
import { untilAutoSubscribed } from "../subscriptions/until-auto-subscribed.ts";
import { createWorkflow } from "./create.ts";
import { deleteWorkflow } from "./delete.ts";
import type { Deployment } from "./deploy.ts";
import { factsOfAll, warningsOf } from "./facts.ts";
import { workflowOf } from "./find-workflow.ts";
import { selectionOf, workflowFilters } from "./list-filters.ts";
import { withStepNames, workflowChanges, workflowFields, type WorkflowChanges, type WorkflowFields } from "./request.ts";
import { workflowResponse } from "./response.ts";
import { workflowSchema } from "./schemas.ts";
import { updateWorkflow } from "./update.ts";

/** Workflows. What is recorded of their runs is in the folder runs. */
export const workflowOperations = [
  ...listOperations({
    path: "workflows",
    id: "Workflows",
    noun: "workflows",
    kind: workflowKind,
    schema: workflowSchema,
    filters: workflowFilters,
    selectionOf: (filters) => ({ listed: selectionOf(filters) }),
    isSortable: true,
    respond: async (workflows, namespace, context) => {
      const facts = await factsOfAll(namespace, workflows, context);
      return workflows.map((workflow) => workflowResponse(workflow, facts));
    },
  }),
  operation({
    route: "POST /workflows",
    id: "createWorkflow",
    change: { action: "create", kind: "Workflow" },
    summary: "Create a workflow",
    description: "Waits until the workflow is deployed. One that cannot be deployed is deleted.",
    query: ownerParameters,
    body: workflowFields,
    takesCode: true,
    responses: one(workflowSchema),
    errors: [504],
    handle: async (call, context) => {
      const deployment = await startCreation(call, context);
      dropBody(call);
      const workflow = await deployment.deployed();
      await untilAutoSubscribed(workflow, context);
      return changedReply(workflow, context);
    },
  }),
  operation({
    route: "GET /workflows/:workflow_id",
    id: "getWorkflow",
    summary: "Get a workflow",
    responses: one(workflowSchema),
    handle: async (call, context) => {
      const workflow = await workflowOf(call, context);
      return ok(workflowResponse(workflow, await factsOfAll(workflow.metadata.namespace, [workflow], context)));
    },
  }),
  operation({
    route: "PUT /workflows/:workflow_id",
    id: "updateWorkflow",
    change: { action: "update", kind: "Workflow" },
    summary: "Change a workflow",
    description:
      "Changes the given fields, and deploys a new version. `triggers` and `steps` replace all of theirs; a step that stays keeps its component and the secrets that the request does not give. Runs in progress finish on the version with which they began.",
    body: workflowChanges,
    takesCode: true,
    responses: one(workflowSchema),
    errors: [409, 504],
    handle: async (call, context) => {
      const deployment = await startUpdate(call, context);
      dropBody(call);
      return changedReply(await deployment.deployed(), context);
    },
  }),
  operation({
    route: "DELETE /workflows/:workflow_id",
    id: "deleteWorkflow",
    change: { action: "delete", kind: "Workflow" },
    summary: "Delete a workflow with its timers, its endpoint, its queue and its history",
    responses: nothing,
    errors: [409],
    handle: async (call, context) => {
      await deleteWorkflow(await workflowOf(call, context), context);
      return noContent;
    },
  }),
];

/** Like {@link startUpdate}, only this function holds the code, see `dropBody`. */
async function startCreation(call: Call & Input<unknown, WorkflowFields>, context: ApiContext): Promise<Deployment> {
  const owner = await context.access.owner(call);
  return createWorkflow(
    withStepNames(() => call.body(), call.fields["steps"]),
    owner,
    call.user,
    context,
  );
}

async function startUpdate(call: Call & Input<unknown, WorkflowChanges>, context: ApiContext): Promise<Deployment> {
  const workflow = await workflowOf(call, context);
  return updateWorkflow(
    workflow,
    withStepNames(() => call.body(), call.fields["steps"]),
    call.user,
    context,
  );
}

/** Makes the caller's next list show the workflow like this response. */
async function changedReply(workflow: WorkflowResource, context: ApiContext) {
  await context.ports.pages.show(workflowKind, workflow);
  const facts = await factsOfAll(workflow.metadata.namespace, [workflow], context);
  return ok(workflowResponse(workflow, facts), await warningsOf(workflow, context));
}
