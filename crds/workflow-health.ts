import type { RecentOutcomes } from "../domain/outcomes.ts";
import { workflowHealth, type WorkflowHealth } from "../domain/workflow/workflow-health.ts";
import { verdictOf } from "./source-health.ts";
import type { WorkflowResource } from "./workflow.ts";

/** Computes the health of a workflow from its resource and the latest runs of its running version. */
export function workflowHealthOf(workflow: WorkflowResource, recent?: RecentOutcomes): WorkflowHealth {
  const { spec, status } = workflow;
  return workflowHealth({ isActive: status.active ?? spec.active, verdict: verdictOf(workflow), deployment: status.deployment, recent });
}
