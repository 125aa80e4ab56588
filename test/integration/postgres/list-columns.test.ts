import { sql } from "kysely";
import { expect, test } from "vitest";
import { createDatabase } from "../../../platform/postgres/connection.ts";
import { migrations } from "../../../platform/postgres/migrations/list.ts";
import { migrate } from "../../../platform/postgres/migrations/migrations.ts";
import { withPostgres } from "../../support/postgres.ts";

const postgres = withPostgres();
const before = migrations.findIndex(({ name }) => name === "m0042-sorted-lists");

/** Stored resources may not match their schemas: those of a cluster are mirrored as they are. */
const rows: readonly (readonly [kind: string, spec: string, status: string, name: string, updatedMs: number, facts: object])[] = [
  ["Webhook", `{"name":"Ärger","url":"https://a.example"}`, `{"updatedAt":4000000000000}`, "ärger", 4e12, { url: "https://a.example" }],
  ["Webhook", `{"url":"https://B.example"}`, "{}", "https://b.example", 1e12, { url: "https://B.example" }],
  // Webhooks of earlier versions may have a password in their URL, and cursors show what a list is sorted by.
  ["Webhook", `{"url":"https://me:s3@c.example/in@b"}`, "{}", "https://c.example/in@b", 1e12, { url: "https://c.example/in@b" }],
  ["Webhook", `{"name":{"a":1},"active":"no"}`, `{"updatedAt":"soon","state":7}`, `{"a": 1}`, 1e12, { active: "no", state: "7" }],
  [
    "Workflow",
    `{"triggers":[{"http":{}},{"sourceRef":{}},{"http":{}},3,null]}`,
    `{"updatedAt":1e300}`,
    "r4",
    1e15,
    { triggers: ["http", "source"] },
  ],
  [
    "Workflow",
    `{"triggers":"none","name":"zero \\u0000 \\ud800"}`,
    `{"updatedAt":-5,"active":false}`,
    "zero \uFFFD \uFFFD",
    1e12,
    { triggers: null, runningActive: "false" },
  ],
  ["Source", `{"name":"New","url":"https://component.example"}`, `{"running":{"name":"Old","active":true}}`, "old", 1e12, { url: null }],
  ["Source", `[]`, `[]`, "r7", 1e12, { name: null }],
];

test("lists can be sorted by what was stored before the migration, also if it does not match its schema", async () => {
  expect(before).toBeGreaterThan(0);
  const database = createDatabase({ url: postgres.url, hasSlowStatements: true });
  try {
    const { db } = database;
    await migrate(db, { list: migrations.slice(0, before) });
    const insert = async (name: string, [kind, spec, status]: (typeof rows)[number]): Promise<void> => {
      await sql`
        insert into resources (kind, namespace, name, uid, resource_version, created_version, generation, created_at, finalizers, labels, annotations, spec, status)
        values (${kind}, 'n', ${name}, gen_random_uuid(), 1, 1, 1, to_timestamp(1e9), '{}', '{}', '{}', ${spec}::json, ${status}::json)`.execute(
        db,
      );
    };
    for (const [index, row] of rows.entries()) await insert(`r${index}`, row);
    await migrate(db);
    // The same after a later write, which the trigger sees.
    for (const [index, row] of rows.entries()) await insert(`later-r${index}`, row);
    for (const [index, [, , , name, updatedMs, facts]] of rows.entries())
      for (const prefix of ["", "later-"]) {
        const { rows: found } = await sql`
          select list_name, list_updated_ms, list_facts from resources where name = ${`${prefix}r${index}`}`.execute(db);
        const expected = name === `r${index}` ? prefix + name : name;
        expect(found).toEqual([{ list_name: expected, list_updated_ms: updatedMs, list_facts: expect.objectContaining(facts) }]);
      }
  } finally {
    await database.close();
  }
});
