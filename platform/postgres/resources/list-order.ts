import { sql, type Kysely, type RawBuilder } from "kysely";
import { formatPosition, newestFirst, parsePosition, type ListOrder } from "../../../domain/list-order.ts";
import type { PageRequest } from "../../../domain/page.ts";
import type { Tables } from "../tables.ts";
import { listPositionOf } from "./place.ts";

/** SQL of a page in an order. Each has an index of kind, namespace, its column and the name. */
export interface PageOrder {
  /** Rows behind the cursor, or before it. */
  readonly beyond: RawBuilder<unknown>;
  /** From the cursor on, which is backwards if it is on the other side. */
  readonly reading: RawBuilder<unknown>;
  /** Order of the list. */
  readonly listed: RawBuilder<unknown>;
  /** Selected beside the columns of a resource. */
  readonly columns: RawBuilder<unknown>;
  /** The position in the cursor of a row; undefined: cursors are ids. */
  readonly positionOf: ((row: SortedRow) => string) | undefined;
}

export interface SortedRow {
  readonly name: string;
  readonly sorted_by?: string;
}

const sortColumns: Readonly<Record<ListOrder["by"], string>> = {
  name: "list_name",
  created_at: "created_at",
  updated_at: "list_updated_ms",
};
const types = { name: sql`text`, created_at: sql`timestamptz`, updated_at: sql`bigint` };

/** @param namespace of the list; undefined: all. @throws InvalidInput for a cursor that is not of this list */
export async function pageOrder(
  db: Kysely<Tables>,
  kind: string,
  namespace: string | undefined,
  { cursor, order = newestFirst }: Pick<PageRequest, "cursor" | "order">,
): Promise<PageOrder> {
  const { by, isDescending } = order;
  const column = sql.ref(sortColumns[by]);
  const isBackwards = cursor?.side === "before";
  const inOrder = (descends: boolean): RawBuilder<unknown> => (descends ? sql`${column} desc, name desc` : sql`${column}, name`);
  const after = cursor === null ? undefined : await positionOf(db, kind, namespace, by, cursor.id);
  // The indexes of names and updates are partial: this condition lets Postgres use them. It holds for every row of these kinds.
  const isIndexed = by === "created_at" ? sql`true` : sql`list_facts is not null`;
  const operator = isDescending === isBackwards ? sql`>` : sql`<`;
  return {
    beyond:
      after === undefined
        ? isIndexed
        : sql`${isIndexed} and (${column}, name) ${operator} (${after.value}::${types[by]}, ${after.name}::text)`,
    reading: inOrder(isDescending !== isBackwards),
    listed: inOrder(isDescending),
    columns: by === "created_at" ? sql`null as sorted_by` : sql`${column}, ${column}::text as sorted_by`,
    positionOf: by === "created_at" ? undefined : ({ sorted_by, name }) => formatPosition(by, { value: sorted_by ?? "", name }),
  };
}

async function positionOf(db: Kysely<Tables>, kind: string, namespace: string | undefined, by: ListOrder["by"], cursor: string) {
  if (by !== "created_at") return parsePosition(by, cursor);
  const { created_at: value, name } = await listPositionOf(db, kind, cursor, namespace);
  return { value, name };
}
