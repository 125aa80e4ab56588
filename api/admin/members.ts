import { noContent, ok, type Asked } from "../http/request/call.ts";
import { pathOf } from "../http/routing/handle.ts";
import { parse } from "../http/request/parameters.ts";
import { checkUserId, getMember, memberFields } from "../organizations/members.ts";
import type { Member } from "../owners/ports.ts";
import { removeMember } from "../organizations/remove-member.ts";
import { getOrganization } from "./organizations.ts";
import type { AdminContext } from "./context.ts";

export function memberRoutes({ ports }: AdminContext) {
  const { accounts } = ports;
  const organizationOf = async (call: Asked): Promise<string> => (await getOrganization(pathOf(call, "id"), ports)).id;
  return {
    list: async (call: Asked) => ok((await accounts.listMembers(await organizationOf(call))).map(memberResponse)),
    put: async (call: Asked) => {
      const { role } = parse(memberFields, call.body);
      const [organization, user] = [await organizationOf(call), checkUserId(pathOf(call, "user_id"))];
      await accounts.putMember(user, organization, role);
      return ok(memberResponse(await getMember(organization, user, accounts)));
    },
    remove: async (call: Asked) => {
      const [user, organization] = [checkUserId(pathOf(call, "user_id")), await organizationOf(call)];
      await removeMember({ user, organization }, ports);
      return noContent;
    },
  };
}

const memberResponse = ({ id, username, email, role }: Member) => ({ user_id: id, username, email, role });
