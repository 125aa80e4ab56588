import { hash } from "node:crypto";
import { hasMoved } from "../../../domain/source/deployment.ts";
import type { PoolConsumers, PoolCredentials } from "../../../operator/runner-pool/ports.ts";
import type { Connection } from "../../jetstream/connection/connection.ts";
import { deploymentEntries } from "../../jetstream/invocations/moves.ts";
import { removePool, setUpPool } from "../../jetstream/invocations/pool-consumers.ts";
import { poolCredentials } from "./nats-accounts.ts";
import { credentialsForPool, removePoolAccount } from "./nats-claims.ts";
import type { NatsConnection } from "./nats-connection.ts";
import type { NatsKeys } from "./nats-keys.ts";
import { asNatsSystem } from "./nats-system.ts";
import { undatedTokens } from "./undated-tokens.ts";

const versionLength = 32;

/** What a pool has in NATS: an account, and a consumer for each partition. @param nats addresses and TLS of NATS */
export function createPoolConsumers(connection: Connection, nats: NatsConnection, keys: NatsKeys): PoolConsumers {
  return {
    setUp: async (pool) => {
      await setUpPool(connection, { pool: pool.pool });
      await asNatsSystem(nats, keys, (link) => credentialsForPool(link, keys, pool));
    },
    sources: (pool) => countSources(connection, pool),
    remove: async (pool) => {
      await removePool(connection, pool);
      await asNatsSystem(nats, keys, (link) => removePoolAccount(link, keys, pool));
    },
  };
}

/** In an account that is not ours a pool has consumers alone. */
export function createConsumersOnly(connection: Connection): PoolConsumers {
  return {
    setUp: ({ pool }) => setUpPool(connection, { pool }),
    sources: (pool) => countSources(connection, pool),
    remove: (pool) => removePool(connection, pool),
  };
}

const countSources = async (connection: Connection, pool: string): Promise<number> =>
  [...(await deploymentEntries(connection).list(`${pool}.>`)).values()].filter((entry) => !hasMoved(entry)).length;

/** There all pools have the same user, whose credentials the operator reads from its own directory. */
export function createGivenCredentials(read: () => Promise<string>): PoolCredentials {
  return {
    version: async () => hash("sha256", await read()).slice(0, versionLength),
    forPool: read,
  };
}

/** Credentials follow from the keys and the pool, except for their time; without it they are hashed to their version. */
export function createPoolCredentials(keys: NatsKeys): PoolCredentials {
  return {
    version: async (pool) => hash("sha256", undatedTokens(await poolCredentials(keys, pool))).slice(0, versionLength),
    forPool: (pool) => poolCredentials(keys, pool),
  };
}
