import { sql, type Kysely } from "kysely";
import type { Accounts, MemberRole } from "../../../api/owners/ports.ts";
import { NotFound } from "../../../domain/errors.ts";
import type { Tables } from "../tables.ts";
import { withConstraintErrors } from "./constraints.ts";
import { changeMembers } from "./change-members.ts";

type Memberships = Pick<Accounts, "isMember" | "listMembers" | "putMember" | "removeMember">;

export function createMemberships(db: Kysely<Tables>): Memberships {
  return {
    // Reads only the two columns that the operator may read.
    async isMember(user, organization) {
      const found = await db
        .selectFrom("memberships")
        .select("user_id")
        .where("user_id", "=", user)
        .where("organization_id", "=", organization)
        .executeTakeFirst();
      return found !== undefined;
    },
    listMembers: (organization) =>
      db
        .selectFrom("memberships")
        .innerJoin("users", "users.id", "user_id")
        .select(["users.id", "username", "email", "role"])
        .where("organization_id", "=", organization)
        .orderBy("username")
        .execute(),
    putMember: (user, organization, role, { keepsAdmin = false, isMember = false } = {}) =>
      withConstraintErrors(
        changeMembers(db, organization, keepsAdmin, async (transaction) => {
          if (isMember) return changeRole(transaction, { user, organization, role });
          await sql`
            insert into memberships (organization_id, user_id, role) values (${organization}, ${user}, ${role})
            on conflict (user_id, organization_id) do update set role = excluded.role`.execute(transaction);
        }),
      ),
    removeMember: (user, organization, { keepsAdmin = false } = {}) =>
      changeMembers(db, organization, keepsAdmin, async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom("memberships")
          .where("user_id", "=", user)
          .where("organization_id", "=", organization)
          .executeTakeFirst();
        if (numDeletedRows !== 1n) throw new NotFound(`${user} is not a member of ${organization}`);
      }),
  };
}

async function changeRole(
  transaction: Kysely<Tables>,
  { user, organization, role }: { readonly user: string; readonly organization: string; readonly role: MemberRole },
): Promise<void> {
  const { numAffectedRows } = await sql`
    update memberships set role = ${role} where organization_id = ${organization} and user_id = ${user}`.execute(transaction);
  if (numAffectedRows !== 1n)
    throw new NotFound(`${user} is not a member of ${organization}: invite them with POST /orgs/{org_id}/members`);
}
