import { join } from "node:path";
import { connect } from "../../../platform/jetstream/connection/connection.ts";
import { openLink, type Link } from "../../../platform/jetstream/connection/link.ts";
import { systemCredentials } from "../../../platform/process/nats/nats-accounts.ts";
import { parseCredentials, type NatsConnection } from "../../../platform/process/nats/nats-connection.ts";
import type { NatsKeys } from "../../../platform/process/nats/nats-keys.ts";
import { startNats } from "../../../platform/process/nats/nats-server.ts";
import { startNatsCluster, type TakeAway } from "./nats-cluster.ts";
import { natsBinary } from "./nats.ts";

/** Number of NATS servers, and of replicas of each stream. With several, each kill hits another server. */
export const natsServerCount = Number(process.env["HEADWATER_TEST_NATS_SERVERS"] ?? 1);

/** Starts one NATS server, or `HEADWATER_TEST_NATS_SERVERS`. */
export function startNatsServers(directory: string, keys?: NatsKeys): Promise<NatsServers> {
  return natsServerCount === 1 ? startOneNats(join(directory, "nats"), keys) : startSeveralNats(directory, keys);
}

export interface NatsServers {
  readonly connection: () => NatsConnection;
  /** Process id of the server that is killed next. */
  readonly pid: () => number;
  readonly pids: () => readonly number[];
  takeAway(how?: TakeAway): Promise<() => Promise<void>>;
  /** Makes streams, consumers and the cluster elect new leaders. Does nothing on a single server, or without keys. */
  changeLeaders(): Promise<void>;
  stop(): Promise<void>;
}

async function startOneNats(dataDirectory: string, keys: NatsKeys | undefined): Promise<NatsServers> {
  const binary = await natsBinary();
  const options = { dataDirectory, binary, ...(keys === undefined ? {} : { keys }) };
  let server = await startNats(options);
  return {
    connection: () => server.connection,
    pid: () => server.pid,
    pids: () => [server.pid],
    takeAway: async () => {
      await server.kill();
      return async () => {
        server = await startNats({ ...options, port: server.port });
      };
    },
    changeLeaders: () => Promise.resolve(),
    stop: () => server.stop(),
  };
}

async function changeLeaders(server: NatsConnection, keys: NatsKeys): Promise<void> {
  const stepDown = async (link: Link, request: string): Promise<void> => {
    await link.nats.request(`$JS.API.${request}`, "", { timeout: 5_000 }).catch(() => undefined); // No leader during an election.
  };
  const connection = await connect({ server, name: "test" });
  try {
    for await (const { config } of connection.manager.streams.list()) {
      for await (const { name } of connection.manager.consumers.list(config.name))
        await stepDown(connection, `CONSUMER.LEADER.STEPDOWN.${config.name}.${name}`);
      await stepDown(connection, `STREAM.LEADER.STEPDOWN.${config.name}`);
    }
  } finally {
    await connection.close();
  }
  const system = await openLink({
    server: { servers: server.servers, ...parseCredentials(await systemCredentials(keys)) },
    name: "test",
  });
  await stepDown(system, "META.LEADER.STEPDOWN");
  await system.close();
}

/** Stops the servers in turn, each only after the previous one has caught up. */
async function startSeveralNats(directory: string, keys: NatsKeys | undefined): Promise<NatsServers> {
  const cluster = await startNatsCluster(directory, keys, natsServerCount);
  let turn = 0;
  return {
    connection: () => cluster.connection,
    pid: () => cluster.servers[turn]?.pid ?? 0,
    pids: () => cluster.servers.map(({ pid }) => pid),
    takeAway: async (how) => {
      const server = turn;
      turn = (turn + 1) % natsServerCount;
      const bringBack = await cluster.takeAway(server, how);
      return async () => {
        await bringBack();
        await cluster.untilCaughtUp(server);
      };
    },
    changeLeaders: async () => (keys === undefined ? undefined : changeLeaders(cluster.connection, keys)),
    stop: () => cluster.stop(),
  };
}
