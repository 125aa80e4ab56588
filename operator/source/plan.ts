import { finalizer, labels } from "../../crds/resource.ts";
import type { Hook, RunError } from "../../domain/invocation.ts";
import { isSameCode } from "../../domain/component-code.ts";
import { buildFor, wantsReload } from "./additional-props.ts";
import { componentNameOf, hasOwnCode, madeForGeneration } from "./component-of.ts";
import type { Fresh } from "./inputs.ts";
import type { Observed } from "./observed.ts";
import { planDeletion } from "./plan-deletion.ts";
import { planMove } from "./plan-move.ts";
import { planDeployment } from "./plan-deployment.ts";
import { planStanding, planStandingMove } from "./plan-fallback.ts";
import { mustBeginAgain, planStop, planUpdate } from "./plan-update.ts";
import type { Blocked } from "./blocked.ts";
import { blockedBy, codeBlockedBy } from "./policies.ts";
import { reportDisabled, reportFailed, reportReady } from "./report.ts";
import { isDeployed, isDone, isSettled } from "./settled.ts";
import type { Step } from "./step.ts";
import { updateFailure } from "./update-failure.ts";
import { secretsFor } from "./desired.ts";

/**
 * From what is to what should be: the next steps, or none when all is as it should be. A plan ends with the first step
 * whose outcome decides what comes next (a hook, a choice to be written down); then the world is observed again.
 *
 * A source is deployed in this order: identity, the component that holds its code, entry and endpoint (so that a service which
 * `activate` registers with can call back at once), hooks `deploy` (once in its life) and `activate`, timers. An update first
 * ends the timers and runs `deactivate` on the old code; so does a deletion.
 */
export function plan(observed: Observed, fresh: Fresh): readonly Step[] {
  const { source } = observed;
  if (source.metadata.deletionTimestamp !== undefined) return planDeletion(observed, fresh);
  const id = source.status.id;
  const labelled = source.metadata.labels[labels.id];
  if (id === undefined || labelled !== id || !source.metadata.finalizers.includes(finalizer)) return [{ do: "adopt", id: id ?? fresh.id }];
  const code = planCode(observed);
  if (code.length > 0) return code;
  const blocked = blockedBy(observed);
  if (blocked !== undefined) return isPaused(observed, blocked) ? [] : planStanding(observed, { blocked }, fresh);
  const reload = planReload(observed);
  if (reload.length > 0) return reload;
  const { owner, component } = observed;
  const build = buildFor(source, component);
  if (owner === undefined || component === undefined || build === undefined) return []; // blockedBy() told of it.
  const wanted = { id, owner, component, build };
  const needsEndpoint = build.definition.props.some((prop) => prop.type === "$.interface.http");
  const claim = planClaim(observed, needsEndpoint, fresh);
  if (claim.length > 0) return claim;
  const refused = updateFailure(observed, wanted);
  if (refused !== undefined) return planStanding(observed, { refused }, fresh);
  const { deployed } = observed;
  if (observed.movesTo !== undefined) {
    // The runners of another owner's pool may not write what a hook of the former owner's leaves.
    const stop = deployed?.owner === owner ? [] : planStop(observed);
    return stop.length > 0
      ? stop
      : (planStandingMove(observed, build) ?? planMove(observed, wanted, observed.movesTo, secretsFor(observed, wanted)));
  }
  if (deployed === undefined || !isDeployed(observed, build) || mustBeginAgain(observed)) return planUpdate(observed, wanted, fresh);
  if (observed.secretsChanged) return [{ do: "write-deployment", deployment: deployed, secrets: secretsFor(observed, wanted) }];
  const reports = {
    ready: () => reportReady(observed, wanted, fresh),
    failed: (hook: Hook, error: RunError) => reportFailed(observed, wanted, hook, error),
    disabled: () => reportDisabled(observed, wanted.id, wanted),
  };
  return planDeployment(observed, wanted, reports, fresh.now);
}

/** A component with additional props is asked for them before anything is deployed by them. */
function planReload(observed: Observed): readonly Step[] {
  const { source, component, reloaded } = observed;
  const digest = isSettled(observed) ? undefined : wantsReload(source, component);
  if (digest === undefined) return [];
  if (reloaded?.digest !== digest || "blocked" in reloaded) return [{ do: "reload-props", digest }];
  return [{ do: "claim-props", digest, props: reloaded.props }];
}

/** Its code, where it has some of its own, becomes a component like others; what is built of it is deployed then. */
function planCode(observed: Observed): readonly Step[] {
  const { source, component, code } = observed;
  if (code === undefined || "blocked" in code || !hasOwnCode(source) || codeBlockedBy(observed) !== undefined) return [];
  if (component?.metadata.deletionTimestamp !== undefined) return []; // It is made again once it is gone.
  const { url } = source.spec;
  const generation = url === undefined ? undefined : String(source.metadata.generation);
  const isWritten =
    component !== undefined &&
    isSameCode(component.spec, code.code) &&
    component.spec.url === url &&
    component.metadata.annotations[madeForGeneration] === generation;
  return isWritten ? [] : [{ do: "write-component", name: componentNameOf(source), code: code.code, url, generation, now: component }];
}

/** What runs goes on being what should run, until the component is built anew. */
function isPaused(observed: Observed, { reason }: Blocked): boolean {
  const { deployed, source } = observed;
  const isOfGeneration = (deployed?.sourceGeneration ?? deployed?.generation) === source.metadata.generation;
  return reason === "ComponentNotBuilt" && isOfGeneration && isDone(observed);
}

function planClaim(observed: Observed, needsEndpoint: boolean, fresh: Fresh): readonly Step[] {
  const { nameSlug, endpointKey, pool } = observed.source.status;
  const key = needsEndpoint ? (endpointKey ?? fresh.endpointKey) : endpointKey;
  if (nameSlug !== undefined && key === endpointKey && pool !== undefined) return [];
  // The slug of another name comes with the update to it: until then the source has the name that it had.
  return [{ do: "claim", nameSlug: nameSlug ?? fresh.nameSlug, endpointKey: key, pool: observed.pool }];
}
