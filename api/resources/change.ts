import type { Kind, Resource } from "../../crds/resource.ts";
import type { ResourceStore } from "../../crds/resource-store.ts";
import { Conflict, InvalidInput, NotFound } from "../../domain/errors.ts";
import { retry } from "../../domain/retry.ts";

const maxAttempts = 8;

/** Hides the store's message if the resource was deleted in the meantime: it contains internal names. @throws NotFound */
export async function unlessDeleted<Result>(read: Promise<Result>): Promise<Result> {
  try {
    return await read;
  } catch (error) {
    throw error instanceof NotFound ? new NotFound() : error;
  }
}

/** Changes the spec, and retries on conflicts, because the operator writes the same resource. @throws Conflict, InvalidInput, NotFound */
export async function changeResource<S, T>(
  kind: Kind<S, T>,
  store: ResourceStore,
  resource: Resource<S, T>,
  change: (now: Resource<S, T>) => Promise<S> | S,
): Promise<Resource<S, T>> {
  const { namespace, name } = resource.metadata;
  let current: Resource<S, T> | undefined = resource;
  const update = async (): Promise<Resource<S, T>> => {
    const now = current ?? (await unlessDeleted(store.get(kind, namespace, name)));
    current = undefined; // Read it again before another attempt.
    if (now !== resource && now.metadata.deletionTimestamp !== undefined) throw new NotFound();
    if (now.invalid !== undefined)
      throw new InvalidInput(`the ${kind.kind.toLowerCase()} cannot be changed, because its stored spec is invalid: ${now.invalid}`);
    const changeAndStore = async (): Promise<Resource<S, T>> => store.update(kind, { ...now, spec: await change(now) });
    return unlessDeleted(changeAndStore());
  };
  return retry(update, { firstMs: 10, maxMs: 50, maxAttempts, isTransient: (error) => error instanceof Conflict });
}

/**
 * Call this after creating the resource: an owner or an end that it needs may have been deleted after it was checked, and the deletion
 * may have missed the new resource. Deletions check again afterwards, so that one of the two finds it.
 * @throws what `check` throws, after deleting the resource
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
