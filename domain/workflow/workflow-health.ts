import { degradedBy, type RecentOutcomes } from "../outcomes.ts";
import { errorLine, healthOf, healthStates, shortened, type DeploymentVerdict, type Problem } from "../source/source-health.ts";

/** As of a source; `degraded`: the last run succeeded, but too few of the recent ones. */
export const workflowStates = [...healthStates, "degraded"] as const;
export type WorkflowState = (typeof workflowStates)[number];

export interface WorkflowHealth {
  readonly state: WorkflowState;
  readonly problem: Problem | undefined;
}

/** @param recent ended runs of the running version; undefined: there are none */
export function workflowHealth(workflow: {
  readonly isActive: boolean;
  readonly verdict: DeploymentVerdict | undefined;
  readonly deployment: string | undefined;
  readonly accounts?: Problem | undefined;
  readonly recent: RecentOutcomes | undefined;
}): WorkflowHealth {
  const { deployment, recent } = workflow;
  const { failing, lastError } = recent ?? {};
  const failed =
    failing === undefined || lastError === undefined || deployment === undefined ? undefined : { deployment, ...failing, error: lastError };
  const health = healthOf({ ...workflow, failing: failed });
  const degraded = degradedBy(recent);
  if (health.state !== "active" || recent === undefined || degraded === undefined || lastError === undefined) return health;
  const message = `${degraded.count} of the last ${recent.total} runs failed within an hour, the last of them: ${errorLine(lastError)}`;
  return { state: "degraded", problem: { code: "runs_failed", message: shortened(message), since: degraded.since } };
}
