import { Forbidden } from "../../domain/errors.ts";
import { noContent, ok, type Call } from "../http/call.ts";
import { pathOf } from "../http/handle.ts";
import { parse } from "../http/parameters.ts";
import { checkUserId, getMember, memberFields, memberResponse } from "../owners/members.ts";
import type { ApiContext } from "./context.ts";

/** Who belongs to an organization of the caller's. All members see it, admins say it. */
export function memberRoutes({ access, ports }: Pick<ApiContext, "access" | "ports">) {
  const { accounts } = ports;
  const organizationOf = async (call: Call): Promise<string> => {
    const id = pathOf(call, "org_id");
    await access.checkOrganization(call.user, id);
    return id;
  };
  const administeredBy = async (call: Call): Promise<string> => {
    const id = await organizationOf(call);
    if ((await getMember(id, call.user.id, accounts)).role === "admin") return id;
    throw new Forbidden(`you are no admin of organization ${id}: only they say who belongs to it`, { code: "not_an_admin" });
  };
  return {
    list: async (call: Call) => ok((await accounts.listMembers(await organizationOf(call))).map(memberResponse)),
    put: async (call: Call) => {
      const organization = await administeredBy(call);
      const user = checkUserId(pathOf(call, "user_id"));
      const { role } = parse(memberFields, call.body);
      await accounts.putMember(user, organization, role, { keepsAdmin: true });
      return ok(memberResponse(await getMember(organization, user, accounts)));
    },
    remove: async (call: Call) => {
      const organization = await administeredBy(call);
      const user = checkUserId(pathOf(call, "user_id"));
      await accounts.removeMember(user, organization, { keepsAdmin: true });
      return noContent;
    },
  };
}
