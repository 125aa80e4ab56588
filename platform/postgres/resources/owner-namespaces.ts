import type { OwnerNamespaces } from "../../../crds/owner-namespaces.ts";
import { namespaceOfOwner, ownerOfNamespace } from "../../../domain/ids.ts";

/** On one machine a namespace is only a name, derived from its owner. */
export const namedOwnerNamespaces: OwnerNamespaces = {
  ownerOf: async (namespace) => ownerOfNamespace(namespace),
  find: async (owner) => namespaceOfOwner(owner),
  ensure: async (owner) => namespaceOfOwner(owner),
};
