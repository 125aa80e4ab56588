import type { Resource } from "./resource.ts";
import { runningSpec, type SourceSpec, type SourceStatus } from "./source.ts";
import { healthOf, type DeploymentVerdict, type FailedRuns, type SourceHealth } from "../domain/source/source-health.ts";

type SourceResource = Pick<Resource<SourceSpec, SourceStatus>, "metadata" | "spec" | "status">;

/** Computes the health of a source from its resource and its latest runs. */
export function sourceHealth(source: SourceResource, failing?: FailedRuns): SourceHealth {
  const { deployment } = source.status;
  return healthOf({ isActive: runningSpec(source).active, verdict: verdictOf(source), deployment, failing });
}

/** What the operator reports about the current spec of a resource of any kind; undefined: nothing yet. */
export function verdictOf({
  metadata,
  status,
}: Pick<Resource<unknown, Pick<SourceStatus, "conditions">>, "metadata" | "status">): DeploymentVerdict | undefined {
  const ready = status.conditions?.find(({ type }) => type === "Ready");
  if (ready === undefined || ready.observedGeneration < metadata.generation) return undefined;
  const { reason, message, lastTransitionTime } = ready;
  return { isReady: ready.status === "True", reason, message, since: Date.parse(lastTransitionTime) };
}
