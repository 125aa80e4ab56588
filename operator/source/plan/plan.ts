import type { Build } from "../../../domain/component/definition.ts";
import type { RunError } from "../../../domain/run-products.ts";
import type { Hook } from "../../../domain/trigger.ts";
import { planCode, planCalls } from "../../deployable/parts.ts";
import { buildFor } from "../../configured/additional-props.ts";
import type { PlanInputs } from "./step.ts";
import type { Observed } from "../observe/observed.ts";
import { planDeletion } from "./plan-deletion.ts";
import { planMove } from "./plan-move.ts";
import { planDeployment } from "./plan-deployment.ts";
import { planFallback, planFallbackMove } from "./plan-fallback.ts";
import { mustRedeploy, planStop, planUpdate } from "./plan-update.ts";
import type { Blocked } from "../observe/blocked.ts";
import { blockedBy, codeBlockedBy, useOf } from "./policies.ts";
import { reportDisabled, reportFailed, reportReady } from "./report.ts";
import { isDeployed, isDone, isSettled } from "../observe/settled.ts";
import type { Step } from "./step.ts";
import { updateFailure } from "./update-failure.ts";
import { secretsFor } from "./desired.ts";

/**
 * The next steps from the observed to the desired state; none if they agree. A plan ends with the first step whose outcome decides what
 * comes next (a hook, a choice to record); then the source is observed again.
 *
 * Order of a deployment: identity, the component with its code, entry and endpoint (so that a service registered by `activate` can call
 * back at once), hooks `deploy` (once) and `activate`, timers. An update or deletion first removes the timers and runs `deactivate` with
 * the old code.
 */
export function plan(observed: Observed, inputs: PlanInputs): readonly Step[] {
  const { id, source } = observed;
  if (source.metadata.deletionTimestamp !== undefined) return planDeletion(observed, inputs);
  const code = planOwnCode(observed);
  if (code.length > 0) return code;
  const blocked = blockedBy(observed);
  if (blocked !== undefined) return isPaused(observed, blocked) ? [] : planFallback(observed, { blocked }, inputs);
  const reload = planReload(observed);
  if (reload.length > 0) return reload;
  const { owner, component } = observed;
  const build = buildFor(source, component);
  if (owner === undefined || component === undefined || build === undefined) return []; // blockedBy() has reported it.
  const desired = { id, owner, component, build };
  const claim = planClaim(observed, build, inputs);
  if (claim !== undefined) return [claim];
  const refused = updateFailure(observed, desired);
  if (refused !== undefined) return planFallback(observed, { refused }, inputs);
  const { deployed } = observed;
  if (observed.movesTo !== undefined) {
    // Runners of the new owner's pool must not write what a hook of the former owner produces.
    const stop = deployed?.owner === owner ? [] : planStop(observed);
    return stop.length > 0
      ? stop
      : (planFallbackMove(observed, build) ?? planMove(observed, desired, observed.movesTo, secretsFor(observed, desired)));
  }
  if (deployed === undefined || !isDeployed(observed, build) || mustRedeploy(observed)) return planUpdate(observed, desired, inputs);
  if (observed.secretsChanged) return [{ do: "write-deployment", deployment: deployed, secrets: secretsFor(observed, desired) }];
  const reports = {
    ready: () => reportReady(observed, desired, inputs),
    failed: (hook: Hook, error: RunError) => reportFailed(observed, desired, hook, error),
    disabled: () => reportDisabled(observed, desired.id, desired),
  };
  return planDeployment(observed, desired, reports, inputs.now);
}

/** Requests additional props, and records them before a deployment uses them. */
function planReload(observed: Observed): readonly Step[] {
  const { reloaded } = observed;
  const steps = isSettled(observed) ? [] : planCalls([useOf(observed)]);
  const digest = steps[0]?.calls[0]?.digest;
  if (digest === undefined || reloaded?.digest !== digest || "blocked" in reloaded) return steps;
  return [{ do: "claim", fields: { configurableProps: reloaded.props, configurableFor: digest } }];
}

/** Stores the source's own code as a component; its build is then deployed. */
const planOwnCode = (observed: Observed): readonly Step[] =>
  codeBlockedBy(observed) === undefined ? planCode(observed.source, [useOf(observed)]) : [];

/** The deployed version stays current while its component is rebuilt. */
function isPaused(observed: Observed, { reason }: Blocked): boolean {
  const { deployed, source } = observed;
  const isOfGeneration = (deployed?.sourceGeneration ?? deployed?.generation) === source.metadata.generation;
  return reason === "ComponentNotBuilt" && isOfGeneration && isDone(observed);
}

/** Undefined if everything is claimed. */
function planClaim(observed: Observed, { definition }: Build, inputs: PlanInputs): Step | undefined {
  const { nameSlug, endpointKey, pool } = observed.source.status;
  const needsEndpoint = definition.props.some((prop) => prop.type === "$.interface.http");
  const key = needsEndpoint ? (endpointKey ?? inputs.endpointKey) : endpointKey;
  if (nameSlug !== undefined && key === endpointKey && pool !== undefined) return undefined;
  // A new name's slug comes with its update: until then the source keeps its slug.
  return { do: "claim", fields: { id: observed.id, nameSlug: nameSlug ?? inputs.nameSlug, endpointKey: key, pool: observed.pool } };
}
