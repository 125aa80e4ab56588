import type { Fresh } from "./inputs.ts";
import { hookError, hookNeeded, nextHook, runHook } from "./hooks.ts";
import type { Observed } from "./observed.ts";
import { reportUpdating } from "./report.ts";
import { isDone, wasReady } from "./settled.ts";
import type { Step } from "./step.ts";
import { failedHook } from "./update-failure.ts";
import { isOfVersion } from "./version.ts";
import { keepVersion, secretsFor, setTimers, wantedDeployment, writeEndpoint, type Wanted } from "./desired.ts";

/** The entry is missing, or made from an older generation or another build: stop what is deployed, then write the new entry. */
export function planUpdate(observed: Observed, wanted: Wanted, fresh: Fresh): readonly Step[] {
  const { source, deployed } = observed;
  const deployment = wantedDeployment(observed, wanted, fresh);
  const write: Step = { do: "write-deployment", deployment, secrets: secretsFor(observed, wanted) };
  const endpoint = writeEndpoint(observed, wanted, source.spec.active);
  // Ready, yet the entry is gone: the streams were lost. Restore it without its hooks; the entry comes last, since it is
  // by the entry that the next plan sees whether all of this was done.
  if (deployed === undefined && wasReady(source))
    return [...(source.spec.active ? setTimers(observed, wanted, deployment.generation) : []), ...endpoint, write];
  const begin = beginUpdate(observed);
  const stop = planStop(observed);
  if (stop.length > 0) return [...begin, ...stop];
  return [...begin, ...tellFailedDeactivation(observed), { do: "end-timers", source: wanted.id }, write, ...endpoint];
}

/**
 * The status says that the version is being replaced before anything of it is stopped. From then on any process that gives the update up, also
 * after a crash, knows that timers may have ended and that `deactivate` may have been asked for.
 */
function beginUpdate(observed: Observed): readonly Step[] {
  const { standing, deployed, source } = observed;
  if (standing === undefined || source.status.deployment === undefined) return [];
  const isRestored = isOfVersion(standing.version, deployed) && deployed.id !== standing.version.deployment.id;
  return [
    ...(isRestored ? [keepVersion({ ...standing.version, deployment: deployed }, standing.version.deployedAt)] : []),
    ...reportUpdating(observed),
  ];
}

/**
 * Stops what is deployed, with the code, the owner and the runners it has, before its entry is replaced. None: it has stopped, or there is
 * nothing to stop. What was asked of a deployment that is not complete ends first: a hook that is still waiting must not run on the
 * code of the next one.
 */
export function planStop(observed: Observed): readonly Step[] {
  const { deployed } = observed;
  if (deployed?.active !== true || failedHook(observed, deployed) !== undefined) return []; // What did not begin has nothing to end.
  const hook = isComplete(observed) ? undefined : nextHook(observed, deployed);
  if (hook === undefined && !hookNeeded(observed, "deactivate", deployed, 1)) return [];
  return [{ do: "end-timers", source: deployed.source }, runHook(observed, deployed, hook ?? "deactivate")];
}

/** Were all hooks of what is deployed run and all timers set? */
function isComplete({ source, deployed, standing }: Observed): boolean {
  return source.status.deployment === deployed?.id || standing?.version.deployment.id === deployed?.id;
}

function tellFailedDeactivation(observed: Observed): readonly Step[] {
  const { deployed } = observed;
  const error = deployed === undefined ? undefined : hookError(observed, "deactivate", deployed);
  if (error === undefined) return [];
  const what = observed.source.spec.active ? "updated" : "paused";
  const message = `${what} although its hook deactivate failed: ${error.name}: ${error.message}`;
  return [{ do: "tell", type: "Warning", reason: "HookFailed", message }];
}

/**
 * Is this entry of what is asked for unable to go on? It was stopped for an update that was then taken back, or it restored this version
 * and its hook failed. Another deployment of the same begins, since hooks run once for each.
 */
export function mustBeginAgain(observed: Observed): boolean {
  const { deployed, hooks } = observed;
  if (deployed?.active !== true || isDone(observed)) return false;
  if (hooks.deactivate?.generation === deployed.generation) return true;
  return deployed.restores !== undefined && failedHook(observed, deployed) !== undefined;
}
