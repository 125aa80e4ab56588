import type { z } from "zod";
import { operation } from "../context.ts";
import type { Call } from "../http/request/call.ts";
import { ownPages, pages, parsePage } from "../http/request/parameters.ts";
import { checkTimes } from "../http/request/ranges.ts";
import { okPage } from "../http/response/replies.ts";
import { page } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import type { ApiPorts } from "../ports.ts";
import { checkAdmin } from "../organizations/members.ts";
import { epochSeconds } from "../resources/identity.ts";
import { auditFilters } from "./filters.ts";
import type { AuditEntry } from "./ports.ts";
import { auditEntrySchema } from "./schemas.ts";

export const auditOperations = [
  operation({
    route: "GET /audit_log",
    id: "listMyAuditLog",
    summary: "List changes of the caller's resources, account and keys",
    description: "With `org_id`: those of an organization of which the caller is an admin.",
    query: ownPages.extend(auditFilters.shape),
    responses: page(auditEntrySchema),
    handle: async (call, context) => {
      const owner = await context.access.owner(call);
      if (owner !== call.user.id) await checkAdmin(owner, call.user, context.ports.accounts);
      return listEntries(owner, call.query(), call, context.ports);
    },
  }),
  operation({
    route: "GET /orgs/:org_id/audit_log",
    id: "listAuditLog",
    summary: "List changes of an organization's resources, members and settings",
    description: "Requires that the caller is an admin of the organization.",
    query: pages.extend(auditFilters.shape),
    responses: page(auditEntrySchema),
    handle: async (call, context) => {
      const organization = pathOf(call, "org_id");
      await context.access.checkOrganization(call.user, organization);
      await checkAdmin(organization, call.user, context.ports.accounts);
      return listEntries(organization, call.query(), call, context.ports);
    },
  }),
];

/** @param owner undefined: changes of all owners */
export async function listEntries(
  owner: string | undefined,
  { kind, action, actor, name, outcome, resource_id: resourceId, since: sinceMs, until: untilMs }: z.output<typeof auditFilters>,
  { parameters }: Pick<Call, "parameters">,
  { auditLog }: Pick<ApiPorts, "auditLog">,
) {
  checkTimes(sinceMs, untilMs);
  const selection = { owner, kind, action, actor, name, outcome, resourceId, sinceMs, untilMs };
  return okPage(await auditLog.page(selection, parsePage(parameters)), entryResponse);
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
