import { z } from "zod";
import { operation, type ApiContext } from "../context.ts";
import type { Call } from "../http/request/call.ts";
import { optionalParameter, ownPages, pages, parsePage, text } from "../http/request/parameters.ts";
import { okPage } from "../http/response/replies.ts";
import { page } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import { checkAdmin } from "../organizations/members.ts";
import { epochSeconds } from "../resources/identity.ts";
import type { AuditEntry } from "./ports.ts";
import { auditEntrySchema } from "./schemas.ts";

const name = optionalParameter(text.max(255, "it must have at most 255 characters"));
const filters = z.object({
  kind: name.describe("Only changes of this kind, such as `Source`."),
  actor: name.describe("Only changes by this actor: id of a user or key, `user` or `admin`."),
  resource_id: name.describe("Only changes of the resource with this id."),
  since: optionalParameter(
    z
      .string()
      .regex(/^\d{1,15}$/, "it must be a time in epoch milliseconds")
      .transform(Number),
  ).describe("Start of the time range, epoch milliseconds."),
});

export const auditOperations = [
  operation({
    route: "GET /audit_log",
    id: "listMyAuditLog",
    summary: "List changes of the caller's resources, account and keys",
    description: "With `org_id`: those of an organization of which the caller is an admin.",
    query: ownPages.extend(filters.shape),
    responses: page(auditEntrySchema),
    handle: async (call, context) => {
      const owner = await context.access.owner(call);
      if (owner !== call.user.id) await checkAdmin(owner, call.user, context.ports.accounts);
      return listEntries(owner, call.query(), call, context);
    },
  }),
  operation({
    route: "GET /orgs/:org_id/audit_log",
    id: "listAuditLog",
    summary: "List changes of an organization's resources, members and settings",
    description: "Requires that the caller is an admin of the organization.",
    query: pages.extend(filters.shape),
    responses: page(auditEntrySchema),
    handle: async (call, context) => {
      const organization = pathOf(call, "org_id");
      await context.access.checkOrganization(call.user, organization);
      await checkAdmin(organization, call.user, context.ports.accounts);
      return listEntries(organization, call.query(), call, context);
    },
  }),
];

async function listEntries(
  owner: string,
  { kind, actor, resource_id: resourceId, since: sinceMs }: z.output<typeof filters>,
  call: Pick<Call, "parameters">,
  { ports }: ApiContext,
) {
  const request = parsePage(call.parameters);
  return okPage(await ports.auditLog.page({ owner, kind, actor, resourceId, sinceMs }, request), entryResponse);
}

export function entryResponse({
  id,
  at,
  owner,
  operation: made,
  action,
  kind,
  resourceId,
  resourceName,
  fields,
  error,
  actor,
}: AuditEntry) {
  return {
    id,
    at: epochSeconds(at),
    owner_id: owner,
    operation: made,
    action,
    kind,
    resource_id: resourceId,
    resource_name: resourceName,
    fields: [...fields],
    error,
    actor: {
      kind: actor.kind,
      user_id: actor.userId ?? null,
      key_id: actor.keyId ?? null,
      key_name: actor.keyName ?? null,
      session_id: actor.sessionId ?? null,
      address: actor.address ?? null,
    },
  };
}
