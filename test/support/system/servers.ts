import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defaultPool } from "../../../domain/subjects.ts";
import { isDatabaseRole, urlOfRole } from "../../../platform/postgres/roles.ts";
import { adminCredentials } from "../../../platform/process/nats/nats-accounts.ts";
import { formatNatsUrl } from "../../../platform/process/nats/nats-connection.ts";
import { storeRoleCredentials } from "../../../platform/process/nats/nats-credentials.ts";
import { natsKeysOf, natsRootFile, storedNatsRoot } from "../../../platform/process/nats/nats-keys.ts";
import { startPostgres } from "../../../platform/process/postgres/postgres.ts";
import type { RoleName } from "../../../platform/process/settings/configuration.ts";
import { natsServerCount, startNatsServers, type NatsServers } from "../nats/nats-servers.ts";
import { rolePasswords } from "../postgres-users.ts";

export type ServerName = "nats" | "postgres";

/** NATS and Postgres of one installation. Each message is synced to disk. */
export interface Servers {
  readonly nats: NatsServers;
  /** Of Postgres' superuser. */
  readonly databaseUrl: string;
  pids(): readonly number[];
  /** The settings with which a role reaches the servers. `admin` may do everything. */
  settingsOf(role: RoleName | "admin"): Readonly<Record<string, string>>;
  /** Kills a server with kill -9. The returned function starts it again, on the same data and port. */
  takeAway(server: ServerName): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

/** @param directory for data, keys and credentials @param hasUsers each role has a user of its own on both servers, as in a cluster */
export async function startServers(directory: string, { hasUsers }: { readonly hasUsers: boolean }): Promise<Servers> {
  const keys = hasUsers ? natsKeysOf(await storedNatsRoot(natsRootFile(join(directory, "keys")))) : undefined;
  const credentials = join(directory, "credentials");
  if (keys !== undefined) {
    await storeRoleCredentials(credentials, keys, defaultPool);
    await writeFile(join(credentials, "admin.creds"), await adminCredentials(keys), { mode: 0o600 });
  }
  const nats = await startNatsServers(directory, keys);
  const startDatabase = (port?: number) =>
    startPostgres({ dataDirectory: join(directory, "postgres"), ...(port === undefined ? {} : { port }) });
  let postgres = await startDatabase();
  const { url: databaseUrl } = postgres;
  return {
    nats,
    databaseUrl,
    pids: () => [...nats.pids(), postgres.pid],
    settingsOf: (role) => ({
      HEADWATER_STREAM_REPLICAS: String(natsServerCount),
      DATABASE_URL: hasUsers && isDatabaseRole(role) ? urlOfRole(databaseUrl, role, rolePasswords) : databaseUrl,
      ...(hasUsers
        ? { NATS_URL: nats.connection().servers, HEADWATER_NATS_CREDENTIALS: join(credentials, `${role}.creds`) }
        : { NATS_URL: formatNatsUrl(nats.connection()) }),
    }),
    takeAway: async (server) => {
      if (server === "nats") return nats.takeAway();
      await postgres.kill();
      return async () => {
        postgres = await startDatabase(postgres.port);
      };
    },
    stop: async () => {
      await nats.stop();
      await postgres.stop();
    },
  };
}
