import { NotFound } from "../../domain/errors.ts";
import { isId } from "../../domain/ids.ts";
import { noContent, ok } from "../http/response/replies.ts";
import { nothing, one } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import { confirmNamespace, namespaceFields, namespaceSchema, withdrawNamespace } from "../namespaces/namespaces.ts";
import type { AnonymousCall, Input } from "../http/request/call.ts";
import type { ApiPorts } from "../ports.ts";
import { adminOperation } from "./context.ts";
import { getOrganization } from "./organizations.ts";
import { getUser } from "./users.ts";

/** In a cluster: confirms namespaces in the name of their owners. */
export const adminNamespaceOperations = [
  adminOperation({
    route: "POST /owners/:id/namespaces",
    id: "confirmNamespace",
    change: { action: "create", kind: "Namespace" },
    summary: "Confirm that a namespace is that of a user or an organization",
    body: namespaceFields,
    responses: one(namespaceSchema),
    errors: [409],
    handle: async (call, { ports }) => {
      const { name } = call.body();
      return ok(await confirmNamespace(await ownerOf(call, ports), name, ports));
    },
  }),
  adminOperation({
    route: "DELETE /owners/:id/namespaces/:name",
    id: "withdrawNamespace",
    change: { action: "delete", kind: "Namespace" },
    summary: "Withdraw the confirmation of a namespace",
    responses: nothing,
    handle: async (call, { ports }) => {
      await withdrawNamespace(await ownerOf(call, ports), pathOf(call, "name"), ports);
      return noContent;
    },
  }),
];

/** @throws NotFound */
async function ownerOf(call: AnonymousCall & Input, ports: ApiPorts): Promise<string> {
  const id = pathOf(call, "id");
  if (isId("user", id)) return (await getUser(id, ports)).id;
  if (isId("organization", id)) return (await getOrganization(id, ports)).id;
  throw new NotFound(`owner '${id.slice(0, 80)}' is not found: use the id of a user (u_…) or an organization (o_…)`);
}
