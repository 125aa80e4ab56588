import { kinds } from "../../crds/kinds.ts";
import type { Kind } from "../../crds/resource.ts";
import type { ApiPorts } from "../ports.ts";

/** Kinds of which the owner has resources. What is on its way out counts: it still is the owner's. */
export async function kindsOwnedBy(owner: string, { owners, store }: Pick<ApiPorts, "owners" | "store">): Promise<readonly string[]> {
  const namespace = await owners.find(owner);
  if (namespace === undefined) return [];
  const found = await Promise.all(
    kinds.map(async (kind: Kind) => ((await store.list(kind, { namespace, limit: 1 })).items.length > 0 ? [kind.kind] : [])),
  );
  return found.flat();
}
