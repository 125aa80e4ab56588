import type { Build } from "../../../domain/component/definition.ts";
import type { Deployment, RefusedUpdate } from "../../../domain/source/deployment.ts";
import type { RunError } from "../../../domain/run-products.ts";
import type { Hook } from "../../../domain/trigger.ts";
import { disabledError, isDisabled } from "../../../domain/run/kills.ts";
import { hookError } from "./hooks.ts";
import type { Observed } from "../observe/observed.ts";
import { isDeployed } from "../observe/settled.ts";
import type { Desired } from "./desired.ts";
import { isOfVersion } from "../../versions.ts";

/** Why the requested update has failed, so that the previous version must run; undefined if it has not failed. */
export function updateFailure(observed: Observed, desired: Desired): RefusedUpdate | undefined {
  const { deployed, fallback } = observed;
  if (fallback === undefined) return undefined; // Nothing to return to: the source is suspended.
  const update = { sourceGeneration: observed.source.metadata.generation, bundle: desired.build.bundle };
  const known = deployed?.refused;
  if (known !== undefined && isSameUpdate(known, update)) return known;
  const failure = failedStep(observed) ?? (deployed === undefined ? undefined : failedDeployment(observed, deployed, desired.build));
  return failure === undefined ? undefined : { ...update, ...failure };
}

export function isSameUpdate(a: RefusedUpdate | undefined, b: Pick<RefusedUpdate, "sourceGeneration" | "bundle">): boolean {
  return a?.sourceGeneration === b.sourceGeneration && a.bundle === b.bundle;
}

interface Failure {
  readonly hook?: Hook;
  readonly error: RunError;
}

function failedStep({ failure }: Observed): Failure | undefined {
  return failure === undefined ? undefined : { error: failure };
}

function failedDeployment(observed: Observed, deployed: Deployment, build: Build): Failure | undefined {
  if (!isDeployed(observed, build)) return failedDeactivation(observed, deployed);
  if (observed.source.status.deployment === deployed.id) return undefined; // It was completed: a later failure is not one of the update.
  const hook = failedHook(observed, deployed);
  if (hook !== undefined) return hook;
  return isDisabled(observed.kills, deployed.id) ? { error: disabledError(deployed.source) } : undefined;
}

/** Pausing a source ignores the failure of its hook. */
function failedDeactivation(observed: Observed, deployed: Deployment): Failure | undefined {
  const { source, fallback } = observed;
  if (!source.spec.active || source.spec.ignoreHookErrors || fallback === undefined || !isOfVersion(fallback.version, deployed))
    return undefined;
  const error = hookError(observed, "deactivate", deployed);
  return error === undefined ? undefined : { hook: "deactivate", error };
}

/** The hook that failed at the start of a deployment. */
export function failedHook(observed: Observed, deployed: Deployment): { readonly hook: Hook; readonly error: RunError } | undefined {
  for (const hook of ["deploy", "activate"] as const) {
    const error = hookError(observed, hook, deployed);
    if (error !== undefined) return { hook, error };
  }
  return undefined;
}
