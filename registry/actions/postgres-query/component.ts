import { defineAction } from "headwater/types";
import { connectionProps, query } from "../shared/postgres.ts";

export default defineAction({
  name: "Postgres Query",
  key: "headwater-postgres-query",
  version: "1.0.0",
  type: "action",
  description: "Runs one SQL statement in a Postgres database, with parameters, and returns the rows",
  annotations: { released: "2026-11-23" },
  props: {
    ...connectionProps,
    query: {
      type: "string",
      label: "Query",
      description:
        "One statement, with `$1`, `$2`, … in place of values: `select * from orders where id = $1`. Never write values or expressions into it",
    },
    parameters: {
      type: "any[]",
      label: "Parameters",
      description: "The values of `$1`, `$2`, …, such as `{{steps.trigger.event.id}}`. Objects are sent as JSON",
      optional: true,
    },
  },
  async run({ $ }) {
    const { rows, rowCount } = await query(this, this.query, this.parameters ?? []);
    const count = rowCount ?? rows.length;
    $.export("$summary", `${count} ${count === 1 ? "row" : "rows"}`);
    return { rows: rows.map(plain), row_count: count };
  },
});

/** Bytes in base64: JSON has no form for them. */
function plain(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Buffer.isBuffer(value) ? value.toString("base64") : value]));
}
