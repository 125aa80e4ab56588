import type { RecentOutcomes } from "../domain/outcomes.ts";
import { workflowHealth, type WorkflowHealth } from "../domain/workflow/workflow-health.ts";
import { accountsProblem, verdictOf } from "./source-health.ts";
import type { WorkflowResource } from "./workflow.ts";

/** Computes the health of a workflow from its resource and the latest runs of its running version. */
export function workflowHealthOf(workflow: WorkflowResource, recent?: RecentOutcomes): WorkflowHealth {
  const { spec, status } = workflow;
  const [isActive, accounts] = [status.active ?? spec.active, accountsProblem(workflow)];
  return workflowHealth({ isActive, verdict: verdictOf(workflow), deployment: status.deployment, accounts, recent });
}
