import { createDatabase } from "../../../platform/postgres/connection.ts";
import { migrate } from "../../../platform/postgres/migrations/migrations.ts";
import { largeMigrations } from "./large-migration.ts";

/** A process to be killed: it migrates the database at the address in its argument. */
const [url = ""] = process.argv.slice(2);
process.once("disconnect", () => process.exit());
const database = createDatabase({ url, connections: 1, hasSlowStatements: true, applicationName: "migration to be killed" });
await migrate(database.db, { list: largeMigrations });
