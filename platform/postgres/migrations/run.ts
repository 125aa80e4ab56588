import { sql, type Kysely } from "kysely";
import { assertNever, Unavailable } from "../../../domain/errors.ts";
import { retry } from "../../../domain/retry.ts";
import { advisoryLocks } from "../advisory-locks.ts";
import type { Tables } from "../tables.ts";
import { createRecords, readRecords, recognizeFormer, recordStep, refuseNewer, stepsDone } from "./record.ts";
import type { Migration, Step } from "./step.ts";

const lockEvery = { firstMs: 250 } as const;
/**
 * A statement that waits for the lock of a table makes all later statements wait as well: it gives up after this time, and is repeated once
 * they have run.
 */
const maxLockWait = "2s";
const lockWait = { firstMs: 500, maxMs: 5_000, withinMs: 600_000 } as const;

export interface RunOptions {
  /** False for a pooler in transaction mode: the lock of a session would stay on a connection that others get. */
  readonly locksSession: boolean;
}

/** Runs what is left of the list, on one connection. @throws InvalidInput for tables of a newer version */
export async function runMigrations(db: Kysely<Tables>, list: readonly Migration[], { locksSession }: RunOptions): Promise<void> {
  await db.connection().execute(async (connection) => {
    if (!locksSession) return runList(connection, list);
    await retry(() => takeLock(connection), { ...lockEvery, isTransient: (error) => error instanceof Unavailable });
    try {
      await runList(connection, list);
    } finally {
      await sql`select pg_advisory_unlock(${advisoryLocks.migrations})`.execute(connection);
    }
  });
}

async function runList(db: Kysely<Tables>, list: readonly Migration[]): Promise<void> {
  await inLockedTransaction(db, async (transaction) => {
    await createRecords(transaction);
    await recognizeFormer(transaction, list);
  });
  refuseNewer((await readRecords(db)) ?? [], list);
  for (const migration of list) await runMigration(db, migration);
}

/** @throws Unavailable while another process migrates */
async function takeLock(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ taken: boolean }>`select pg_try_advisory_lock(${advisoryLocks.migrations}) as taken`.execute(db);
  if (rows[0]?.taken !== true) throw new Unavailable("another process migrates Postgres");
}

async function runMigration(db: Kysely<Tables>, migration: Migration): Promise<void> {
  for (let done = await stepsDone(db, migration); done < migration.steps.length; done++) {
    const step = migration.steps[done];
    if (step !== undefined) await runStep(db, migration, step, done + 1);
  }
}

async function runStep(db: Kysely<Tables>, migration: Migration, step: Step, number: number): Promise<void> {
  switch (step.kind) {
    case "transaction":
      return inLockedTransaction(db, async (transaction) => {
        // Another process may have run it since it was read.
        if ((await stepsDone(transaction, migration)) >= number) return;
        await step.run(transaction);
        await recordStep(transaction, migration, number);
      });
    case "batches":
      while (await inLockedTransaction(db, step.run));
      return recordStep(db, migration, number);
    case "index":
      await createIndex(db, step);
      return recordStep(db, migration, number);
    default:
      return assertNever(step);
  }
}

function inLockedTransaction<Result>(db: Kysely<Tables>, run: (transaction: Kysely<Tables>) => Promise<Result>): Promise<Result> {
  const attempt = (): Promise<Result> =>
    db.transaction().execute(async (transaction) => {
      await sql.raw(`set local lock_timeout = '${maxLockWait}'`).execute(transaction);
      await sql`select pg_advisory_xact_lock(${advisoryLocks.migrationTransactions})`.execute(transaction);
      return run(transaction);
    });
  return retry(attempt, { ...lockWait, isTransient: isLockTimeout });
}

const lockNotAvailable = "55P03";

function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === lockNotAvailable;
}

/** An index that a killed process has left incomplete is never used, and costs each write. */
async function createIndex(db: Kysely<Tables>, { name, on }: Extract<Step, { kind: "index" }>): Promise<void> {
  const { rows } = await sql<{ valid: boolean }>`
    select indisvalid as valid from pg_index where indexrelid = to_regclass(${name})`.execute(db);
  if (rows[0]?.valid === true) return;
  if (rows[0] !== undefined) await sql.raw(`drop index concurrently ${name}`).execute(db);
  await sql.raw(`create index concurrently ${name} on ${on}`).execute(db);
}
