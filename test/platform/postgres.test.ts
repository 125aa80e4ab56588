import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startPostgres, type PostgresServer } from "../../platform/process/postgres/postgres.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { withPostgres } from "../support/postgres.ts";

describe("startPostgres", () => {
  let directory: TemporaryDirectory;
  const started: PostgresServer[] = [];
  const start = async (): Promise<PostgresServer> => {
    const server = await startPostgres({ dataDirectory: join(directory.path, "postgres") });
    started.push(server);
    return server;
  };
  // All tests use the same data: creating them takes longer than a start.
  beforeAll(async () => {
    directory = await temporaryDirectory("postgres-start");
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((server) => server.kill()));
  });
  afterAll(() => directory.remove());

  it("keeps committed rows when it is killed and started again", async () => {
    const first = await start();
    await query(first.url, "create table kept (n int)");
    await query(first.url, "insert into kept values (7)");
    await first.kill();
    const second = await start();
    expect(await query(second.url, "select n from kept")).toEqual([{ n: 7 }]);
    await second.stop();
  });

  it("ends a server of the same data that outlived its parent", async () => {
    const orphan = await start();
    const second = await start();
    await orphan.exited;
    expect(second.pid).not.toBe(orphan.pid);
    expect(await query(second.url, "select 1 as one")).toEqual([{ one: 1 }]);
  });

  it("starts although the process id of a dead server now belongs to another process", async () => {
    const first = await start();
    await first.kill();
    const file = join(directory.path, "postgres", "data", "postmaster.pid");
    const lines = (await readFile(file, "utf8")).split("\n");
    await writeFile(file, [String(process.pid), ...lines.slice(1)].join("\n"));
    const second = await start();
    expect(await query(second.url, "show fsync")).toEqual([{ fsync: "on" }]);
  });

  it("refuses a wrong password, and stores its own readable only by the owner", async () => {
    const server = await start();
    const wrong = new URL(server.url);
    wrong.password = "wrong";
    await expect(query(wrong.href, "select 1")).rejects.toThrow(/password authentication failed/);
    expect((await stat(join(directory.path, "postgres", "password"))).mode & 0o777).toBe(0o600);
  });
});

describe("withPostgres", () => {
  const postgres = withPostgres();

  it("provides an empty database", async () => {
    const { rows } = await postgres.client.query("select tablename from pg_tables where schemaname = 'public'");
    expect(rows).toEqual([]);
  });
});

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
