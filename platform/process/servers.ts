import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { InvalidInput } from "../../domain/errors.ts";
import { defaultPool } from "../../domain/subjects.ts";
import { isDatabaseRole, urlOfRole, type DatabaseRole, type RolePasswords } from "../postgres/roles.ts";
import type { Logger } from "../telemetry/logger.ts";
import { roleNames, type Configuration, type RoleName } from "./configuration.ts";
import { lockDataDirectory } from "./data-lock.ts";
import { findNatsServer } from "./find-nats-server.ts";
import { keepRunning, type RunningProcess } from "./keep-running.ts";
import { keptNatsRoot, natsKeysOf, natsRootFile } from "./nats-keys.ts";
import { keepRoleCredentials } from "./nats-credentials.ts";
import { parseCredentials, parseNatsUrl, type NatsConnection } from "./nats-connection.ts";
import { endAfterWriteErrors } from "./nats-write-errors.ts";
import { keptPassword } from "./password.ts";
import { startNats } from "./nats-server.ts";
import { startPostgres } from "./postgres.ts";
import { requireFreePorts } from "./require-free-ports.ts";

/** NATS and Postgres: somebody else's, or ours. */
export interface Servers {
  /** To set things up with. */
  readonly nats: NatsConnection;
  /** What a role connects with: its own user when the server is ours, else what was given. */
  natsOf(role: RoleName): NatsConnection;
  /** Of a user who may make tables. */
  readonly databaseUrl: string | undefined;
  /** What a role connects with: its own user when the server is ours, else what was given. */
  databaseUrlOf(role: RoleName): string | undefined;
  /** Of the roles' users, which are to be made; absent when the server is somebody else's. */
  readonly databasePasswords: RolePasswords | undefined;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

export interface ServersOptions {
  readonly configuration: Configuration;
  /** False for roles that must not reach the database. */
  readonly needsDatabase: boolean;
  readonly logger: Logger;
}

/**
 * Starts what the configuration does not name, and keeps it running on the same port. While a server is ours the data
 * directory is locked, so that a second start on it cannot end the servers of the first as left-overs.
 */
export async function startServers(options: ServersOptions): Promise<Servers> {
  const { configuration, needsDatabase, logger } = options;
  const { natsUrl, databaseUrl } = configuration;
  const ours = { nats: natsUrl === undefined, postgres: databaseUrl === undefined && needsDatabase };
  const lock = ours.nats || ours.postgres ? await lockDataDirectory(configuration.dataDirectory, configuration.publicUrl) : undefined;
  const started: RunningProcess[] = [];
  const each = async (how: "stop" | "kill"): Promise<void> => {
    await Promise.allSettled(started.map((server) => server[how]()));
    await lock?.release();
  };
  const keep = (server: RunningProcess): number => started.push(server);
  try {
    await requireFreePorts(configuration);
    const [nats, ownDatabaseUrl] = await Promise.all([
      natsUrl === undefined ? startOwnNats(configuration, logger, keep) : givenNats(natsUrl, configuration.natsCredentialsFile),
      ours.postgres ? startOwnPostgres(configuration, logger, keep) : databaseUrl,
    ]);
    return {
      ...nats,
      ...(await databaseAccess(ownDatabaseUrl, ours.postgres ? configuration : undefined)),
      stop: () => each("stop"),
      kill: () => each("kill"),
    };
  } catch (error) {
    await each("kill");
    throw error;
  }
}

type DatabaseAccess = Pick<Servers, "databaseUrl" | "databaseUrlOf" | "databasePasswords">;

/** Our own server has a user for each role that needs it. */
async function databaseAccess(databaseUrl: string | undefined, own: Configuration | undefined): Promise<DatabaseAccess> {
  if (own === undefined || databaseUrl === undefined)
    return { databaseUrl, databaseUrlOf: () => databaseUrl, databasePasswords: undefined };
  const directory = resolve(own.dataDirectory, "postgres");
  const kept = (role: DatabaseRole): Promise<string> => keptPassword(join(directory, `password-${role}`));
  const databasePasswords = { api: await kept("api"), operator: await kept("operator"), delivery: await kept("delivery") };
  return {
    databaseUrl,
    databasePasswords,
    databaseUrlOf: (role) => (isDatabaseRole(role) ? urlOfRole(databaseUrl, role, databasePasswords) : undefined),
  };
}

type Nats = Pick<Servers, "nats" | "natsOf">;

/** Somebody else's server: every role of this process uses what was given. */
async function givenNats(url: string, credentialsFile: string | undefined): Promise<Nats> {
  const credentials = credentialsFile === undefined ? {} : { ...parseCredentials(await readCredentials(credentialsFile)), credentialsFile };
  const nats = { ...parseNatsUrl(url), ...credentials };
  return { nats, natsOf: () => nats };
}

function readCredentials(file: string): Promise<string> {
  return readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new InvalidInput(`HEADWATER_NATS_CREDENTIALS names ${file}, which cannot be read: ${cause.code}`, { cause });
  });
}

async function startOwnNats(configuration: Configuration, logger: Logger, keep: (server: RunningProcess) => void): Promise<Nats> {
  const { path: binary, version } = await findNatsServer({ onProgress: (line) => logger.info(line) });
  const dataDirectory = resolve(configuration.dataDirectory, "nats");
  const { syncInterval, pool } = configuration;
  const keys = natsKeysOf(await keptNatsRoot(natsRootFile(configuration.keysDirectory)));
  const pools = [...new Set([defaultPool, pool])].map((name) => ({ pool: name }));
  let port = 0;
  let connection: NatsConnection = { servers: "" };
  const start = async (): Promise<RunningProcess> => {
    const server = await startNats({ dataDirectory, port, syncInterval, binary, keys, pools });
    ({ port, connection } = server);
    void endAfterWriteErrors(server, keys, dataDirectory, logger); // Never rejects.
    return server;
  };
  keep(await keepRunning("nats-server", start, logger));
  logger.info({ op: "process.start", process: "nats-server", port, version }, "nats-server is up");
  const byRole = await keepRoleCredentials(join(dataDirectory, "credentials"), keys, pool);
  const { servers } = connection;
  const roles = new Map(roleNames.map((role): [RoleName, NatsConnection] => [role, { servers, ...byRole[role] }]));
  return { nats: connection, natsOf: (role) => roles.get(role) ?? connection };
}

async function startOwnPostgres(configuration: Configuration, logger: Logger, keep: (server: RunningProcess) => void): Promise<string> {
  const dataDirectory = join(resolve(configuration.dataDirectory), "postgres");
  let port = 0;
  let url = "";
  const start = async (): Promise<RunningProcess> => {
    const server = await startPostgres({ dataDirectory, port });
    ({ port, url } = server);
    return server;
  };
  keep(await keepRunning("postgres", start, logger));
  logger.info({ op: "process.start", process: "postgres", port }, "Postgres is up");
  return url;
}
