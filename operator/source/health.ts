import type { SourceResource } from "../../crds/source.ts";
import { sourceHealth } from "../../crds/source-health.ts";
import type { SourceHealth } from "../../domain/source/source-health.ts";
import type { StatusFields } from "./plan/step.ts";

/**
 * Health fields of the status once `status` is written. Runs are checked every few minutes (activity.ts): until then a source with failing
 * runs stays failing, unless something else is deployed.
 */
export function healthFields(before: SourceResource, status: SourceResource["status"]): StatusFields {
  const { state, problem, deployment } = before.status;
  const known = sourceHealth(before);
  const next = sourceHealth({ ...before, status });
  const isFailing = known.state === "active" && (state === "failing" || state === "disabled");
  if (next.state === "active" && isFailing && deployment === status.deployment) return { state, problem };
  return statusHealth(next);
}

export function statusHealth({ state, problem }: SourceHealth): Pick<StatusFields, "state" | "problem"> {
  return { state, problem: problem === undefined ? undefined : { ...problem, since: new Date(problem.since).toISOString() } };
}
