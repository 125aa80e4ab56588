import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { createDatabase } from "../../platform/postgres/connection.ts";
import type { migrate } from "../../platform/postgres/migrations/migrations.ts";

type Db = ReturnType<typeof createDatabase>["db"];
const scratch = "scratch";

/**
 * The database as SQL for an empty one, without pg_dump, which is not part of our Postgres: the statements of the release's
 * migrations, then the rows of every table.
 */
export async function dumpOf(url: string, migrateRelease: typeof migrate): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`create database ${scratch}`);
    const scratchUrl = new URL(url);
    scratchUrl.pathname = scratch;
    const schema = await statementsOf(scratchUrl.href, migrateRelease);
    return [
      ...schema,
      "set session_replication_role = replica",
      ...(await rowsOf(client)),
      "set session_replication_role = origin",
      "",
    ].join(";\n");
  } finally {
    await client.end();
  }
}

/** What the migrations change, without their reads and their own records, which are among the rows. */
async function statementsOf(url: string, migrateRelease: typeof migrate): Promise<readonly string[]> {
  const statements: string[] = [];
  const pool = new pg.Pool({ connectionString: url });
  const db = new Kysely({
    dialect: new PostgresDialect({ pool }),
    log: ({ level, query }) => {
      if (level === "query" && query.parameters.length === 0 && /^\s*(create|alter|drop|insert|update|do)\b/i.test(query.sql))
        statements.push(query.sql.trim().replace(/;$/, ""));
    },
  }) as Db; // The migrations alter tables and read none of their types.
  await migrateRelease(db);
  await db.destroy();
  return statements;
}

async function rowsOf(client: pg.Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string; columns: string }>(`
    select quote_ident(relname) as name, string_agg(quote_ident(attname), ', ' order by attnum) as columns
    from pg_class join pg_attribute on attrelid = pg_class.oid
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and attnum > 0 and not attisdropped and attgenerated = ''
    group by relname order by relname`);
  const inserts: string[] = [];
  for (const { name, columns } of rows) {
    const { rows: found } = await client.query<{ all: string | null }>(
      `select quote_literal(json_agg(row_to_json(each))::text) as all from (select ${columns} from ${name}) each`,
    );
    inserts.push(`delete from ${name}`);
    const all = found[0]?.all;
    if (typeof all !== "string") continue;
    inserts.push(
      `insert into ${name} (${columns}) overriding system value select ${columns} from json_populate_recordset(null::${name}, ${all})`,
    );
  }
  const { rows: sequences } = await client.query<{ name: string; value: string }>(
    `select quote_literal(quote_ident(sequencename)) as name, last_value::text as value from pg_sequences where schemaname = 'public' and last_value is not null`,
  );
  return [...inserts, ...sequences.map(({ name, value }) => `select setval(${name}, ${value})`)];
}
