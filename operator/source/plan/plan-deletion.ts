import { finalizer } from "../../../crds/resource.ts";
import type { Deployment } from "../../../domain/source/deployment.ts";
import { isMadeFor } from "../../configured/component.ts";
import { hasOwnCode } from "../observe/component-of.ts";
import type { PlanInputs } from "./step.ts";
import { hookError, hookNeeded, runHook } from "./hooks.ts";
import type { Observed } from "../observe/observed.ts";
import type { Step } from "./step.ts";

/** Attempts of a failing `deactivate` before the deletion continues without it. */
const deactivateAttempts = 3;
/** How long to wait for a hook that does not run at all, if hook errors are ignored. */
const maxIgnoredWaitMs = 30_000;
/** How long a deletion waits until what the source has accepted has ended. A long run, or a missing runner, must not hold it up. */
const maxQueueWaitMs = 10_000;

/**
 * Stops the triggers, runs `deactivate`, has runners end what the source has accepted, then removes everything: the entry before the
 * history, the finalizer last. Uses only the deployment entry: when a namespace is deleted, the component, Secrets and owner label may
 * already be gone. A hook that cannot run delays the deletion only for a bounded time.
 */
export function planDeletion(observed: Observed, inputs: PlanInputs): readonly Step[] {
  const { source, owner, pool, deployed } = observed;
  if (!source.metadata.finalizers.includes(finalizer)) return [];
  const { id, endpointKey } = source.status;
  const component = removeComponent(observed);
  if (id === undefined) return [...component, { do: "release" }];
  const endTimers: Step = { do: "end-timers" };
  const mustDeactivate = deployed?.active === true && hookNeeded(observed, "deactivate", deployed, maxAttemptsOf(observed));
  if (mustDeactivate && !isOverdue(observed, inputs)) return [endTimers, runHook(observed, deployed, "deactivate")];
  const removeEndpoint: readonly Step[] = endpointKey === undefined ? [] : [{ do: "remove-endpoint", key: endpointKey }];
  if (deployed !== undefined && deployed.ending === undefined) {
    const ending = { ...deployed, active: false, ending: inputs.now };
    const events = mustDeactivate ? [skippedEvent(observed, inputs)] : failedEvents(observed, deployed);
    return [...events, endTimers, ...removeEndpoint, { do: "write-deployment", deployment: ending, secrets: "as they are" }];
  }
  const { queued = 0 } = observed;
  if (deployed?.ending !== undefined && queued > 0 && inputs.now - deployed.ending < maxQueueWaitMs) return [{ do: "await-queue" }];
  const historyOwner = deployed?.owner ?? owner;
  return [
    ...(queued > 0 ? [droppedEvent(queued)] : []),
    endTimers,
    ...removeEndpoint,
    { do: "remove-deployment", pool },
    { do: "forget-version" },
    ...(historyOwner === undefined ? [] : [{ do: "forget-history", owner: historyOwner } as const]),
    ...component,
    { do: "end-connections" },
    { do: "release" },
  ];
}

function maxAttemptsOf({ source }: Observed): number {
  return source.spec.ignoreHookErrors ? 1 : deactivateAttempts;
}

function isOverdue({ source }: Observed, { now, maxDeactivateWaitMs }: PlanInputs): boolean {
  const { deletionTimestamp = "" } = source.metadata;
  const maxWaitMs = source.spec.ignoreHookErrors ? Math.min(maxIgnoredWaitMs, maxDeactivateWaitMs) : maxDeactivateWaitMs;
  return now - Date.parse(deletionTimestamp) > maxWaitMs;
}

function removeComponent({ source, component }: Observed): readonly Step[] {
  if (!hasOwnCode(source) || component === undefined || !isMadeFor(source, component)) return [];
  return component.metadata.deletionTimestamp === undefined ? [{ do: "remove-component", name: component.metadata.name }] : [];
}

function skippedEvent({ source }: Observed, { now }: PlanInputs): Step {
  const seconds = Math.round((now - Date.parse(source.metadata.deletionTimestamp ?? "")) / 1_000);
  return {
    do: "record-event",
    type: "Warning",
    reason: "HookSkipped",
    message: `deleted without its hook deactivate, which did not finish within ${seconds} s: resources that the hook removes elsewhere may remain`,
  };
}

function droppedEvent(queued: number): Step {
  return {
    do: "record-event",
    type: "Warning",
    reason: "WorkDropped",
    message: `deleted before ${queued} of its accepted invocations had ended, for which the deletion waited ${maxQueueWaitMs / 1_000} s: those that have not started end without a record`,
  };
}

function failedEvents(observed: Observed, deployed: Deployment | undefined): readonly Step[] {
  const error = deployed === undefined ? undefined : hookError(observed, "deactivate", deployed);
  if (error === undefined) return [];
  const message = `deleted although its hook deactivate failed: ${error.name}: ${error.message}`;
  return [{ do: "record-event", type: "Warning", reason: "HookFailed", message }];
}
