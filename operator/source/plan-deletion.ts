import { finalizer } from "../../crds/resource.ts";
import type { Deployment } from "../../domain/deployment.ts";
import { hasOwnCode, isMadeFor } from "./component-of.ts";
import type { Fresh } from "./inputs.ts";
import { hookError, hookNeeded, runHook } from "./hooks.ts";
import type { Observed } from "./observed.ts";
import type { Step } from "./step.ts";

/** A failing `deactivate` is tried this often before the deletion goes on without it. */
const deactivateAttempts = 3;
/** How long it waits for a hook that does not even run, when hook errors are to be ignored. */
const shortPatienceMs = 30_000;

/**
 * Stop what starts runs, run `deactivate`, then take everything away; the entry before the history, the finalizer last. All it
 * needs is in the entry: the component, the Secrets and the namespace's label may be gone already, as they are when the namespace
 * is deleted. Nor does a hook that cannot run keep anything in deletion for ever.
 */
export function planDeletion(observed: Observed, fresh: Fresh): readonly Step[] {
  const { source, owner, pool, deployed } = observed;
  if (!source.metadata.finalizers.includes(finalizer)) return [];
  const { id, endpointKey } = source.status;
  const component = removeComponent(observed);
  if (id === undefined) return [...component, { do: "release" }];
  const endTimers: Step = { do: "end-timers", source: id };
  const isWanted = deployed?.active === true && hookNeeded(observed, "deactivate", deployed, attemptsOf(observed));
  if (isWanted && !isPatienceOver(observed, fresh)) return [endTimers, runHook(observed, deployed, "deactivate")];
  const whose = deployed?.owner ?? owner;
  return [
    ...(isWanted ? [tellSkipped(observed, fresh)] : tellFailed(observed, deployed)),
    endTimers,
    ...(endpointKey === undefined ? [] : [{ do: "remove-endpoint", key: endpointKey } as const]),
    { do: "remove-deployment", pool, source: id },
    { do: "forget-version", source: id },
    ...(whose === undefined ? [] : [{ do: "forget-history", owner: whose, source: id } as const]),
    ...component,
    { do: "end-connections" },
    { do: "release" },
  ];
}

function attemptsOf({ source }: Observed): number {
  return source.spec.ignoreHookErrors ? 1 : deactivateAttempts;
}

function isPatienceOver({ source }: Observed, { now, deletionPatienceMs }: Fresh): boolean {
  const { deletionTimestamp = "" } = source.metadata;
  const patienceMs = source.spec.ignoreHookErrors ? Math.min(shortPatienceMs, deletionPatienceMs) : deletionPatienceMs;
  return now - Date.parse(deletionTimestamp) > patienceMs;
}

function removeComponent({ source, component }: Observed): readonly Step[] {
  if (!hasOwnCode(source) || component === undefined || !isMadeFor(source, component)) return [];
  return component.metadata.deletionTimestamp === undefined ? [{ do: "remove-component", name: component.metadata.name }] : [];
}

function tellSkipped({ source }: Observed, { now }: Fresh): Step {
  const seconds = Math.round((now - Date.parse(source.metadata.deletionTimestamp ?? "")) / 1_000);
  return {
    do: "tell",
    type: "Warning",
    reason: "HookSkipped",
    message: `deleted without its hook deactivate, which has not ended in ${seconds} s: what the hook undoes elsewhere may be left there`,
  };
}

function tellFailed(observed: Observed, deployed: Deployment | undefined): readonly Step[] {
  const error = deployed === undefined ? undefined : hookError(observed, "deactivate", deployed);
  if (error === undefined) return [];
  const message = `deleted although its hook deactivate failed: ${error.name}: ${error.message}`;
  return [{ do: "tell", type: "Warning", reason: "HookFailed", message }];
}
