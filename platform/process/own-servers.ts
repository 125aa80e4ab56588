import { join, resolve } from "node:path";
import { defaultPool } from "../../domain/subjects.ts";
import { isDatabaseRole, urlOfRole, type DatabaseRole, type RolePasswords } from "../postgres/roles.ts";
import type { Logger } from "../telemetry/logger.ts";
import { roleNames, type Configuration, type RoleName } from "./settings/configuration.ts";
import { findNatsServer } from "./nats/find-nats-server.ts";
import { keepRunning, type RunningProcess } from "./keep-running.ts";
import type { NatsConnection } from "./nats/nats-connection.ts";
import { storeRoleCredentials } from "./nats/nats-credentials.ts";
import { storedNatsRoot, natsKeysOf, natsRootFile } from "./nats/nats-keys.ts";
import { startNats } from "./nats/nats-server.ts";
import { endAfterWriteErrors } from "./nats/nats-write-errors.ts";
import { storedPassword } from "./postgres/password.ts";
import { startPostgres } from "./postgres/postgres.ts";
import { maxFileStoreOf } from "./nats/store-size.ts";

export { lockDataDirectory } from "./data-lock.ts";

export interface NatsAccess {
  /** With all rights. */
  readonly nats: NatsConnection;
  /** A role's connection: its own user on our server, otherwise the given one. */
  natsOf(role: RoleName): NatsConnection;
}

export interface DatabaseAccess {
  /** URL of the user that owns the tables. */
  readonly databaseUrl: string | undefined;
  /** A role's URL: its own user on our server, otherwise the given one. */
  databaseUrlOf(role: RoleName): string | undefined;
  /** Passwords of the roles' users, which `setUpRoles` creates; absent for an external server. */
  readonly databasePasswords: RolePasswords | undefined;
}

export async function startOwnNats(
  configuration: Configuration,
  logger: Logger,
  keep: (server: RunningProcess) => void,
): Promise<NatsAccess> {
  const { path: binary, version } = await findNatsServer({ onProgress: (line) => logger.info(line) });
  const dataDirectory = resolve(configuration.dataDirectory, "nats");
  const { syncInterval, pool } = configuration;
  const keys = natsKeysOf(await storedNatsRoot(natsRootFile(configuration.keysDirectory)));
  const pools = [...new Set([defaultPool, pool])].map((name) => ({ pool: name }));
  let port = 0;
  let connection: NatsConnection = { servers: "" };
  const start = async (): Promise<RunningProcess> => {
    const maxFileStoreBytes = await maxFileStoreOf(configuration);
    const server = await startNats({ dataDirectory, port, syncInterval, binary, keys, pools, maxFileStoreBytes });
    ({ port, connection } = server);
    void endAfterWriteErrors(server, keys, dataDirectory, logger); // Never rejects.
    return server;
  };
  keep(await keepRunning("nats-server", start, logger));
  logger.info({ op: "process.start", process: "nats-server", port, version }, "nats-server is up");
  const byRole = await storeRoleCredentials(join(dataDirectory, "credentials"), keys, pool);
  const { servers } = connection;
  const roles = new Map(roleNames.map((role): [RoleName, NatsConnection] => [role, { servers, ...byRole[role] }]));
  return { nats: connection, natsOf: (role) => roles.get(role) ?? connection };
}

export async function startOwnPostgres(
  configuration: Configuration,
  logger: Logger,
  keep: (server: RunningProcess) => void,
): Promise<DatabaseAccess> {
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
  return accessTo(url, dataDirectory);
}

/** Our own server has a user for each role that needs one. */
async function accessTo(databaseUrl: string, dataDirectory: string): Promise<DatabaseAccess> {
  const storedFor = (role: DatabaseRole): Promise<string> => storedPassword(join(dataDirectory, `password-${role}`));
  const databasePasswords = {
    api: await storedFor("api"),
    operator: await storedFor("operator"),
    delivery: await storedFor("delivery"),
    backup: await storedFor("backup"),
  };
  return {
    databaseUrl,
    databasePasswords,
    databaseUrlOf: (role) => (isDatabaseRole(role) ? urlOfRole(databaseUrl, role, databasePasswords) : undefined),
  };
}
