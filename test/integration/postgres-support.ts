import { afterAll, beforeAll } from "vitest";
import { createDatabase, type Database } from "../../platform/postgres/connection.ts";
import { migrate } from "../../platform/postgres/migrations.ts";
import { withPostgres } from "../support/postgres.ts";

/** A database of the file's own with all tables, there from `beforeAll` on; closed after the last test. */
export function withDatabase({ url } = withPostgres()): Database {
  const database = createDatabase({ url });
  beforeAll(() => migrate(database.db));
  afterAll(() => database.close());
  return database;
}
