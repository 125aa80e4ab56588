import type { Kind, Resource } from "../../crds/resource.ts";
import type { ResourceStore } from "../../crds/resource-store.ts";
import { NotFound } from "../../domain/errors.ts";
import type { Informer } from "./informer.ts";
import { ResourceIndex } from "./resource-index.ts";

interface CachedKind {
  readonly informer: Informer<unknown, unknown>;
  readonly byNamespace: ResourceIndex<unknown, unknown>;
}

/** Lists of these kinds by namespace, from their caches. Call it before the informers start. */
export function cachedLists(informers: readonly unknown[]): Pick<ResourceStore, "list"> {
  const kinds = new Map<string, CachedKind>();
  for (const each of informers) {
    const informer = each as Informer<unknown, unknown>; // Read again with its own kind only.
    const byNamespace = new ResourceIndex(informer, ({ metadata }) => metadata.namespace);
    kinds.set(informer.kind.kind, { informer, byNamespace });
  }
  return {
    async list<S, T>({ kind }: Kind<S, T>, { namespace }: { readonly namespace?: string } = {}) {
      const cached = kinds.get(kind);
      if (cached === undefined || namespace === undefined) throw new NotFound(`${kind} is listed from no cache`);
      const { informer, byNamespace } = cached;
      const items = byNamespace.keys(namespace).flatMap((key) => informer.get(key) ?? []) as Resource<S, T>[];
      return { items, resourceVersion: informer.version ?? "" };
    },
  };
}
