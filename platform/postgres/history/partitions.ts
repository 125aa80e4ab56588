import { sql, type Kysely, type RawBuilder } from "kysely";
import type { Migration } from "kysely/migration";

/** Each backend caches metadata per partition: many cost more than they help. */
const partitions = 8;

interface Table {
  readonly name: "events" | "logs";
  readonly columns: readonly string[];
  /** Identity column. */
  readonly counter?: string;
}

const tables: readonly Table[] = [
  { name: "events", columns: ["source", "ms", "seq", "emit_id", "channel", "dedupe_id", "summary", "ts", "payload", "run"] },
  { name: "logs", columns: ["source", "n", "run", "record", "place"], counter: "n" },
];

/** Partitions events and logs by the hash of their source, keeping rows and rights. Decision 0062 has the reasons. */
export const partitionHistory: Migration = {
  async up(db: Kysely<unknown>) {
    for (const table of tables) await partition(db, table);
  },
};

async function partition(db: Kysely<unknown>, { name, columns, counter }: Table): Promise<void> {
  const [table, before] = [sql.table(name), sql.table(`${name}_before`)];
  await sql`alter table ${table} rename to ${sql.id(`${name}_before`)}`.execute(db);
  await sql`alter index ${sql.id(`${name}_pkey`)} rename to ${sql.id(`${name}_before_pkey`)}`.execute(db);
  // With its primary key: (source, ms, seq) or (source, n), the order of all reads.
  await sql`create table ${table} (like ${before} including all) partition by hash (source)`.execute(db);
  for (let remainder = 0; remainder < partitions; remainder++) {
    await sql`
      create table ${sql.id(`${name}_${remainder}`)} partition of ${table} for values with (modulus ${sql.lit(partitions)}, remainder ${sql.lit(remainder)})
      with (autovacuum_vacuum_scale_factor = 0.05)`.execute(db);
  }
  const list = sql.join(columns.map((column) => sql.id(column)));
  // Sequential: each statement has a timeout of half a minute.
  for (let remainder = 0; remainder < partitions; remainder++)
    await sql`
      insert into ${table} (${list}) overriding system value select ${list} from ${before}
      where satisfies_hash_partition(${sql.lit(name)}::regclass, ${sql.lit(partitions)}, ${sql.lit(remainder)}, source)`.execute(db);
  if (counter !== undefined) await continueSequence(db, name, counter);
  await copyRights(db, name, `${name}_before`);
  await sql`drop table ${before}`.execute(db);
}

async function continueSequence(db: Kysely<unknown>, table: string, column: string): Promise<void> {
  const sequence = (of: string): RawBuilder<unknown> => sql`pg_get_serial_sequence(${sql.lit(of)}, ${sql.lit(column)})`;
  await sql`select setval(${sequence(table)}, nextval(${sequence(`${table}_before`)}))`.execute(db);
}

/** `migrate` grants the roles their rights later; until then roles of the previous version keep theirs. */
async function copyRights(db: Kysely<unknown>, table: string, before: string): Promise<void> {
  const { rows } = await sql<{ statement: string }>`
    select format('grant %s on %I to %I', privilege_type, ${sql.lit(table)}, grantee::regrole::text) as statement
    from pg_class, aclexplode(relacl) where pg_class.oid = ${sql.lit(before)}::regclass and grantee not in (0, relowner)
    union all
    select format('grant %s (%I) on %I to %I', privilege_type, attname, ${sql.lit(table)}, grantee::regrole::text)
    from pg_attribute, aclexplode(attacl) where attrelid = ${sql.lit(before)}::regclass and grantee <> 0`.execute(db);
  for (const { statement } of rows) await sql.raw(statement).execute(db);
}
