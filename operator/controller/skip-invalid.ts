import type { Kind, Resource } from "../../crds/resource.ts";
import type { ResourceStore } from "../../crds/resource-store.ts";
import { assignedId } from "../../crds/public-id.ts";
import type { Clock } from "../../domain/clock.ts";
import type { Reconcile } from "./controller.ts";
import { parseKey } from "./informer.ts";
import { readyConditions, shortened, writeStatus, type AnyStatus } from "./status.ts";

interface Ports {
  readonly store: Pick<ResourceStore, "find" | "updateStatus">;
  readonly clock: Clock;
  /** A new public id. Absent: resources of the kind have none. */
  readonly newId?: (() => string) | undefined;
}

/**
 * Does not reconcile a resource that does not fit its schema, since its fields may be anything: reports `SpecInvalid` and leaves everything
 * as it is until the spec is corrected. A resource in deletion is reconciled, because it must be able to end: that needs only metadata and
 * status.
 *
 * It gets a new id: without one in its status, its label would say which it has. The API creates no invalid resource, so the label is not
 * the API's.
 */
export function skipInvalid<S, T extends AnyStatus>(kind: Kind<S, T>, { store, clock, newId }: Ports, reconcile: Reconcile): Reconcile {
  return async (key, signal) => {
    const { namespace, name } = parseKey(key);
    const found = await store.find(kind, namespace, name);
    if (found?.invalid === undefined || found.metadata.deletionTimestamp !== undefined) return reconcile(key, signal);
    const conditions = readyConditions({ ready: false, reason: "SpecInvalid", message: messageOf(found.invalid) });
    const id = assignedId(found) ?? newId?.();
    // A kind whose resources have ids has the field in its status.
    const fields = (id === undefined ? {} : { id }) as Partial<T>;
    await writeStatus(store, kind, found, { fields, conditions, now: clock.now() });
    return undefined;
  };
}

/** Returns no values for an invalid resource: its spec is not interpreted. */
export function ofValid<S, T, V>(valuesOf: (resource: Resource<S, T>) => V): (resource: Resource<S, T>) => V | undefined {
  return (resource) => (resource.invalid === undefined ? valuesOf(resource) : undefined);
}

function messageOf(invalid: string): string {
  return shortened(`its spec is invalid in this version and is ignored until it is corrected: ${invalid}`);
}
