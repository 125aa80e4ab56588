import { kinds } from "../../crds/kinds.ts";
import type { Kind } from "../../crds/resource.ts";
import { NotFound } from "../../domain/errors.ts";
import type { ApiPorts } from "../ports.ts";

/** Kinds of resources that are in an owner's namespace. */
const ownedKinds: readonly Kind[] = kinds.filter(({ scope }: Kind) => scope !== "Cluster");

/** Deletes resources that were created while their owner was being deleted, by requests that began before. */
export async function clearOwned(owner: string, { owners, store }: Pick<ApiPorts, "owners" | "store">): Promise<void> {
  const namespace = await owners.find(owner);
  if (namespace === undefined) return;
  await Promise.all(
    ownedKinds.map(async (kind) => {
      for (const { metadata } of (await store.list(kind, { namespace })).items) {
        await store.delete(kind, namespace, metadata.name).catch((error: unknown) => {
          if (!(error instanceof NotFound)) throw error;
        });
      }
    }),
  );
}

/** Kinds of the owner's resources, including those being deleted. */
export async function kindsOwnedBy(owner: string, { owners, store }: Pick<ApiPorts, "owners" | "store">): Promise<readonly string[]> {
  const namespace = await owners.find(owner);
  if (namespace === undefined) return [];
  const found = await Promise.all(
    ownedKinds.map(async (kind) => ((await store.list(kind, { namespace, limit: 1 })).items.length > 0 ? [kind.kind] : [])),
  );
  return found.flat();
}
