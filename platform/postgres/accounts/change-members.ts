import { sql, type Kysely } from "kysely";
import { Conflict } from "../../../domain/errors.ts";
import type { Tables } from "../tables.ts";
import { inTransaction } from "../connection.ts";

/** Serialized: two admins who remove each other concurrently would each rely on the other. */
export async function changeMembers(
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
