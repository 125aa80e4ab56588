import { z } from "zod";
import { Conflict, NotFound } from "../../domain/errors.ts";
import { isId, newId } from "../../domain/ids.ts";
import { noContent, ok, okPage, type Asked } from "../http/call.ts";
import { pathOf } from "../http/handle.ts";
import { parse, parsePage, text } from "../http/parameters.ts";
import type { Organization, OwnerNotes } from "../owners/ports.ts";
import type { ApiPorts } from "../ports.ts";
import { epochSeconds } from "../resources/identity.ts";
import type { AdminContext } from "./context.ts";
import { clearOwned, kindsOwnedBy } from "./owned.ts";
import { emailField, nameField } from "./users.ts";

export const organizationFields = z.object({
  name: text.min(1, "it must not be empty").max(255, "it must have at most 255 characters"),
  orgname: nameField,
  email: emailField,
  admins: z.array(text).max(100, "it must name at most 100 users").default([]),
});

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
      const owned = await kindsOwnedBy(id, ports);
      if (owned.length > 0)
        throw new Conflict(`${id} owns resources (${owned.join(", ")}): delete them first`, {
          code: "organization_owns_resources",
          details: { kinds: owned },
        });
      await ports.accounts.deleteOrganization(id);
      await clearOwned(id, ports);
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
