import { join } from "node:path";
import type { NatsConnection } from "../../platform/process/nats-connection.ts";
import type { NatsKeys } from "../../platform/process/nats-keys.ts";
import { startNats } from "../../platform/process/nats-server.ts";
import { startNatsCluster } from "../support/nats-cluster.ts";
import { natsBinary } from "../support/nats.ts";

/** With several the streams have as many copies, and each kill is for another server. */
export const natsServers = Number(process.env["HEADWATER_TEST_NATS_SERVERS"] ?? 1);

/** One server, or as many as `HEADWATER_TEST_NATS_SERVERS` says. */
export function startMessageServers(directory: string, keys: NatsKeys): Promise<MessageServers> {
  return natsServers === 1 ? startOneNats(join(directory, "nats"), keys) : startSeveralNats(directory, keys);
}

export interface MessageServers {
  readonly connection: () => NatsConnection;
  /** Of the one that is killed next. */
  readonly pid: () => number;
  takeAway(): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

async function startOneNats(dataDirectory: string, keys: NatsKeys): Promise<MessageServers> {
  const binary = await natsBinary();
  let server = await startNats({ dataDirectory, binary, keys });
  return {
    connection: () => server.connection,
    pid: () => server.pid,
    takeAway: async () => {
      await server.kill();
      return async () => {
        server = await startNats({ dataDirectory, binary, keys, port: server.port });
      };
    },
    stop: () => server.stop(),
  };
}

/** One after the other is taken away, and none before the one before has all that it missed. */
async function startSeveralNats(directory: string, keys: NatsKeys): Promise<MessageServers> {
  const cluster = await startNatsCluster(directory, keys, natsServers);
  let turn = 0;
  return {
    connection: () => cluster.connection,
    pid: () => cluster.servers[turn]?.pid ?? 0,
    takeAway: async () => {
      const server = turn;
      turn = (turn + 1) % natsServers;
      const bringBack = await cluster.takeAway(server);
      return async () => {
        await bringBack();
        await cluster.untilCaughtUp(server);
      };
    },
    stop: () => cluster.stop(),
  };
}
