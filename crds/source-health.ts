import type { Resource } from "./resource.ts";
import { runningSpec, type SourceSpec, type SourceStatus } from "./source.ts";
import {
  deploymentProblem,
  healthOf,
  type DeploymentVerdict,
  type FailedRuns,
  type Problem,
  type SourceHealth,
} from "../domain/source/source-health.ts";

type WithConditions = Pick<Resource<unknown, Pick<SourceStatus, "conditions">>, "status">;
type SourceResource = Pick<Resource<SourceSpec, SourceStatus>, "metadata" | "spec" | "status">;

/** Computes the health of a source from its resource and its latest runs. */
export function sourceHealth(source: SourceResource, failing?: FailedRuns): SourceHealth {
  const { deployment } = source.status;
  return healthOf({
    isActive: runningSpec(source).active,
    verdict: verdictOf(source),
    deployment,
    accounts: accountsProblem(source),
    failing,
  });
}

/** Type of the condition of sources and workflows that says whether a person must connect one of their accounts again. */
export const accountsConnected = "AccountsConnected" as const;

export function accountsProblem({ status }: WithConditions): Problem | undefined {
  const condition = status.conditions?.find(({ type }) => type === accountsConnected);
  if (condition?.status !== "False") return undefined;
  const { reason, message, lastTransitionTime } = condition;
  return deploymentProblem({ isReady: false, reason, message, since: Date.parse(lastTransitionTime) });
}

/** What the operator reports about the current spec of a resource of any kind; undefined: nothing yet. */
export function verdictOf({ metadata, status }: WithConditions & Pick<Resource, "metadata">): DeploymentVerdict | undefined {
  const ready = status.conditions?.find(({ type }) => type === "Ready");
  if (ready === undefined || ready.observedGeneration < metadata.generation) return undefined;
  const { reason, message, lastTransitionTime } = ready;
  return { isReady: ready.status === "True", reason, message, since: Date.parse(lastTransitionTime) };
}
