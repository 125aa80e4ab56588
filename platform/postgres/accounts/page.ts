import { sql, type Kysely } from "kysely";
import { unknownCursor, type PageRequest } from "../../../domain/page.ts";
import type { Tables } from "../tables.ts";

/** Ids of the owners on a page, newest first, and the total. @throws InvalidInput for a cursor that is not in the list */
export async function pageIds(
  db: Kysely<Tables>,
  owners: "users" | "organizations",
  { limit, cursor }: PageRequest,
): Promise<{ readonly ids: readonly string[]; readonly total: number }> {
  const table = sql.table(owners);
  const backwards = cursor?.side === "before";
  const cursorRow = sql`select created_at, id from ${table} where id = ${cursor?.id ?? ""}`;
  const beyond = cursor === null ? sql`true` : sql`(created_at, id) ${backwards ? sql`>` : sql`<`} (${cursorRow})`;
  const { rows } = await sql<{ total: number; knows_cursor: boolean; ids: string[] }>`
    select (select count(*) from ${table}) as total, exists (${cursorRow}) as knows_cursor, array(
      select id from ${table} where ${beyond} order by ${backwards ? sql`created_at, id` : sql`created_at desc, id desc`} limit ${limit}
    ) as ids`.execute(db);
  const { total = 0, knows_cursor = false, ids = [] } = rows[0] ?? {};
  if (cursor !== null && !knows_cursor) throw unknownCursor(cursor.id);
  return { ids, total };
}
