import type { Resource } from "../../crds/resource.ts";
import { sameStatus } from "../controller/conditions.ts";
import { nextStatus, readyConditions, shortened, withFields, type Fields, type Verdict } from "../controller/status.ts";
import { settledHealth } from "../health/status-health.ts";
import type { Deployable, DeployableStatus } from "./deployable.ts";
import type { WrittenStep } from "./step.ts";

type HealthOf<S, T extends DeployableStatus> = Pick<Deployable<S, T, never, never>, "healthOf">["healthOf"];
type Report<T> = Extract<WrittenStep<T>, { do: "report" }>;

/** No steps if the status says so already. A status of an earlier Headwater has no state: the refresh of health adds it. */
export function report<S, T extends DeployableStatus>(
  resource: Resource<S, T>,
  healthOf: HealthOf<S, T>,
  fields: Fields<T>,
  verdict: Verdict,
  eventType: "Normal" | "Warning" | undefined,
): readonly WrittenStep<T>[] {
  const { reason } = verdict;
  const message = shortened(verdict.message);
  const step: Report<T> = { do: "report", fields, verdict: { ...verdict, message } };
  const next = resource.status.state === undefined ? deployedStatus(resource, step, 0) : reportedStatus(resource, healthOf, step, 0);
  if (sameStatus(timeless(resource.status), timeless(next))) return [];
  return eventType === undefined ? [step] : [step, { do: "record-event", type: eventType, reason, message }];
}

/** The status after the step, with the health that follows from it. The refresh of health adds what follows from runs. */
export function reportedStatus<S, T extends DeployableStatus>(
  resource: Resource<S, T>,
  healthOf: HealthOf<S, T>,
  step: Omit<Report<T>, "do">,
  now: number,
): T {
  return withHealth(resource, deployedStatus(resource, step, now), healthOf);
}

/** Adds the health that follows from the next status. Failed runs count until something else is deployed. */
export function withHealth<S, T extends DeployableStatus>(resource: Resource<S, T>, next: T, healthOf: HealthOf<S, T>): T {
  const isSame = resource.status.deployment === next.deployment;
  return withFields(next, settledHealth(resource.status, healthOf(resource), healthOf({ ...resource, status: next }), isSame));
}

function deployedStatus<S, T extends DeployableStatus>(
  resource: Resource<S, T>,
  { fields, verdict }: Omit<Report<T>, "do">,
  now: number,
): T {
  return nextStatus(resource, { fields, conditions: readyConditions(verdict), now });
}

function timeless(status: DeployableStatus): object {
  return {
    ...status,
    updatedAt: 0,
    nextTickTime: "",
    problem: status.problem === undefined ? undefined : { ...status.problem, since: "" },
    conditions: status.conditions?.map((condition) => ({ ...condition, lastTransitionTime: "" })),
  };
}
