import { sql, type Kysely } from "kysely";
import { unknownCursor } from "../../../domain/page.ts";
import type { Tables } from "../tables.ts";

/** Sort position in lists; as text, because a Date drops microseconds. */
export interface ListPosition {
  readonly created_at: string;
  readonly name: string;
}

/**
 * By id, or by name if the item has no id yet. Includes recently deleted items, so that a client can continue its pages.
 *
 * @param namespace of the list; undefined: all. Items of other namespaces are not found: ids must not reveal that they exist
 * @throws InvalidInput when there is none
 */
export async function listPositionOf(db: Kysely<Tables>, kind: string, id: string, namespace: string | undefined): Promise<ListPosition> {
  const within = namespace === undefined ? sql`true` : sql`namespace = ${namespace}`;
  const { rows } = await sql<ListPosition>`
    select created_at::text, name from resources where kind = ${kind} and (public_id = ${id} or name = ${id.replace("_", "-")}) and ${within}
    union all
    select created_at::text, name from resource_tombstones where kind = ${kind} and public_id = ${id} and ${within}
    limit 1`.execute(db);
  if (rows[0] === undefined) throw unknownCursor(id);
  return rows[0];
}
