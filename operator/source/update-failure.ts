import type { Build } from "../../domain/definition.ts";
import type { Deployment, RefusedUpdate } from "../../domain/deployment.ts";
import type { Hook, RunError } from "../../domain/invocation.ts";
import { disabledError, isDisabled } from "../../domain/kills.ts";
import { hookError } from "./hooks.ts";
import type { Observed } from "./observed.ts";
import { isDeployed } from "./settled.ts";
import type { Wanted } from "./desired.ts";
import { isOfVersion } from "./version.ts";

/** Why the update that the source asks for has failed, so that the version before it has to run; undefined: it has not failed. */
export function updateFailure(observed: Observed, wanted: Wanted): RefusedUpdate | undefined {
  const { deployed, standing } = observed;
  if (standing === undefined) return undefined; // Nothing to return to: the source is suspended.
  const about = { sourceGeneration: observed.source.metadata.generation, bundle: wanted.build.bundle };
  const known = deployed?.refused;
  if (known !== undefined && isSameUpdate(known, about)) return known;
  const failure = failedStep(observed) ?? (deployed === undefined ? undefined : failedDeployment(observed, deployed, wanted.build));
  return failure === undefined ? undefined : { ...about, ...failure };
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
  if (observed.source.status.deployment === deployed.id) return undefined; // It was completed: what fails now is no update.
  const hook = failedHook(observed, deployed);
  if (hook !== undefined) return hook;
  return isDisabled(observed.kills, deployed.id) ? { error: disabledError(deployed.source) } : undefined;
}

/** A source that is paused stops whatever its hook says. */
function failedDeactivation(observed: Observed, deployed: Deployment): Failure | undefined {
  const { source, standing } = observed;
  if (!source.spec.active || source.spec.ignoreHookErrors || standing === undefined || !isOfVersion(standing.version, deployed))
    return undefined;
  const error = hookError(observed, "deactivate", deployed);
  return error === undefined ? undefined : { hook: "deactivate", error };
}

/** The hook of a deployment that failed while it was begun. */
export function failedHook(observed: Observed, deployed: Deployment): { readonly hook: Hook; readonly error: RunError } | undefined {
  for (const hook of ["deploy", "activate"] as const) {
    const error = hookError(observed, hook, deployed);
    if (error !== undefined) return { hook, error };
  }
  return undefined;
}
