import type { PlanInputs } from "./step.ts";
import { hookError, hookNeeded, nextHook, runHook } from "./hooks.ts";
import type { Observed } from "../observe/observed.ts";
import { reportUpdating } from "./report.ts";
import { isDone, wasReady } from "../observe/settled.ts";
import type { Step } from "./step.ts";
import { failedHook } from "./update-failure.ts";
import { isOfVersion } from "../../versions.ts";
import { keepVersion, secretsFor, setTimers, desiredDeployment, writeEndpoint, type Desired } from "./desired.ts";

/** The entry is missing or outdated (generation or build): stop what is deployed, then write the new entry. */
export function planUpdate(observed: Observed, desired: Desired, inputs: PlanInputs): readonly Step[] {
  const { source, deployed } = observed;
  const deployment = desiredDeployment(observed, desired, inputs);
  const secrets = secretsFor(observed, desired);
  const endpoint = writeEndpoint(observed, desired, source.spec.active);
  // The entry is gone although the source was ready: the streams were lost. Restore it without hooks. Write the entry last, because the
  // next plan takes it as proof that the rest was done.
  if (deployed === undefined && wasReady(source)) {
    const { startsWith: _startsWith, ...restored } = deployment;
    const timers = source.spec.active ? setTimers(observed, desired, deployment.generation) : [];
    return [...timers, ...endpoint, { do: "write-deployment", deployment: restored, secrets }];
  }
  const begin = beginUpdate(observed);
  const stop = planStop(observed);
  if (stop.length > 0) return [...begin, ...stop];
  const endTimers: readonly Step[] = hasNoTimers(observed) ? [] : [{ do: "end-timers" }];
  return [...begin, ...failedDeactivationEvents(observed), ...endTimers, { do: "write-deployment", deployment, secrets }, ...endpoint];
}

/** Its entry is written before its first timer is set. */
const hasNoTimers = ({ source, deployed }: Observed): boolean => deployed === undefined && source.status.deployment === undefined;

/**
 * Report the replacement before stopping anything. Any process that later abandons the update, also after a crash, then knows that timers
 * may be gone and `deactivate` may have been requested.
 */
function beginUpdate(observed: Observed): readonly Step[] {
  const { fallback, deployed, source } = observed;
  if (fallback === undefined || source.status.deployment === undefined) return [];
  const isRestored = isOfVersion(fallback.version, deployed) && deployed.id !== fallback.version.deployment.id;
  return [
    ...(isRestored ? [keepVersion({ ...fallback.version, deployment: deployed }, fallback.version.deployedAt)] : []),
    ...reportUpdating(observed),
  ];
}

/**
 * Stops what is deployed, with its own code, owner and runners, before its entry is replaced. No steps: it is already stopped. Hooks of an
 * incomplete deployment finish first: a queued hook must not run with the code of the next deployment.
 */
export function planStop(observed: Observed): readonly Step[] {
  const { deployed } = observed;
  if (deployed?.active !== true || failedHook(observed, deployed) !== undefined) return []; // A failed start needs no stop.
  const hook = isComplete(observed) ? undefined : nextHook(observed, deployed);
  if (hook === undefined && !hookNeeded(observed, "deactivate", deployed, 1)) return [];
  return [{ do: "end-timers" }, runHook(observed, deployed, hook ?? "deactivate")];
}

/** Have all its hooks run and all its timers been set? */
function isComplete({ source, deployed, fallback }: Observed): boolean {
  return source.status.deployment === deployed?.id || fallback?.version.deployment.id === deployed?.id;
}

function failedDeactivationEvents(observed: Observed): readonly Step[] {
  const { deployed } = observed;
  const error = deployed === undefined ? undefined : hookError(observed, "deactivate", deployed);
  if (error === undefined) return [];
  const what = observed.source.spec.active ? "updated" : "paused";
  const message = `${what} although its hook deactivate failed: ${error.name}: ${error.message}`;
  return [{ do: "record-event", type: "Warning", reason: "HookFailed", message }];
}

/**
 * Can the entry of the requested version no longer be completed? It was stopped for an update that was then reverted, or it restored this
 * version and its hook failed. A new deployment is needed, since hooks run once for each.
 */
export function mustRedeploy(observed: Observed): boolean {
  const { deployed, hooks } = observed;
  if (deployed?.active !== true || isDone(observed)) return false;
  if (hooks.deactivate?.generation === deployed.generation) return true;
  return deployed.restores !== undefined && failedHook(observed, deployed) !== undefined;
}
