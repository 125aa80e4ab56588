import { afterAll } from "vitest";
import { createDatabase, type Database } from "../../../platform/postgres/connection.ts";
import { createHistory, type History, type HistoryOptions } from "../../../platform/postgres/history/index.ts";
import type { DatabaseRole } from "../../../platform/postgres/roles.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";

/**
 * A database of the file's own with all tables, created in `beforeAll` and closed after the last test. Its connections use the role's
 * user, so that a statement for which the role has no right fails the test; without a role, that of the tables' owner.
 */
export function withDatabase(role: DatabaseRole | "setup" = "setup", postgres = withMigratedPostgres()): Database {
  const database = createDatabase({ url: role === "setup" ? postgres.setupUrl : postgres.urlOf(role) });
  afterAll(() => database.close());
  return database;
}

/** A history whose methods are called as the users of the roles that call them: three roles record, read and delete. */
export function withHistory(options: HistoryOptions = {}, postgres = withMigratedPostgres()): History {
  const recorder = createHistory(withDatabase("delivery", postgres), options);
  const operator = createHistory(withDatabase("operator", postgres), options);
  const reader = createHistory(withDatabase("api", postgres), options);
  const { readPositions, recordCommits, continueDeletions, fillSearchColumns, sweep } = recorder;
  return { ...reader, readPositions, recordCommits, continueDeletions, fillSearchColumns, sweep, deleteSource: operator.deleteSource };
}
