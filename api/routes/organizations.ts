import { NotFound } from "../../domain/errors.ts";
import { ok, type Call } from "../http/call.ts";
import { pathOf } from "../http/handle.ts";
import { quotaExceededUntil, quotaField } from "../owners/quota.ts";
import type { ApiContext } from "./context.ts";

/** One of the caller's organizations, as `orgs` of `/users/me` tells of it. */
export function organizationRoutes({ access, ports }: ApiContext) {
  return {
    get: async (call: Call) => {
      const wanted = pathOf(call, "org_id");
      await access.checkOrganization(call.user, wanted);
      const found = await ports.accounts.findOrganization(wanted);
      if (found === undefined) throw new NotFound();
      const { name, id, orgname, email } = found;
      const until = await quotaExceededUntil(id, await ports.accounts.planOf(id), ports);
      return ok({ name, id, orgname, email, ...quotaField(until) });
    },
  };
}
