import { setTimeout as pause } from "node:timers/promises";
import type { Kind, Resource } from "../../crds/resource.ts";
import type { ResourceStore } from "../../crds/resource-store.ts";
import { Conflict, InvalidInput, NotFound } from "../../domain/errors.ts";

const mostTries = 8;

/** Changes the spec, again on what others have made of it meanwhile: the operator writes the same resource. @throws Conflict, InvalidInput, NotFound */
export async function changeResource<S, T>(
  kind: Kind<S, T>,
  store: ResourceStore,
  resource: Resource<S, T>,
  change: (now: Resource<S, T>) => Promise<S> | S,
): Promise<Resource<S, T>> {
  let current = resource;
  for (let tries = 1; ; tries++) {
    if (current.invalid !== undefined)
      throw new InvalidInput(`the ${kind.kind.toLowerCase()} cannot be changed, as what is stored of it does not fit: ${current.invalid}`);
    try {
      return await store.update(kind, { ...current, spec: await change(current) });
    } catch (error) {
      if (!(error instanceof Conflict) || tries === mostTries) throw error;
    }
    await pause(5 * tries);
    const { namespace, name } = resource.metadata;
    current = await store.get(kind, namespace, name);
    if (current.metadata.deletionTimestamp !== undefined) throw new NotFound();
  }
}
