import type { OwnerNamespaces } from "../../crds/owner-namespaces.ts";
import { namespaceOfOwner, ownerOfNamespace } from "../../domain/ids.ts";

/** On one machine a namespace is no more than a name, and the name says whose it is. */
export const namedOwnerNamespaces: OwnerNamespaces = {
  ownerOf: async (namespace) => ownerOfNamespace(namespace),
  find: async (owner) => namespaceOfOwner(owner),
  ensure: async (owner) => namespaceOfOwner(owner),
};
