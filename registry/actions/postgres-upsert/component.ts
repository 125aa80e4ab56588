import { defineAction } from "headwater/types";
import { connectionProps, query, quoted } from "../shared/postgres.ts";

type Row = Readonly<Record<string, unknown>>;

export default defineAction({
  name: "Postgres Upsert",
  key: "headwater-postgres-upsert",
  version: "1.0.0",
  type: "action",
  description: "Inserts rows into a table of a Postgres database, and updates those that exist, in one statement",
  annotations: { released: "2026-11-23" },
  props: {
    ...connectionProps,
    schema: { type: "string", label: "Schema", description: "Schema of the table", default: "public" },
    table: { type: "string", label: "Table", description: "Name of the table" },
    rows: {
      type: "any",
      label: "Rows",
      description:
        'One row as an object by column, such as `{"id": "{{steps.trigger.event.id}}", "total": 5}`, or a list of rows with the same columns',
    },
    conflictColumns: {
      type: "string[]",
      label: "Key Columns",
      description: "Columns of a primary key or unique index: a row that exists is updated. Without any, each row is inserted",
      optional: true,
    },
  },
  async run({ $ }) {
    const rows = parseRows(this.rows);
    const [first] = rows;
    if (first === undefined) {
      $.export("$summary", "There are no rows");
      return { inserted: 0, updated: 0, rows: [] };
    }
    const statement = upsertStatement(this.schema, this.table, Object.keys(first), this.conflictColumns ?? []);
    const result = await query(this, statement, [JSON.stringify(rows)]);
    const inserted = result.rows.filter((row) => row["inserted"] === true).length;
    const updated = result.rows.length - inserted;
    $.export("$summary", `Inserted ${inserted}, updated ${updated} in ${this.table}`);
    return { inserted, updated, rows: result.rows.map((row) => row["row"]) };
  },
});

/**
 * All rows are one parameter, so that their number has no limit of its own, and Postgres converts each value to the type of its column.
 * A row that was inserted has no `xmax`.
 */
function upsertStatement(schema: string, table: string, columns: readonly string[], key: readonly string[]): string {
  const unknown = key.filter((column) => !columns.includes(column));
  if (unknown.length > 0) throw new Error(`key column ${unknown.join(", ")} is missing in the rows: they have ${columns.join(", ")}`);
  const target = `${quoted(schema)}.${quoted(table)}`;
  const list = columns.map(quoted).join(", ");
  const changes = columns.filter((column) => !key.includes(column)).map((column) => `${quoted(column)} = excluded.${quoted(column)}`);
  const action = changes.length === 0 ? "do nothing" : `do update set ${changes.join(", ")}`;
  const onConflict = key.length === 0 ? "" : ` on conflict (${key.map(quoted).join(", ")}) ${action}`;
  return (
    `insert into ${target} as t (${list}) select ${list} from jsonb_populate_recordset(null::${target}, $1::jsonb)` +
    `${onConflict} returning to_jsonb(t) as row, (t.xmax = 0) as inserted`
  );
}

function parseRows(given: unknown): readonly Row[] {
  const rows: readonly unknown[] = Array.isArray(given) ? given : [given];
  const columns = (row: Row): string => JSON.stringify(Object.keys(row).toSorted());
  return rows.map((row, index) => {
    if (!isRow(row)) throw new Error(`row ${index + 1} is ${JSON.stringify(row)?.slice(0, 100)}: it must be an object by column`);
    const [first] = rows;
    if (Object.keys(row).length === 0 || (isRow(first) && columns(row) !== columns(first)))
      throw new Error(`row ${index + 1} has the columns ${columns(row)}: all rows need the same, at least one, as row 1`);
    return row;
  });
}

const isRow = (value: unknown): value is Row => typeof value === "object" && value !== null && !Array.isArray(value);
