import type { Logger } from "../telemetry/logger.ts";
import type { Configuration } from "./settings/configuration.ts";
import type { RunningProcess } from "./keep-running.ts";
import { givenNats } from "./nats/given-nats.ts";
import type { DatabaseAccess, NatsAccess } from "./own-servers.ts";
import { requireFreePorts } from "./require-free-ports.ts";

/** NATS and Postgres: external or our own. */
export interface Servers extends NatsAccess, DatabaseAccess {
  stop(): Promise<void>;
  kill(): Promise<void>;
}

export interface ServersOptions {
  readonly configuration: Configuration;
  /** False for roles that must not access the database. */
  readonly needsDatabase: boolean;
  readonly logger: Logger;
}

/** The watchdog kills role processes of a crashed start after eight seconds. */
const crashedRolesEndMs = 10_000;

/**
 * Starts the servers that are not configured, and restarts them on the same port. Locks the data directory while it runs a server, so that
 * a second start does not end the servers as left-overs.
 */
export async function startServers(options: ServersOptions): Promise<Servers> {
  const { configuration, needsDatabase, logger } = options;
  const { natsUrl, databaseUrl } = configuration;
  const isOwn = { nats: natsUrl === undefined, postgres: databaseUrl === undefined && needsDatabase };
  // Imported only if needed: a process with external servers, such as a runner, does not need all this code.
  const own = isOwn.nats || isOwn.postgres ? await import("./own-servers.ts") : undefined;
  const lock = await own?.lockDataDirectory(configuration.dataDirectory, configuration.publicUrl);
  const started: RunningProcess[] = [];
  const each = async (how: "stop" | "kill"): Promise<void> => {
    await Promise.allSettled(started.map((server) => server[how]()));
    await lock?.release();
  };
  const keep = (server: RunningProcess): number => started.push(server);
  try {
    await requireFreePorts(configuration, lock?.afterCrash === true ? crashedRolesEndMs : 0);
    const [nats, database] = await Promise.all([
      natsUrl === undefined && own !== undefined ? own.startOwnNats(configuration, logger, keep) : givenNats(configuration),
      isOwn.postgres && own !== undefined ? own.startOwnPostgres(configuration, logger, keep) : givenDatabase(databaseUrl),
    ]);
    return { ...nats, ...database, stop: () => each("stop"), kill: () => each("kill") };
  } catch (error) {
    await each("kill");
    throw error;
  }
}

const givenDatabase = (databaseUrl: string | undefined): DatabaseAccess => ({
  databaseUrl,
  databaseUrlOf: () => databaseUrl,
  databasePasswords: undefined,
});
