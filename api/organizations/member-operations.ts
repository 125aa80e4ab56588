import { Forbidden, NotFound, QuotaUsedUp } from "../../domain/errors.ts";
import { noContent, ok, type Call } from "../http/request/call.ts";
import { Gcra } from "../http/access/gcra.ts";
import { pathOf } from "../http/routing/handle.ts";
import { parse } from "../http/request/parameters.ts";
import { checkUserId, findInvited, findMember, getMember, invitationFields, memberFields, memberResponse } from "./members.ts";
import type { User } from "../owners/ports.ts";
import { removeMember } from "./remove-member.ts";
import type { ApiContext } from "../context.ts";

/** Unknown names that a user can try: enough for typing errors, too few to guess existing users. */
const guessLimit = { requests: 20, windowMs: 3_600_000 } as const;

/** Members of an organization. Every member can list them and leave; admins add, change and remove members. */
export function memberRoutes({ access, ports }: Pick<ApiContext, "access" | "ports">) {
  const { accounts, clock } = ports;
  const misses = new Gcra(guessLimit, clock);
  const organizationOf = async (call: Call): Promise<string> => {
    const id = pathOf(call, "org_id");
    await access.checkOrganization(call.user, id);
    return id;
  };
  const administeredBy = (call: Call): Promise<string> => administeredOrganization(call, { access, ports });
  /** @throws NotFound with the same message for every unknown user; QuotaUsedUp after too many unknown users */
  const invited = async (fields: Parameters<typeof findInvited>[0], { user }: Call): Promise<User> => {
    const left = misses.peek(user.id);
    if (!left.allowed)
      throw new QuotaUsedUp("you have named too many unknown users: wait as Retry-After says", left.resetAt - clock.now(), {
        code: "too_many_failures",
      });
    const found = await findInvited(fields, accounts);
    if (found !== undefined) return found;
    misses.take(user.id);
    throw new NotFound("there is no such user: give their user_id, their exact username, or the email address of their account");
  };
  return {
    list: async (call: Call) => ok((await accounts.listMembers(await organizationOf(call))).map(memberResponse)),
    /** Without a role, an existing member keeps theirs. */
    add: async (call: Call) => {
      const organization = await administeredBy(call);
      const fields = parse(invitationFields, call.body);
      const { id } = await invited(fields, call);
      const role = fields.role ?? (await findMember(organization, id, accounts))?.role ?? "member";
      await accounts.putMember(id, organization, role, { keepsAdmin: true });
      return ok(memberResponse(await getMember(organization, id, accounts)));
    },
    put: async (call: Call) => {
      const organization = await administeredBy(call);
      const user = checkUserId(pathOf(call, "user_id"));
      const { role } = parse(memberFields, call.body);
      await accounts.putMember(user, organization, role, { keepsAdmin: true });
      return ok(memberResponse(await getMember(organization, user, accounts)));
    },
    remove: async (call: Call) => {
      const user = checkUserId(pathOf(call, "user_id"));
      const organization = user === call.user.id ? await organizationOf(call) : await administeredBy(call);
      await removeMember({ user, organization, rule: { keepsAdmin: true } }, ports);
      return noContent;
    },
  };
}

/** The id of the organization in the path. @throws Forbidden unless the caller is its admin */
export async function administeredOrganization(call: Call, { access, ports }: Pick<ApiContext, "access" | "ports">): Promise<string> {
  const id = pathOf(call, "org_id");
  await access.checkOrganization(call.user, id);
  if ((await getMember(id, call.user.id, ports.accounts)).role === "admin") return id;
  throw new Forbidden(`you are not an admin of organization ${id}: only admins may do this`, { code: "not_an_admin" });
}
