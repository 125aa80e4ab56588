import { sql, type Kysely } from "kysely";
import { unknownCursor } from "../../../domain/page.ts";
import type { Tables } from "../tables.ts";

/** Where an item stands in lists, as text: a Date would drop microseconds. */
export interface ListPlace {
  readonly created_at: string;
  readonly name: string;
}

/**
 * By id, or by name while the item has no id yet. Also of an item deleted lately, so that a reader of pages does not lose the place.
 *
 * @param namespace of the list; undefined is all of them. An item of another one has no place there: ids of others tell nobody anything,
 * not even that they are any
 * @throws InvalidInput when there is none
 */
export async function placeOf(db: Kysely<Tables>, kind: string, id: string, namespace: string | undefined): Promise<ListPlace> {
  const within = namespace === undefined ? sql`true` : sql`namespace = ${namespace}`;
  const { rows } = await sql<ListPlace>`
    select created_at::text, name from resources where kind = ${kind} and (public_id = ${id} or name = ${id.replace("_", "-")}) and ${within}
    union all
    select created_at::text, name from resource_tombstones where kind = ${kind} and public_id = ${id} and ${within}
    limit 1`.execute(db);
  if (rows[0] === undefined) throw unknownCursor(id);
  return rows[0];
}
