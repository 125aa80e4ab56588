import { afterAll, beforeAll } from "vitest";
import { createDatabase, type Database } from "../../../platform/postgres/connection.ts";
import { createHistory, type History, type HistoryOptions } from "../../../platform/postgres/history/index.ts";
import { migrate } from "../../../platform/postgres/migrations/migrations.ts";
import { grantRights, type DatabaseRole } from "../../../platform/postgres/roles.ts";
import { withPostgres, type TestPostgres } from "../../support/postgres.ts";

/**
 * A database of the file's own with all tables, created in `beforeAll` and closed after the last test. Its connections use the role's
 * user, so that a statement for which the role has no right fails the test; without a role, that of the tables' owner.
 */
export function withDatabase(role: DatabaseRole | "setup" = "setup", postgres = withPostgres()): Database {
  const database = createDatabase({ url: role === "setup" ? postgres.setupUrl : postgres.urlOf(role) });
  beforeAll(() => prepareDatabase(postgres));
  afterAll(() => database.close());
  return database;
}

/** Creates the tables and grants all roles their rights, as the tables' owner. */
export async function prepareDatabase({ setupUrl }: Pick<TestPostgres, "setupUrl">): Promise<void> {
  const owner = createDatabase({ url: setupUrl });
  try {
    await migrate(owner.db);
    await grantRights(owner.db);
  } finally {
    await owner.close();
  }
}

/** A history whose methods are called as the users of the roles that call them: three roles record, read and delete. */
export function withHistory(options: HistoryOptions = {}, postgres = withPostgres()): History {
  const recorder = createHistory(withDatabase("delivery", postgres), options);
  const operator = createHistory(withDatabase("operator", postgres), options);
  const reader = createHistory(withDatabase("api", postgres), options);
  const { readPositions, recordCommits, continueDeletions, sweep } = recorder;
  return { ...reader, readPositions, recordCommits, continueDeletions, sweep, deleteSource: operator.deleteSource };
}
