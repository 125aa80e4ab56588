import { NotFound } from "../../domain/errors.ts";
import { isId, newId } from "../../domain/ids.ts";
import { noContent, ok, okPage, type Asked } from "../http/request/call.ts";
import { pathOf } from "../http/routing/handle.ts";
import { parse, parsePage } from "../http/request/parameters.ts";
import { deleteOrganization, organizationFields } from "../organizations/organizations.ts";
import type { Organization, OwnerNotes } from "../owners/ports.ts";
import type { ApiPorts } from "../ports.ts";
import { epochSeconds } from "../resources/identity.ts";
import type { AdminContext } from "./context.ts";

export function organizationRoutes({ ports }: AdminContext) {
  return {
    list: async ({ parameters }: Asked) => okPage(await ports.accounts.pageOrganizations(parsePage(parameters)), organizationResponse),
    create: async ({ body }: Asked) => {
      const { name, orgname, email, admins } = parse(organizationFields, body);
      const id = newId("organization", ports.randomBytes);
      await ports.accounts.createOrganization({ id, name, orgname, email }, [...new Set(admins)]);
      return ok(organizationResponse(await getOrganization(id, ports)));
    },
    get: async (call: Asked) => ok(organizationResponse(await getOrganization(pathOf(call, "id"), ports))),
    delete: async (call: Asked) => {
      const { id } = await getOrganization(pathOf(call, "id"), ports);
      await deleteOrganization(id, ports);
      return noContent;
    },
  };
}

function organizationResponse({ id, name, orgname, email, createdAt, plan }: Organization & OwnerNotes) {
  return { id, name, orgname, email, plan, created_at: epochSeconds(createdAt) };
}

/** @throws NotFound */
export async function getOrganization(id: string, { accounts }: Pick<ApiPorts, "accounts">): Promise<Organization & OwnerNotes> {
  const organization = isId("organization", id) ? await accounts.findOrganization(id) : undefined;
  if (organization === undefined) throw new NotFound(`organization '${id.slice(0, 80)}' is not found`);
  return organization;
}
