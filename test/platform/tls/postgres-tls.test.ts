import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { waitUntil } from "../../../domain/retry.ts";
import { createDatabase, type Database, type DatabaseOptions } from "../../../platform/postgres/connection.ts";
import { startPostgres, type PostgresServer } from "../../../platform/process/postgres/postgres.ts";
import type { ClientFiles } from "../../../platform/tls/client-files.ts";
import { createAuthority } from "../../support/certificate-authority.ts";
import { trusting, writeIssued } from "../../support/certificate-files.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.ts";

const [authority, other] = [createAuthority("first authority"), createAuthority("second authority")];

/** A Postgres whose certificate and rules for clients the tests change while it runs. */
describe("TLS to Postgres", () => {
  let directory: TemporaryDirectory;
  let server: PostgresServer;
  let data: string;
  let hostRules: string;
  const opened: Database[] = [];

  beforeAll(async () => {
    directory = await temporaryDirectory("postgres-tls");
    server = await startPostgres({ dataDirectory: join(directory.path, "postgres"), durable: false });
    data = join(directory.path, "postgres", "data");
    hostRules = await readFile(join(data, "pg_hba.conf"), "utf8");
    await writeIssued(data, "server", authority.issue());
    await writeFile(join(data, "clients.pem"), authority.certificate, { mode: 0o644 });
  });
  beforeEach(async () => {
    await writeFile(join(data, "pg_hba.conf"), hostRules);
    await writeIssued(data, "server", authority.issue());
    await configure({ ssl: "on", ssl_cert_file: "server.crt", ssl_key_file: "server.key", ssl_ca_file: "clients.pem" });
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((database) => database.close()));
  });
  afterAll(async () => {
    await server.kill();
    await directory.remove();
  });

  async function configure(settings: Readonly<Record<string, string>>): Promise<void> {
    const client = new pg.Client(server.url);
    await client.connect();
    const { rows } = await client.query<{ at: Date }>("select pg_conf_load_time() as at");
    for (const [name, value] of Object.entries(settings)) await client.query(`alter system set ${name} = '${value}'`);
    await client.query("select pg_reload_conf()");
    const reloaded = async (): Promise<boolean> => {
      const now = await client.query<{ at: Date }>("select pg_conf_load_time() as at");
      return (now.rows[0]?.at.getTime() ?? 0) > (rows[0]?.at.getTime() ?? 0);
    };
    expect(await waitUntil(reloaded, 120_000)).toBe(true);
    await client.end();
  }

  function connect(tls: ClientFiles, options: Partial<DatabaseOptions> = {}): Database {
    const database = createDatabase({ url: server.url, tls, connections: 1, ...options });
    opened.push(database);
    return database;
  }

  const isEncrypted = async ({ db }: Database): Promise<boolean | undefined> => {
    const { rows } = await sql<{ ssl: boolean }>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`.execute(db);
    return rows[0]?.ssl;
  };
  const trusted = (): ClientFiles => trusting(directory.path, "trusted", authority.certificate);

  it("encrypts the pool and the listening connection, whatever sslmode the URL has", async () => {
    const url = `${server.url}?sslmode=verify-full`;
    const database = connect(trusted(), { url, applicationName: "encrypted" });
    expect(await isEncrypted(database)).toBe(true);
    const subscription = database.signals.subscribe("changes", "");
    expect(await waitUntil(() => subscription.live, 120_000)).toBe(true);
    const { rows } = await sql<{ ssl: boolean }>`
      select ssl from pg_stat_ssl join pg_stat_activity using (pid) where application_name like 'encrypted%'`.execute(database.db);
    expect(rows).toEqual([{ ssl: true }, { ssl: true }]);
    subscription.end();
  });

  it("refuses a certificate of another authority", async () => {
    const database = connect(trusting(directory.path, "other", other.certificate));
    await expect(isEncrypted(database)).rejects.toThrow(/no TLS connection to Postgres: (self-signed|unable to)/);
  });

  it("refuses a certificate of another host", async () => {
    await writeIssued(data, "server", authority.issue({ hosts: ["postgres.example.com"] }));
    await configure({ ssl: "on" });
    await expect(isEncrypted(connect(trusted()))).rejects.toThrow(/does not match certificate's altnames/);
  });

  it("refuses an expired certificate", async () => {
    await writeIssued(data, "server", authority.issue({ until: new Date(Date.now() - 60_000) }));
    await configure({ ssl: "on" });
    await expect(isEncrypted(connect(trusted()))).rejects.toThrow(/certificate has expired/);
  });

  it("refuses a server without TLS", async () => {
    await configure({ ssl: "off" });
    await expect(isEncrypted(connect(trusted()))).rejects.toThrow(/does not support SSL connections/);
  });

  it("presents its certificate to a server that requires one", async () => {
    await writeFile(
      join(data, "pg_hba.conf"),
      "hostssl all all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca\nhost all all all scram-sha-256\n",
    );
    await configure({ ssl: "on" });
    await expect(isEncrypted(connect(trusted()))).rejects.toThrow(/requires a valid client certificate/);
    const own = await writeIssued(directory.path, "client", authority.issue({ hosts: ["client"] }));
    expect(await isEncrypted(connect({ ...trusted(), ...own }))).toBe(true);
  });

  it("reads rotated authorities for its next connection, without a restart", async () => {
    const files = trusted();
    const database = connect(files);
    expect(await isEncrypted(database)).toBe(true);
    await writeIssued(data, "server", other.issue());
    await configure({ ssl: "on" });
    await endConnections();
    await expect(reconnected(database)).rejects.toThrow(/no TLS connection to Postgres/);
    trusting(directory.path, "trusted", other.certificate);
    expect(await isEncrypted(database)).toBe(true);
  });

  it("fails statements, not the process, while a file is missing", async () => {
    const files = { ...trusted(), ca: join(directory.path, "absent.pem") };
    const database = connect(files);
    await expect(isEncrypted(database)).rejects.toThrow(/certificate file .*absent.pem cannot be read: ENOENT/);
    await writeFile(files.ca, authority.certificate);
    expect(await isEncrypted(database)).toBe(true);
  });

  /** The pool notices the end of its connection a moment later. */
  async function reconnected(database: Database): Promise<boolean | undefined> {
    let result: Promise<boolean | undefined> = Promise.resolve(undefined);
    await waitUntil(async () => {
      result = isEncrypted(database);
      return result.then(
        () => true,
        (error: unknown) => error instanceof Error && !/terminat/.test(error.message),
      );
    }, 120_000);
    return result;
  }

  async function endConnections(): Promise<void> {
    const client = new pg.Client(server.url);
    await client.connect();
    await client.query("select pg_terminate_backend(pid, 10000) from pg_stat_activity where application_name = 'headwater'");
    await client.end();
  }
});
