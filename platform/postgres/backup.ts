import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";
import { z } from "zod";
import { Conflict, InvalidInput, Unavailable } from "../../domain/errors.ts";
import { createDatabase, type DatabaseOptions } from "./connection.ts";
import { asUnavailable } from "./failures.ts";
import { migrations } from "./migrations/list.ts";
import { migrate } from "./migrations/migrations.ts";
import { grantsTable } from "./granted-rights.ts";
import { formerTable, migrationsTable } from "./migrations/record.ts";
import { numberOf } from "./migrations/step.ts";
import { clientWithFiles, withoutSslMode } from "./tls.ts";

export type BackupDatabase = Pick<DatabaseOptions, "url" | "tls" | "throughPooler">;

const savedTable = z.object({ name: z.string(), columns: z.array(z.string()).min(1) });
export type SavedTable = z.infer<typeof savedTable>;

/** What restoring needs besides the rows. */
export const savedTables = z.object({
  /** Number of the last migration. */
  migration: z.int(),
  /** Referenced tables come before those that reference them. */
  tables: z.array(savedTable),
});
export type SavedTables = z.infer<typeof savedTables>;

/** All tables as they were at one moment. */
export interface TablesSnapshot extends SavedTables {
  /** The rows of a table in Postgres' own form (COPY), never all in memory. */
  rows(table: SavedTable): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** Begins a transaction that sees the tables as they are now, while writers continue. @throws Unavailable, Conflict while a migration runs */
export async function openSnapshot(options: BackupDatabase): Promise<TablesSnapshot> {
  const client = await open(options);
  try {
    await client.query("begin isolation level repeatable read, read only");
    await client.query("set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0");
    const { migration, tables } = await describeTables(client);
    return {
      migration,
      tables,
      rows: ({ name, columns }) => client.query(copyTo(`copy (select ${list(columns)} from ${id(name)}) to stdout`)),
      close: () => client.end(),
    };
  } catch (error) {
    await client.end();
    throw asUnavailable(error);
  }
}

async function describeTables(client: pg.Client): Promise<SavedTables> {
  const { rows: recorded } = await client.query<{ number: number; finished: boolean }>(
    `select number, finished_at is not null as finished from ${migrationsTable} order by number`,
  );
  if (recorded.some(({ finished }) => !finished))
    throw new Conflict("a migration of Postgres has not ended: run setup of this version, then repeat the backup", { code: "not_set_up" });
  const { rows } = await client.query<{ name: string; columns: string[]; referenced: string[] }>(
    `select relname as name, array_agg(attname::text order by attnum) as columns,
      array(select confrelid::regclass::text from pg_constraint where conrelid = c.oid and contype = 'f') as referenced
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and attnum > 0 and not attisdropped and attgenerated = '' and relname <> all($1)
    group by c.oid, relname order by relname`,
    // What setup keeps about this database itself.
    [[migrationsTable, formerTable, grantsTable]],
  );
  return { migration: recorded.at(-1)?.number ?? 0, tables: inOrder(rows).map(({ name, columns }) => ({ name, columns })) };
}

function inOrder<Table extends { readonly name: string; readonly referenced: readonly string[] }>(
  tables: readonly Table[],
): readonly Table[] {
  const ordered: Table[] = [];
  const add = (table: Table): void => {
    if (ordered.includes(table)) return;
    for (const other of tables) if (other !== table && table.referenced.includes(other.name)) add(other);
    ordered.push(table);
  };
  tables.forEach(add);
  return ordered;
}

/** Sessions, sign-in links and unfinished connections end with a restore: one that has ended since the backup must not begin again. */
const notRestored = new Set(["console_sessions", "connections"]);

/**
 * Restores the rows into a database without users of Headwater, in one transaction, which also records the backup. Repeated after a kill, it
 * begins again; repeated after it has ended, it does nothing.
 *
 * @param rows of a table, as saved @returns false if it was restored before @throws Conflict when the database has users, InvalidInput when the tables are
 * newer than this version
 */
export async function restoreTables(
  options: BackupDatabase,
  { migration, tables }: SavedTables,
  backup: string,
  rows: (table: SavedTable) => AsyncIterable<Uint8Array>,
): Promise<boolean> {
  requireKnownMigration(migration);
  const client = await open(options);
  try {
    if ((await restoredBackup(client)) === backup) return false;
    await requireEmpty(client);
    await migrateTo(options, migration);
    await client.query("begin");
    await client.query("set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0");
    await client.query(`truncate ${tables.map(({ name }) => id(name)).join(", ")}`);
    for (const table of tables.filter(({ name }) => !notRestored.has(name))) {
      const sink = client.query(copyFrom(`copy ${id(table.name)} (${list(table.columns)}) from stdin`));
      await pipeline(Readable.from(rows(table), { objectMode: false }), sink);
      await continueIdentities(client, table);
    }
    await client.query(`comment on table ${migrationsTable} is '${commentStart}${backup}'`);
    await client.query("commit");
    return true;
  } catch (error) {
    throw asUnavailable(error);
  } finally {
    await client.end();
  }
}

/** Whether the database was restored from this backup. @throws Conflict when it was not, and has users */
export async function isDatabaseRestored(options: BackupDatabase, backup: string): Promise<boolean> {
  const client = await open(options);
  try {
    if ((await restoredBackup(client)) === backup) return true;
    await requireEmpty(client);
    return false;
  } finally {
    await client.end();
  }
}

export function requireKnownMigration(migration: number): void {
  const ours = Math.max(...migrations.map(numberOf));
  if (migration <= ours) return;
  throw new InvalidInput(
    `the backup is of a newer version of Headwater (migration ${migration}), and this version knows ${ours}: restore it with the newer version`,
    { code: "newer_backup" },
  );
}

async function migrateTo(options: BackupDatabase, migration: number): Promise<void> {
  const database = createDatabase({ ...options, connections: 1, hasSlowStatements: true, applicationName: "headwater restore" });
  try {
    const known = migrations.filter((each) => numberOf(each) <= migration);
    await migrate(database.db, { list: known, throughPooler: options.throughPooler });
  } finally {
    await database.close();
  }
}

async function requireEmpty(client: pg.Client): Promise<void> {
  const { rows: tables } = await client.query<{ exists: boolean }>("select to_regclass('public.users') is not null as exists");
  if (tables[0]?.exists !== true) return;
  const { rowCount } = await client.query("select 1 from users limit 1");
  if (rowCount !== 0)
    throw new Conflict("the database holds an installation of Headwater already: restore into an empty database", { code: "not_empty" });
}

const commentStart = "restored from ";

async function restoredBackup(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ comment: string | null }>(
    `select obj_description(to_regclass('${migrationsTable}'), 'pg_class') as comment`,
  );
  return rows[0]?.comment?.startsWith(commentStart) === true ? rows[0].comment.slice(commentStart.length) : undefined;
}

/** Identities continue after the highest restored value. */
async function continueIdentities(client: pg.Client, { name }: SavedTable): Promise<void> {
  const { rows } = await client.query<{ column: string }>(
    "select attname as column from pg_attribute where attrelid = to_regclass($1) and attidentity <> ''",
    [id(name)],
  );
  for (const { column } of rows)
    await client.query(`select setval(pg_get_serial_sequence($1, $2), greatest((select max(${id(column)}) from ${id(name)}), 1))`, [
      id(name),
      column,
    ]);
}

async function open({ url, tls }: BackupDatabase): Promise<pg.Client> {
  const Client = tls === undefined ? pg.Client : clientWithFiles(tls);
  const client = new Client({
    connectionString: tls === undefined ? url : withoutSslMode(url),
    application_name: "headwater backup",
    keepAlive: true,
  });
  client.on("error", () => {}); // The next statement reports the lost connection.
  try {
    await client.connect();
    return client;
  } catch (cause) {
    const { host, pathname } = new URL(url);
    throw new Unavailable(`cannot use Postgres at ${host}${pathname}: ${(cause as Error).message}`, { cause });
  }
}

const id = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const list = (columns: readonly string[]): string => columns.map(id).join(", ");
