import { sql, type Kysely } from "kysely";
import type { Accounts } from "../../../api/owners/ports.ts";
import { Conflict, NotFound } from "../../../domain/errors.ts";
import type { Tables } from "../tables.ts";
import { withConstraintErrors } from "./constraints.ts";
import { inTransaction } from "./recording.ts";

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
    putMember: (user, organization, role, { keepsAdmin = false } = {}) =>
      withConstraintErrors(
        changeMembers(db, organization, keepsAdmin, async (transaction) => {
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

/** Serialized: two admins who remove each other concurrently would each rely on the other. */
async function changeMembers(
  db: Kysely<Tables>,
  organization: string,
  keepsAdmin: boolean,
  change: (transaction: Kysely<Tables>) => Promise<void>,
): Promise<void> {
  await inTransaction(db, async (transaction) => {
    await sql`select from organizations where id = ${organization} for no key update`.execute(transaction);
    await change(transaction);
    if (!keepsAdmin) return;
    const { rows } = await sql`select from memberships where organization_id = ${organization} and role = 'admin' limit 1`.execute(
      transaction,
    );
    if (rows.length === 0)
      throw new Conflict(`${organization} would be left without an admin: make another member an admin first`, { code: "last_admin" });
  });
}
