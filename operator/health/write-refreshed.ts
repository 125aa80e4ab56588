import type { Kind, Resource } from "../../crds/resource.ts";
import type { ResourceStore } from "../../crds/resource-store.ts";
import { Conflict, NotFound } from "../../domain/errors.ts";

/** Resources per query of a refresh. */
export const batchSize = 500;
/** Limits writes of a refresh to 300 per minute, however many states change. */
export const writeIntervalMs = 200;

/** Skips a resource that was changed in the meantime: it is being reconciled, and the next refresh writes it. @returns whether it is written */
export async function writeRefreshed<S, T>(
  store: Pick<ResourceStore, "find" | "updateStatus">,
  kind: Kind<S, T>,
  { metadata: { namespace, name, uid } }: Resource,
  statusOf: (current: Resource<S, T>) => T,
): Promise<boolean> {
  const current = await store.find(kind, namespace, name);
  if (current?.metadata.uid !== uid || current.metadata.deletionTimestamp !== undefined) return false;
  try {
    await store.updateStatus(kind, { ...current, status: statusOf(current) });
    return true;
  } catch (error) {
    if (error instanceof Conflict || error instanceof NotFound) return false;
    throw error;
  }
}
