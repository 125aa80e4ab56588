import { z } from "zod";
import { NotFound } from "../../domain/errors.ts";
import { isId } from "../../domain/ids.ts";
import { memberRoles, type Accounts, type Member } from "./ports.ts";

export const memberFields = z.object({ role: z.enum(memberRoles, `it must be ${memberRoles.join(" or ")}`) });

export const memberResponse = ({ id, username, email, role }: Member) => ({ user_id: id, username, email, role });

/** @throws NotFound when there is no such member */
export async function getMember(organization: string, user: string, accounts: Accounts): Promise<Member> {
  const found = (await accounts.listMembers(organization)).find(({ id }) => id === user);
  if (found === undefined) throw new NotFound(`${user} is no member of ${organization}`);
  return found;
}

/** @throws NotFound when it cannot be the id of a user */
export function checkUserId(id: string): string {
  if (!isId("user", id)) throw new NotFound(`there is no user '${id.slice(0, 80)}': ids of users look like u_…`);
  return id;
}
