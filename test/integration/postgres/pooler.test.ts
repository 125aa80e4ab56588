import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDatabase, type Database } from "../../../platform/postgres/connection.ts";
import { openMigratedDatabase } from "../../../platform/postgres/migrated-database.ts";
import { hasExited } from "../../../platform/process/processes.ts";
import { withPostgres } from "../../support/postgres.ts";
import { rolePasswords, setupUser } from "../../support/postgres-users.ts";
import { steadyPort } from "../../support/steady-port.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.ts";

const postgres = withPostgres();

describe("a database behind a pooler in transaction mode", () => {
  it("prepares no statement, sends no settings and does not listen", async () => {
    const database = createDatabase({ url: postgres.setupUrl, throughPooler: true, connections: 1 });
    try {
      const { rows } = await sql<{ prepared: number; plans: string; timeout: string }>`
        select (select count(*)::int from pg_prepared_statements) as prepared, current_setting('plan_cache_mode') as plans,
          current_setting('statement_timeout') as timeout, ${"a parameter"}::text as given`.execute(database.db);
      expect(rows).toEqual([{ prepared: 0, plans: "auto", timeout: "0", given: "a parameter" }]);
      const subscription = database.signals.subscribe("changes", "");
      expect(subscription.live).toBe(false);
      await subscription.wait(1, new AbortController().signal);
      subscription.end();
    } finally {
      await database.close();
    }
  });
});

const program = (process.env["PATH"] ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "pgbouncer"))
  .find(existsSync);
const missing = program === undefined ? " (skipped: pgbouncer is not on PATH)" : "";

describe.skipIf(program === undefined)(`PgBouncer in transaction mode${missing}`, () => {
  let directory: TemporaryDirectory;
  let pooler: ChildProcess;
  let url: string;
  const opened: Database[] = [];

  beforeAll(async () => {
    directory = await temporaryDirectory("pgbouncer");
    const port = await steadyPort();
    url = postgres.setupUrl.replace(/:\d+\//, `:${port}/`);
    await writeFile(join(directory.path, "pgbouncer.ini"), configuration(port));
    const users = `"${setupUser.name}" "${setupUser.password}"\n"headwater_api" "${rolePasswords.api}"\n`;
    await writeFile(join(directory.path, "users.txt"), users, { mode: 0o644 });
    await chmod(directory.path, 0o755);
    // It refuses to run as root.
    const identity = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    pooler = spawn(program ?? "", [join(directory.path, "pgbouncer.ini")], { stdio: "ignore", ...identity });
  });
  afterAll(async () => {
    await Promise.all(opened.map((database) => database.close()));
    if (!hasExited(pooler)) {
      const exited = once(pooler, "exit");
      pooler.kill("SIGKILL");
      await exited;
    }
    await directory.remove();
  });

  /** Two connections to Postgres for all clients. */
  const configuration = (port: number): string => {
    const { hostname, port: target } = new URL(postgres.url);
    return `[databases]
* = host=${hostname} port=${target}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(directory.path, "users.txt")}
pool_mode = transaction
default_pool_size = 2
`;
  };

  it("carries migrations and the transactions of many clients over two connections", async () => {
    const migrated = await openMigratedDatabase({ url, throughPooler: true, migrates: true, waitMs: 50_000 });
    opened.push(migrated);
    const clients = Array.from({ length: 5 }, () => createDatabase({ url, throughPooler: true, connections: 2 }));
    opened.push(...clients);
    const backends = new Set<number>();
    const use = async ({ db }: Database, n: number): Promise<void> => {
      await db.transaction().execute(async (transaction) => {
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid, ${n}::int as n`.execute(transaction);
        backends.add(rows[0]?.pid ?? 0);
        await transaction.selectFrom("plans").selectAll().where("name", "=", "default").execute();
      });
    };
    await Promise.all(Array.from({ length: 200 }, (_, n) => use(clients[n % clients.length] ?? migrated, n)));
    expect(backends.size).toBeLessThanOrEqual(2);
  });

  it("names the setting when a process connects as if to Postgres", async () => {
    const direct = createDatabase({ url });
    opened.push(direct);
    await expect(sql`select 1`.execute(direct.db)).rejects.toThrow(
      /a pooler that refuses the settings of a session: set HEADWATER_DATABASE_POOLER=transaction/,
    );
  });
});
