import { join, resolve } from "node:path";
import { defaultPool } from "../../domain/subjects.ts";
import { isDatabaseRole, urlOfRole, type DatabaseRole, type RolePasswords } from "../postgres/roles.ts";
import type { Logger } from "../telemetry/logger.ts";
import { roleNames, type Configuration, type RoleName } from "./configuration.ts";
import { findNatsServer } from "./find-nats-server.ts";
import { keepRunning, type RunningProcess } from "./keep-running.ts";
import type { NatsConnection } from "./nats-connection.ts";
import { keepRoleCredentials } from "./nats-credentials.ts";
import { keptNatsRoot, natsKeysOf, natsRootFile } from "./nats-keys.ts";
import { startNats } from "./nats-server.ts";
import { endAfterWriteErrors } from "./nats-write-errors.ts";
import { keptPassword } from "./password.ts";
import { startPostgres } from "./postgres.ts";
import { maxFileStoreOf } from "./store-size.ts";

export { lockDataDirectory } from "./data-lock.ts";

export interface NatsAccess {
  /** To set things up with. */
  readonly nats: NatsConnection;
  /** What a role connects with: its own user when the server is ours, else what was given. */
  natsOf(role: RoleName): NatsConnection;
}

export interface DatabaseAccess {
  /** Of a user who may make tables. */
  readonly databaseUrl: string | undefined;
  /** What a role connects with: its own user when the server is ours, else what was given. */
  databaseUrlOf(role: RoleName): string | undefined;
  /** Of the roles' users, which are to be made; absent when the server is somebody else's. */
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
  const keys = natsKeysOf(await keptNatsRoot(natsRootFile(configuration.keysDirectory)));
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
  const byRole = await keepRoleCredentials(join(dataDirectory, "credentials"), keys, pool);
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

/** Our own server has a user for each role that needs it. */
async function accessTo(databaseUrl: string, dataDirectory: string): Promise<DatabaseAccess> {
  const kept = (role: DatabaseRole): Promise<string> => keptPassword(join(dataDirectory, `password-${role}`));
  const databasePasswords = { api: await kept("api"), operator: await kept("operator"), delivery: await kept("delivery") };
  return {
    databaseUrl,
    databasePasswords,
    databaseUrlOf: (role) => (isDatabaseRole(role) ? urlOfRole(databaseUrl, role, databasePasswords) : undefined),
  };
}
