import type { Kind, Resource } from "../../crds/resource.ts";
import type { ResourceStore } from "../../crds/resource-store.ts";
import type { Clock } from "../../domain/clock.ts";
import type { Reconcile } from "./controller.ts";
import { parseKey } from "./informer.ts";
import { readyConditions, shortened, writeStatus, type AnyStatus } from "./status.ts";

interface Ports {
  readonly store: Pick<ResourceStore, "find" | "updateStatus">;
  readonly clock: Clock;
}

/**
 * Reconciles what fits the schema of its kind; of what does not it says so and leaves everything as it is until somebody mends it,
 * since its fields may be anything. One in deletion is reconciled all the same: that asks its status and what was made for it, and
 * a misfit must be able to end.
 */
export function exceptMisfits<S, T extends AnyStatus>(kind: Kind<S, T>, { store, clock }: Ports, reconcile: Reconcile): Reconcile {
  return async (key, signal) => {
    const { namespace, name } = parseKey(key);
    const found = await store.find(kind, namespace, name);
    if (found?.invalid === undefined || found.metadata.deletionTimestamp !== undefined) return reconcile(key, signal);
    const conditions = readyConditions({ ready: false, reason: "SpecInvalid", message: messageOf(found.invalid) });
    await writeStatus(store, kind, found, { conditions, now: clock.now() });
    return undefined;
  };
}

/** Not one of `valuesOf`'s: what is found in the spec of a misfit depends on nothing. */
export function ofFitting<S, T, V>(valuesOf: (resource: Resource<S, T>) => V): (resource: Resource<S, T>) => V | undefined {
  return (resource) => (resource.invalid === undefined ? valuesOf(resource) : undefined);
}

function messageOf(invalid: string): string {
  return shortened(`its spec does not fit this version, so that nothing is done about it until it is changed: ${invalid}`);
}
