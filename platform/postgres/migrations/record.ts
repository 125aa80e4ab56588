import { sql, type Kysely } from "kysely";
import { InvalidInput } from "../../../domain/errors.ts";
import type { Tables } from "../tables.ts";
import { formerNames } from "./former-names.ts";
import { numberOf, type Migration } from "./step.ts";

/** One row for each migration that has begun. */
export const migrationsTable = "headwater_schema";
/** Kept for versions up to 0.1, which read nothing else. */
export const formerTable = "headwater_migrations";

export interface RecordedMigration {
  readonly number: number;
  readonly name: string;
  readonly stepsDone: number;
  readonly isFinished: boolean;
  readonly oldestCode: number;
}

export async function createRecords(db: Kysely<Tables>): Promise<void> {
  await sql
    .raw(`
    create table if not exists ${migrationsTable} (
      number integer primary key,
      name text not null,
      steps_done integer not null default 0,
      finished_at timestamptz,
      oldest_code integer not null default 0
    );
    create table if not exists ${formerTable} (name varchar(255) primary key, timestamp varchar(255) not null)`)
    .execute(db);
}

/** Records what earlier versions have recorded by names that contain dates, whatever their order. */
export async function recognizeFormer(db: Kysely<Tables>, list: readonly Migration[]): Promise<void> {
  const former = list.flatMap(({ name }) => {
    const formerName = formerNames[name];
    return formerName === undefined ? [] : [{ number: numberOf({ name }), name, formerName }];
  });
  await sql`
    insert into ${sql.table(migrationsTable)} (number, name, steps_done, finished_at)
    select number, given.name, 1, now() from unnest(
      ${former.map(({ number }) => number)}::integer[], ${former.map(({ name }) => name)}::text[],
      ${former.map(({ formerName }) => formerName)}::text[]
    ) as given (number, name, former_name)
    join ${sql.table(formerTable)} recorded on recorded.name = given.former_name
    on conflict do nothing`.execute(db);
}

/** Undefined: there is no record that this user may read. */
export async function readRecords(db: Kysely<Tables>): Promise<readonly RecordedMigration[] | undefined> {
  const { rows: readable } = await sql<{ readable: boolean }>`
    select case when to_regclass(${migrationsTable}) is null then false
      else has_table_privilege(to_regclass(${migrationsTable}), 'select') end as readable`.execute(db);
  if (readable[0]?.readable !== true) return undefined;
  const { rows } = await sql<RecordedMigration>`
    select number, name, steps_done as "stepsDone", finished_at is not null as "isFinished", oldest_code as "oldestCode"
    from ${sql.table(migrationsTable)} order by number`.execute(db);
  return rows;
}

/** @throws InvalidInput when a newer version has removed what this one uses */
export function refuseNewer(recorded: readonly RecordedMigration[], list: readonly Migration[]): void {
  const ours = Math.max(0, ...list.map(numberOf));
  const newer = recorded.find(({ oldestCode }) => oldestCode > ours);
  if (newer === undefined) return;
  throw new InvalidInput(
    `the tables in Postgres are those of a newer version of Headwater (${newer.name}), and this version (up to ${list.at(-1)?.name ?? "none"}) cannot use them: start the newer version, or restore the backup from before its upgrade`,
    { code: "newer_schema" },
  );
}

/** Records a step in the transaction of the step, if it has one. */
export async function recordStep(db: Kysely<Tables>, { name, steps, oldestCode = 0 }: Migration, done: number): Promise<void> {
  const isLast = done === steps.length;
  await sql`
    insert into ${sql.table(migrationsTable)} (number, name, steps_done, finished_at, oldest_code)
    values (${numberOf({ name })}, ${name}, ${done}, ${isLast ? new Date() : null}, ${oldestCode})
    on conflict (number) do update
    set steps_done = excluded.steps_done, finished_at = excluded.finished_at, oldest_code = excluded.oldest_code`.execute(db);
  const formerName = formerNames[name];
  if (!isLast || formerName === undefined) return;
  await sql`
    insert into ${sql.table(formerTable)} (name, timestamp) values (${formerName}, ${new Date().toISOString()})
    on conflict do nothing`.execute(db);
}

/** Steps of a migration that are done. */
export async function stepsDone(db: Kysely<Tables>, { name }: Migration): Promise<number> {
  const { rows } = await sql<{ done: number }>`
    select steps_done as done from ${sql.table(migrationsTable)} where number = ${numberOf({ name })}`.execute(db);
  return rows[0]?.done ?? 0;
}
