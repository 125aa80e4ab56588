import { finalizer, labels } from "../../../crds/resource.ts";
import type { Build } from "../../../domain/component/definition.ts";
import type { RunError } from "../../../domain/run-products.ts";
import type { Hook } from "../../../domain/trigger.ts";
import { buildFor, reloadDigest } from "../../configured/additional-props.ts";
import { isWritten } from "../../configured/own-component.ts";
import { componentNameOf, hasOwnCode } from "../observe/component-of.ts";
import type { PlanInputs } from "./inputs.ts";
import type { Observed } from "../observe/observed.ts";
import { planDeletion } from "./plan-deletion.ts";
import { planMove } from "./plan-move.ts";
import { planDeployment } from "./plan-deployment.ts";
import { planFallback, planFallbackMove } from "./plan-fallback.ts";
import { mustRedeploy, planStop, planUpdate } from "./plan-update.ts";
import type { Blocked } from "./blocked.ts";
import { blockedBy, codeBlockedBy } from "./policies.ts";
import { reportDisabled, reportFailed, reportReady } from "../report.ts";
import { isDeployed, isDone, isSettled } from "../observe/settled.ts";
import type { Claim, Step } from "./step.ts";
import { updateFailure } from "../update/update-failure.ts";
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
  const { source } = observed;
  if (source.metadata.deletionTimestamp !== undefined) return planDeletion(observed, inputs);
  const id = source.status.id;
  const labelled = source.metadata.labels[labels.id];
  if (id === undefined || labelled !== id || !source.metadata.finalizers.includes(finalizer))
    return [planAdoption(observed, id ?? inputs.id, inputs)];
  const code = planCode(observed);
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
  if (claim !== undefined) return [{ do: "claim", ...claim }];
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

/** Requests additional props before a deployment uses them. */
function planReload(observed: Observed): readonly Step[] {
  const { source, component, reloaded } = observed;
  const digest = isSettled(observed) ? undefined : reloadDigest(source, component);
  if (digest === undefined) return [];
  if (reloaded?.digest !== digest || "blocked" in reloaded) return [{ do: "reload-props", digest }];
  return [{ do: "claim-props", digest, props: reloaded.props }];
}

/** Stores the source's own code as a component; its build is then deployed. */
function planCode(observed: Observed): readonly Step[] {
  const { source, component, code } = observed;
  if (code === undefined || "blocked" in code || !hasOwnCode(source) || codeBlockedBy(observed) !== undefined) return [];
  if (component?.metadata.deletionTimestamp !== undefined) return []; // It is created again once this one is gone.
  const { url } = source.spec;
  const generation = url === undefined ? undefined : String(source.metadata.generation);
  const own = { name: componentNameOf(source), code: code.code, url, generation };
  return component !== undefined && isWritten(own, component) ? [] : [{ do: "write-component", ...own, now: component }];
}

/** The deployed version stays current while its component is rebuilt. */
function isPaused(observed: Observed, { reason }: Blocked): boolean {
  const { deployed, source } = observed;
  const isOfGeneration = (deployed?.sourceGeneration ?? deployed?.generation) === source.metadata.generation;
  return reason === "ComponentNotBuilt" && isOfGeneration && isDone(observed);
}

/** A source that cannot be deployed yet claims its names later, in a step of its own. */
function planAdoption(observed: Observed, id: string, inputs: PlanInputs): Step {
  const build = buildFor(observed.source, observed.component);
  const isBlocked = build === undefined || blockedBy(observed) !== undefined;
  const claimsLater = isBlocked || planCode(observed).length > 0 || planReload(observed).length > 0;
  const claim = claimsLater ? undefined : planClaim(observed, build, inputs);
  return { do: "adopt", id, ...(claim === undefined ? {} : { claim }) };
}

/** Undefined if everything is claimed. */
function planClaim(observed: Observed, { definition }: Build, inputs: PlanInputs): Claim | undefined {
  const { nameSlug, endpointKey, pool } = observed.source.status;
  const needsEndpoint = definition.props.some((prop) => prop.type === "$.interface.http");
  const key = needsEndpoint ? (endpointKey ?? inputs.endpointKey) : endpointKey;
  if (nameSlug !== undefined && key === endpointKey && pool !== undefined) return undefined;
  // A new name's slug comes with its update: until then the source keeps its slug.
  return { nameSlug: nameSlug ?? inputs.nameSlug, endpointKey: key, pool: observed.pool };
}
