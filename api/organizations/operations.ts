import { NotFound } from "../../domain/errors.ts";
import { noContent, ok, type Call } from "../http/request/call.ts";
import { pathOf } from "../http/routing/handle.ts";
import { parse } from "../http/request/parameters.ts";
import { createOwnOrganization, deleteOrganization, ownOrganizationFields } from "./organizations.ts";
import { quotaExceededUntil, quotaField } from "../owners/quota.ts";
import type { ApiContext } from "../context.ts";
import { administeredOrganization } from "./member-operations.ts";

/** Organizations of the caller, in the form of `orgs` in `GET /users/me`. */
export function organizationRoutes(context: ApiContext) {
  const { access, ports } = context;
  return {
    create: async ({ user, body }: Call) => {
      const { name, id, orgname, email } = await createOwnOrganization(parse(ownOrganizationFields, body), user, ports);
      return ok({ name, id, orgname, email });
    },
    get: async (call: Call) => {
      const organization = pathOf(call, "org_id");
      await access.checkOrganization(call.user, organization);
      const found = await ports.accounts.findOrganization(organization);
      if (found === undefined) throw new NotFound();
      const { name, id, orgname, email } = found;
      const until = await quotaExceededUntil(id, await ports.accounts.planOf(id), ports);
      return ok({ name, id, orgname, email, ...quotaField(until) });
    },
    /** Requires that the organization owns nothing and that the caller is its only member. */
    delete: async (call: Call) => {
      await deleteOrganization(await administeredOrganization(call, context), ports, call.user.id);
      return noContent;
    },
  };
}
