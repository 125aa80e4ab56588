import { operation } from "../context.ts";
import { ownerParameters } from "../http/request/parameters.ts";
import { noContent, ok } from "../http/response/replies.ts";
import { all, nothing, one } from "../http/response/schemas.ts";
import { isId } from "../../domain/ids.ts";
import { pathOf } from "../http/routing/handle.ts";
import type { ApiContext } from "../context.ts";
import type { Call } from "../http/request/call.ts";
import { checkAdmin } from "../organizations/members.ts";
import { confirmNamespace, namespaceFields, namespaceResponse, namespaceSchema, withdrawNamespace } from "./namespaces.ts";

/** In a cluster: which namespaces may have what belongs to the owner. */
export const namespaceOperations = [
  operation({
    route: "GET /namespaces",
    id: "listNamespaces",
    summary: "List the namespaces that are labelled with the owner, or confirmed",
    description: "Empty on an installation without Kubernetes.",
    query: ownerParameters,
    responses: all(namespaceSchema),
    handle: async (call, { access, ports }) => {
      const owner = await access.owner(call);
      return ok(((await ports.namespaces?.list(owner)) ?? []).map((each) => namespaceResponse(owner, each)));
    },
  }),
  operation({
    route: "POST /namespaces",
    id: "confirmNamespace",
    change: { action: "create", kind: "Namespace" },
    summary: "Confirm that a namespace is the owner's",
    description:
      "Without it, the label `headwater.dev/owner` of a namespace gives it nothing of the owner. Possible before the namespace exists. For an organization, the caller must be its admin.",
    query: ownerParameters,
    body: namespaceFields,
    responses: one(namespaceSchema),
    errors: [409],
    handle: async (call, context) => {
      const owner = await administeredOwner(call, context);
      return ok(await confirmNamespace(owner, call.body().name, context.ports));
    },
  }),
  operation({
    route: "DELETE /namespaces/:name",
    id: "withdrawNamespace",
    change: { action: "delete", kind: "Namespace" },
    summary: "Withdraw the confirmation of a namespace",
    description: "Its resources then wait, as those of a namespace without an owner. For an organization, the caller must be its admin.",
    query: ownerParameters,
    responses: nothing,
    handle: async (call, context) => {
      await withdrawNamespace(await administeredOwner(call, context), pathOf(call, "name"), context.ports);
      return noContent;
    },
  }),
];

/** @throws Forbidden unless the owner is the caller, or an organization of which the caller is an admin */
async function administeredOwner(call: Call, { access, ports }: Pick<ApiContext, "access" | "ports">): Promise<string> {
  const owner = await access.owner(call);
  if (isId("organization", owner)) await checkAdmin(owner, call.user, ports.accounts);
  return owner;
}
