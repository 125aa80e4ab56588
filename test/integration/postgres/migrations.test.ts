import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createDatabase, type Database } from "../../../platform/postgres/connection.ts";
import { formerNames } from "../../../platform/postgres/migrations/former-names.ts";
import { migrations } from "../../../platform/postgres/migrations/list.ts";
import { migrate, untilMigrated } from "../../../platform/postgres/migrations/migrations.ts";
import { numberOf, transaction, type Migration } from "../../../platform/postgres/migrations/step.ts";
import { withPostgres } from "../../support/postgres.ts";
import { until } from "../../support/until.ts";
import { largeMigrations, rows } from "./large-migration.ts";

/** Migrations on a real Postgres, each test in an empty database. */
const postgres = withPostgres();
let url: string;
let database: Database;
let databases = 0;

beforeEach(async () => {
  const name = `${new URL(postgres.url).pathname.slice(1)}_${++databases}`;
  await postgres.client.query(`create database ${name}`);
  const own = new URL(postgres.url);
  own.pathname = `/${name}`;
  url = own.href;
  database = createDatabase({ url, hasSlowStatements: true });
});
afterEach(async () => {
  await database.close();
  await postgres.client.query(`drop database ${new URL(url).pathname.slice(1)} with (force)`);
});

const recorded = async (): Promise<readonly string[]> => {
  const { rows: found } = await sql<{ name: string }>`
    select name from headwater_schema where finished_at is not null order by number`.execute(database.db);
  return found.map(({ name }) => name);
};
const count = async (table: string, where: string): Promise<number> => {
  const { rows: found } = await sql<{ n: number }>`select count(*) as n from ${sql.table(table)} where ${sql.raw(where)}`.execute(
    database.db,
  );
  return found[0]?.n ?? 0;
};
const namesOf = (list: readonly Migration[]): readonly string[] => list.map(({ name }) => name);

describe("the list", () => {
  test("is numbered from 1 without gaps, so that names and dates do not decide the order", () => {
    expect(migrations.map(numberOf)).toEqual(migrations.map((_, index) => index + 1));
  });

  test("runs in its order, and records each migration", async () => {
    await migrate(database.db);
    expect(await recorded()).toEqual(namesOf(migrations));
    await untilMigrated(database.db, 0);
  });
});

describe("a database that an earlier version has migrated", () => {
  const [first, ...others] = migrations;

  test("is recognized by the names that contain dates: only what is missing runs", async () => {
    const dated = migrations.filter(({ name }) => name in formerNames);
    await migrate(database.db, { list: dated });
    // As an earlier version leaves it that lacks the last two of them.
    const last = namesOf(dated).slice(-2);
    await sql`drop table headwater_schema`.execute(database.db);
    await sql`delete from headwater_migrations where name = any(${last.map((name) => formerNames[name] ?? "")}::text[])`.execute(
      database.db,
    );
    await sql`drop table audit_log; alter table usage drop column events, drop column deliveries`.execute(database.db);
    await migrate(database.db);
    expect(await recorded()).toEqual(namesOf(migrations));
    expect(await count("audit_log", "true")).toBe(0);
  });

  test("is recognized when the names were recorded in another order than the list's", async () => {
    const list: readonly Migration[] = [
      { name: others[0]?.name ?? "", steps: [transaction("create table second (n int)")] },
      { name: first?.name ?? "", steps: [transaction("create table first (n int)")] },
    ];
    await migrate(database.db, { list: list.slice(0, 1) });
    await migrate(database.db, { list: list });
    expect(await count("first", "true")).toBe(0);
  });

  test("keeps the records that a version before the numbers reads, for a rollback", async () => {
    await migrate(database.db);
    const { rows: found } = await sql<{ name: string }>`select name from headwater_migrations`.execute(database.db);
    expect(found.map(({ name }) => name).toSorted()).toEqual(Object.values(formerNames).toSorted());
  });
});

describe("a newer version's tables", () => {
  const newest = migrations.length;
  const recordNewer = (oldestCode: number) =>
    sql`
      insert into headwater_schema (number, name, steps_done, finished_at, oldest_code)
      values (${newest + 2}, ${`m${newest + 2}-newer`}, 1, now(), ${oldestCode})`.execute(database.db);

  test("are used while the newer version has only added", async () => {
    await migrate(database.db);
    await recordNewer(newest);
    await migrate(database.db);
    await untilMigrated(database.db, 0);
  });

  test("are refused once it has removed what this version reads, with what to do", async () => {
    await migrate(database.db);
    await recordNewer(newest + 1);
    const refusal = {
      code: "newer_schema",
      message: expect.stringMatching(/newer version.*start the newer version, or restore the backup/),
    };
    await expect(migrate(database.db)).rejects.toMatchObject(refusal);
    await expect(untilMigrated(database.db, 60_000)).rejects.toMatchObject(refusal);
  });
});

describe("a large table", () => {
  const remaining = () => count("large", "size is null");

  test("is migrated on from where a killed process stopped", async () => {
    await migrate(database.db, { list: largeMigrations.slice(0, 1) });
    // The batch of the last row is blocked, so that the kill hits the middle.
    await sql`create function wait_at_last() returns trigger language plpgsql as $$ begin
      if new.n = ${sql.lit(rows / 2)} then perform pg_advisory_xact_lock(7); end if; return new; end $$;
      create trigger wait_at_last before update on large for each row execute function wait_at_last()`.execute(database.db);
    const blocking = createDatabase({ url, connections: 1 });
    onTestFinished(() => blocking.close());
    await blocking.db.connection().execute(async (connection) => {
      await sql`select pg_advisory_lock(7)`.execute(connection);
      const child = fork(join(import.meta.dirname, "migrating-process.ts"), [url]);
      onTestFinished(() => void child.kill("SIGKILL"));
      const waiting = sql`
        select 1 from pg_stat_activity
        where application_name = 'migration to be killed' and wait_event = 'advisory' and datname = current_database()`;
      await until(async () => (await waiting.execute(database.db)).rows.length > 0);
      child.kill("SIGKILL");
      await once(child, "exit");
      await sql`select pg_advisory_unlock(7)`.execute(connection);
    });
    const left = await remaining();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(rows);
    await migrate(database.db, { list: largeMigrations });
    expect(await remaining()).toBe(0);
    expect(await count("large", "changes <> 1")).toBe(0);
    expect(await recorded()).toEqual(namesOf(largeMigrations));
  });

  test("replaces an index that a killed process has left incomplete", async () => {
    await migrate(database.db, { list: largeMigrations.slice(0, 1) });
    await sql`alter table large add column size integer`.execute(database.db);
    await expect(sql`create unique index concurrently large_by_size on large ((changes))`.execute(database.db)).rejects.toThrow(/unique/);
    const index = async () =>
      (
        await sql<{ valid: boolean }>`select indisvalid as valid from pg_index where indexrelid = 'large_by_size'::regclass`.execute(
          database.db,
        )
      ).rows[0]?.valid;
    expect(await index()).toBe(false);
    const [, size] = largeMigrations;
    if (size === undefined) throw new Error("there is no second migration");
    await migrate(database.db, { list: [...largeMigrations.slice(0, 1), { ...size, steps: size.steps.slice(1) }] });
    expect(await index()).toBe(true);
  });

  test("is written by the running version in the meantime", async () => {
    await migrate(database.db, { list: largeMigrations.slice(0, 1) });
    const writer = createDatabase({ url, connections: 1 });
    onTestFinished(() => writer.close());
    let [written, isMigrated] = [0, false];
    // Batches catch up with a running version, but need not with one that writes faster than they do, forever.
    const writing = (async () => {
      while (!isMigrated && written < rows / 10)
        await sql`insert into large (n, text) values (${rows + ++written}, 'new')`.execute(writer.db);
    })();
    await migrate(database.db, { list: largeMigrations });
    const during = written;
    isMigrated = true;
    await writing;
    expect(during).toBeGreaterThan(10);
    expect(await count("large", "true")).toBe(rows + written);
    expect(await count("large", `size is null and n <= ${rows}`)).toBe(0);
  });

  test("whose lock another transaction holds is migrated once that has ended, and does not block other writers for long", async () => {
    await migrate(database.db, { list: largeMigrations.slice(0, 1) });
    const other = createDatabase({ url, connections: 1 });
    onTestFinished(() => other.close());
    let migrating: Promise<void> | undefined;
    await other.db.transaction().execute(async (reading) => {
      await sql`select count(*) from large`.execute(reading);
      migrating = migrate(database.db, { list: largeMigrations });
      const waiting = sql`select 1 from pg_locks where not granted and relation = 'large'::regclass`;
      await until(async () => (await waiting.execute(reading)).rows.length > 0);
      // Behind the waiting statement; it would never run if that did not give up.
      await sql`insert into large (n, text) values (0, 'during')`.execute(database.db);
    });
    await migrating;
    expect(await recorded()).toEqual(namesOf(largeMigrations));
  });
});
