import { Kysely, PostgresDialect, type PostgresPoolClient } from "kysely";
import pg from "pg";
import { asUnavailable } from "./failures.ts";
import { clientWithFiles, withoutSslMode } from "./tls.ts";
import type { ClientFiles } from "../tls/client-files.ts";
import { createPolling, createSignals, type Signals } from "./signals.ts";
import type { Tables } from "./tables.ts";
import { Invariant } from "../../domain/errors.ts";

export interface DatabaseOptions {
  /** `postgres://user:password@host:port/name`. */
  readonly url: string;
  /** With files, the server must have a certificate for its host (`sslmode=verify-full`). Default: as `sslmode` in the URL says. */
  readonly tls?: ClientFiles | undefined;
  /**
   * True: the URL is a pooler in transaction mode, whose connections change after each transaction. Then statements are not prepared under
   * a name, sessions have no settings of their own, and there are no notifications.
   */
  readonly throughPooler?: boolean | undefined;
  /** Connections besides the listening one. Default 10. */
  readonly connections?: number;
  /** True: for migrations and restores. Statements have no time limit, and a connection has thirty seconds. */
  readonly hasSlowStatements?: boolean;
  /** Shown in `pg_stat_activity`. Default `headwater`. */
  readonly applicationName?: string;
}

/** A connection pool and a listening connection. Both reconnect after a restart of Postgres. */
export interface Database {
  readonly db: Kysely<Tables>;
  readonly signals: Signals;
  /** Finishes running statements, then closes all connections. */
  close(): Promise<void>;
}

/** Sent at the start of a session. A pooler refuses them, or would pass them on to other clients. */
const sessionSettings = {
  statement_timeout: 30_000,
  idle_in_transaction_session_timeout: 60_000,
  // With custom plans, which Postgres chooses for some statements, a page of events takes three times as long.
  options: "-c plan_cache_mode=force_generic_plan",
};

/**
 * Connects with the first statement. If Postgres is unreachable or fails during a statement, the statement throws Unavailable; a write may
 * then have been executed or not.
 */
export function createDatabase(options: DatabaseOptions): Database {
  const connection = {
    connectionString: options.tls === undefined ? options.url : withoutSslMode(options.url),
    application_name: options.applicationName ?? "headwater",
    // On a busy machine a new connection takes seconds. Migrations and restores may start while Postgres still recovers from a crash.
    connectionTimeoutMillis: options.hasSlowStatements === true ? 30_000 : 10_000,
    keepAlive: true,
  };
  const Client = options.tls === undefined ? pg.Client : clientWithFiles(options.tls);
  const pool = new pg.Pool({
    ...connection,
    Client,
    max: options.connections ?? 10,
    idleTimeoutMillis: 60_000,
    // No statement takes seconds. The server times out first; the client only if the server is silent.
    ...(options.hasSlowStatements === true ? {} : { query_timeout: 35_000 }),
    ...(options.throughPooler === true
      ? {}
      : { ...sessionSettings, ...(options.hasSlowStatements === true ? { statement_timeout: 0 } : {}) }),
    types: { getTypeParser: parserOf },
  });
  // An unhandled "error" event would end the process. The next statement reports the lost connection.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const nameOf = options.throughPooler === true ? () => undefined : createStatementNames();
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({
      pool: { options: {}, connect: () => connect(pool, nameOf), end: () => pool.end() },
    }),
  });
  const newListener = (): pg.Client => new Client({ ...connection, application_name: `${connection.application_name} signals` });
  const signals = options.throughPooler === true ? createPolling() : createSignals(newListener);
  return {
    db,
    signals,
    async close() {
      await signals.close();
      await db.destroy();
      if (!pool.ended) await pool.end();
    },
  };
}

async function connect(pool: pg.Pool, nameOf: (text: string) => string | undefined): Promise<PostgresPoolClient> {
  const client = await pool.connect().catch((error: unknown) => {
    throw asUnavailable(error);
  });
  return {
    query(statement: unknown, parameters?: readonly unknown[]) {
      if (typeof statement !== "string") throw new Invariant("cursors are not supported: use a page with a limit");
      const values = [...(parameters ?? [])];
      const name = values.length === 0 ? undefined : nameOf(statement);
      // pg types `command` and `rowCount` more widely than kysely; both are the same object.
      return client.query({ text: statement, values, ...(name === undefined ? {} : { name }) }).catch((error: unknown) => {
        throw asUnavailable(error);
      }) as never;
    },
    release: (destroy?: boolean) => client.release(destroy),
  };
}

const maxNames = 200;

/**
 * Prepares statements with parameters under a name, since planning takes longer than execution (an update: 1.8 instead of 3.8 ms). There
 * are few distinct texts; beyond the limit they stay unnamed.
 */
function createStatementNames(): (text: string) => string | undefined {
  const names = new Map<string, string>();
  return (text) => {
    const known = names.get(text);
    if (known !== undefined || names.size >= maxNames) return known;
    const name = `headwater_${names.size}`;
    names.set(text, name);
    return name;
  };
}

const int8 = 20;

/** Versions, sequences and epoch milliseconds are bigint in SQL and well below 2^53. */
function parserOf(...[oid, format]: Parameters<typeof pg.types.getTypeParser>): (text: never) => unknown {
  return Number(oid) === int8 ? parseInteger : pg.types.getTypeParser(oid, format);
}

function parseInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Invariant(`Postgres returned the integer ${text}, which a number cannot hold`);
  return value;
}

/** Runs a write in a transaction of its own, or in the one that the caller has begun. */
export function inTransaction<Result>(db: Kysely<Tables>, write: (transaction: Kysely<Tables>) => Promise<Result>): Promise<Result> {
  return db.isTransaction ? write(db) : db.transaction().execute(write);
}
