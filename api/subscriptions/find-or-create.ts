import type { Kind, Resource } from "../../crds/resource.ts";
import type { NewResource } from "../../crds/resource-store.ts";
import { Conflict, Unavailable } from "../../domain/errors.ts";
import type { ResourceWatch } from "../resources/resource-watch.ts";
import type { ApiContext } from "../routes/context.ts";

/**
 * The resource of that name, made unless it is there: of equal requests at once one makes it.
 * @throws Unavailable when an earlier one of that name does not end in time
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
      const there = await ports.store.find(kind, namespace, name);
      if (there !== undefined && there.metadata.deletionTimestamp === undefined) return there;
      // Deleted a moment ago and not gone yet: the new one takes its place.
      if (there !== undefined) await following.until((seen) => (seen === undefined ? true : undefined), signal);
    } finally {
      following.end();
    }
  }
  throw new Unavailable(`${kind.kind} ${name} is still being deleted: try again`, { code: "not_ready_in_time" });
}
