import type { Kysely } from "kysely";
import { HeadwaterError, Invariant, Unavailable } from "../../../domain/errors.ts";
import { retry } from "../../../domain/retry.ts";
import { asUnavailable } from "../failures.ts";
import type { Tables } from "../tables.ts";
import { migrations } from "./list.ts";
import { readRecords, refuseNewer } from "./record.ts";
import { runMigrations } from "./run.ts";
import type { Migration } from "./step.ts";

export interface MigrateOptions {
  /** Default: those of this version. */
  readonly list?: readonly Migration[];
  /** See `DatabaseOptions`. */
  readonly throughPooler?: boolean | undefined;
}

/**
 * Migrates the tables. Concurrent processes are serialized by a lock, and one that was killed is continued by the next.
 *
 * @throws Unavailable when Postgres is unreachable, InvalidInput when a newer version has migrated it
 */
export async function migrate(db: Kysely<Tables>, { list = migrations, throughPooler = false }: MigrateOptions = {}): Promise<void> {
  try {
    await runMigrations(db, list, { locksSession: !throughPooler });
  } catch (error) {
    const known = asUnavailable(error);
    if (known instanceof HeadwaterError) throw known;
    throw new Invariant("migrating Postgres failed", { cause: error });
  }
}

/** Error code that distinguishes missing migrations from a failing Postgres. */
export const notMigrated = "not_set_up";
const defaultTimeoutMs = 60_000;

/**
 * For processes without rights to migrate: resolves once all migrations of this version have run. @throws Unavailable after a minute,
 * InvalidInput when a newer version has migrated it
 */
export async function untilMigrated(db: Kysely<Tables>, waitMs = defaultTimeoutMs): Promise<void> {
  const requireMigrations = async (): Promise<void> => {
    const recorded = await readRecords(db).catch((error: unknown) => {
      throw asUnavailable(error);
    });
    refuseNewer(recorded ?? [], migrations);
    const finished = new Set((recorded ?? []).filter(({ isFinished }) => isFinished).map(({ name }) => name));
    const missing = migrations.filter(({ name }) => !finished.has(name)).map(({ name }) => name);
    if (missing.length > 0)
      throw new Unavailable(
        `the tables in Postgres lack changes of this version (${missing.join(", ")}), after ${waitMs / 1000} s of waiting: run setup of this version (npm start -- --setup); in a cluster look at the Job headwater-setup`,
        { code: notMigrated },
      );
  };
  const isTransient = (error: unknown): boolean => error instanceof Unavailable && error.code === notMigrated;
  await retry(requireMigrations, { firstMs: 500, withinMs: waitMs, isTransient });
}
