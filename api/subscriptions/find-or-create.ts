import type { Kind, Resource } from "../../crds/resource.ts";
import type { NewResource } from "../../crds/resource-store.ts";
import { Conflict, Unavailable } from "../../domain/errors.ts";
import type { ResourceWatch } from "../resources/watch/resource-watch.ts";
import type { ApiContext } from "../context.ts";

/**
 * Finds the resource by name, or creates it: of concurrent equal requests, one creates it.
 * @throws Unavailable when an earlier resource of that name is not deleted in time
 */
export async function findOrCreate<S, T>(
  kind: Kind<S, T>,
  given: NewResource<S>,
  watch: ResourceWatch<S, T>,
  { config, ports }: Pick<ApiContext, "config" | "ports">,
): Promise<Resource<S, T>> {
  const { namespace, name } = given;
  const signal = AbortSignal.timeout(config.deployTimeoutMs);
  while (!signal.aborted) {
    try {
      return await ports.store.create(kind, given);
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
    }
    const following = watch.follow(namespace, name);
    try {
      const existing = await ports.store.find(kind, namespace, name);
      if (existing !== undefined && existing.metadata.deletionTimestamp === undefined) return existing;
      // It is being deleted: create the new one afterwards.
      if (existing !== undefined) await following.until((seen) => (seen === undefined ? true : undefined), signal);
    } finally {
      following.end();
    }
  }
  throw new Unavailable(`${kind.kind} ${name} is still being deleted: try again`, { code: "not_ready_in_time" });
}
