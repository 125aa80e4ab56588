import { setTimeout as pause } from "node:timers/promises";
import type { Kind, Resource } from "../../crds/resource.ts";
import type { ResourceStore } from "../../crds/resource-store.ts";
import { Conflict, InvalidInput, NotFound } from "../../domain/errors.ts";

const mostTries = 8;

/** What is gone meanwhile is told like what never was: the store's own words name its places. @throws NotFound */
export async function unlessGone<Result>(asked: Promise<Result>): Promise<Result> {
  try {
    return await asked;
  } catch (error) {
    throw error instanceof NotFound ? new NotFound() : error;
  }
}

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
      if (error instanceof NotFound) throw new NotFound();
      if (!(error instanceof Conflict) || tries === mostTries) throw error;
    }
    await pause(5 * tries);
    const { namespace, name } = resource.metadata;
    current = await unlessGone(store.get(kind, namespace, name));
    if (current.metadata.deletionTimestamp !== undefined) throw new NotFound();
  }
}

/**
 * To be called once it is made: what it needs, an owner or an end, may have been deleted since it was looked at, and has taken along what
 * was there then. Whoever deletes such a thing looks again afterwards, so that one of the two finds what was made.
 * @throws whatever `check` does; what was made is gone then
 */
export async function confirmCreated<S, T>(
  kind: Kind<S, T>,
  { metadata: { namespace, name } }: Resource<S, T>,
  check: () => Promise<void>,
  store: ResourceStore,
): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (error instanceof NotFound)
      await store.delete(kind, namespace, name).catch((thrown: unknown) => {
        if (!(thrown instanceof NotFound)) throw thrown;
      });
    throw error;
  }
}
