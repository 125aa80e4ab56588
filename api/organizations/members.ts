import { z } from "zod";
import { Forbidden, NotFound } from "../../domain/errors.ts";
import { isId } from "../../domain/ids.ts";
import { memberRoles, type Accounts, type Member } from "../owners/ports.ts";
import type { User } from "../http/ports.ts";

export const role = z.enum(memberRoles, `it must be ${memberRoles.join(" or ")}`);
export const memberFields = z.object({ role: role.describe("`admin` or `member`; admins manage members.") });
export const memberSchema = z
  .object({ user_id: z.string().describe("`u_…`."), username: z.string(), role: z.enum(memberRoles) })
  .meta({ id: "Member", description: "A member of an organization." });

/** Omits the email address: an admin who invited a user by username must not learn it. */
export const memberResponse = ({ id, username, role: given }: Member) => ({ user_id: id, username, role: given });

/** @throws NotFound when there is no such member */
export async function getMember(organization: string, user: string, accounts: Accounts): Promise<Member> {
  const found = await findMember(organization, user, accounts);
  if (found === undefined) throw new NotFound(`${user} is not a member of ${organization}`);
  return found;
}

/** @throws Forbidden unless the member is an admin */
export async function checkAdmin(organization: string, { id }: User, accounts: Accounts): Promise<void> {
  if ((await getMember(organization, id, accounts)).role === "admin") return;
  throw new Forbidden(`you are not an admin of organization ${organization}: only admins may do this`, { code: "not_an_admin" });
}

export async function findMember(organization: string, user: string, accounts: Accounts): Promise<Member | undefined> {
  return (await accounts.listMembers(organization)).find(({ id }) => id === user);
}

/** @throws NotFound when it cannot be the id of a user */
export function checkUserId(id: string): string {
  if (!isId("user", id)) throw new NotFound(`there is no user '${id.slice(0, 80)}': ids of users look like u_…`);
  return id;
}
