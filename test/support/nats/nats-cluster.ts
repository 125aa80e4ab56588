import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "../../../platform/jetstream/connection/connection.ts";
import { waitForJetStream } from "../../../platform/jetstream/connection/wait-for-jetstream.ts";
import type { NatsConnection } from "../../../platform/process/nats/nats-connection.ts";
import type { NatsKeys } from "../../../platform/process/nats/nats-keys.ts";
import { findNatsServer, startNats, type NatsServer } from "../../../platform/process/nats/nats-server.ts";
import { steadyPort } from "../steady-port.ts";

export interface TestNatsCluster {
  /** Address and credentials, of all servers. */
  readonly connection: NatsConnection;
  readonly servers: readonly NatsServer[];
  /** Stops one server, with kill -9 by default. The returned function starts it on the same ports, and the same data unless its disk is lost. */
  takeAway(n: number, how?: TakeAway): Promise<() => Promise<void>>;
  /** Resolves when the server has all the data of the others. */
  untilCaughtUp(n: number): Promise<void>;
  stop(): Promise<void>;
}

export interface TakeAway {
  readonly gracefully?: boolean;
  readonly losesDisk?: boolean;
}

const returnTimeoutMs = 60_000;

/** Starts a NATS cluster on loopback, like the chart's `nats.replicas`. Resolves when each server has joined. */
export async function startNatsCluster(directory: string, keys: NatsKeys | undefined, count = 3): Promise<TestNatsCluster> {
  const { path: binary } = await findNatsServer();
  const ports: number[] = [];
  while (ports.length < count) {
    const port = await steadyPort();
    if (!ports.includes(port)) ports.push(port);
  }
  const dataDirectory = (n: number): string => join(directory, `nats-${n}`);
  // Without keys each server would generate its own password, and a client could not fail over to another server.
  if (keys === undefined)
    for (const n of ports.keys()) {
      await mkdir(dataDirectory(n), { recursive: true });
      await writeFile(join(dataDirectory(n), "password"), "of all servers", { mode: 0o600 });
    }
  const start = (n: number, port = 0): Promise<NatsServer> =>
    startNats({
      dataDirectory: dataDirectory(n),
      binary,
      port,
      monitoringPort: 0,
      cluster: { serverName: `nats-${n}`, port: ports[n] ?? 0, ports, password: "of the routes" },
      ...(keys === undefined ? {} : { keys }),
    });
  const servers = await Promise.all(ports.map((_, n) => start(n)));
  const get = (n: number): NatsServer => {
    const server = servers[n];
    if (server === undefined) throw new Error(`there is no server ${n}`);
    return server;
  };
  const cluster: TestNatsCluster = {
    get connection() {
      return { ...get(0).connection, servers: servers.map(({ url }) => url).join(",") };
    },
    servers,
    takeAway: async (n, { gracefully = false, losesDisk = false } = {}) => {
      const { port } = get(n);
      await (gracefully ? get(n).stop() : get(n).kill());
      if (losesDisk) await rm(join(dataDirectory(n), "jetstream"), { recursive: true });
      return async () => {
        servers[n] = await start(n, port);
      };
    },
    untilCaughtUp: async (n) => {
      const deadline = performance.now() + returnTimeoutMs;
      for (;;) {
        const health = await fetch(`http://127.0.0.1:${get(n).monitoringPort}/healthz`).catch(() => undefined);
        if (health?.ok === true) break;
        if (performance.now() > deadline) throw new Error(`server ${n} has not caught up: ${await health?.text()}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      // A server reports that it is healthy before it has enabled JetStream for the account.
      const client = await connect({ server: { ...get(n).connection, servers: get(n).url }, name: "test" });
      try {
        await waitForJetStream(client, returnTimeoutMs);
      } finally {
        await client.close();
      }
    },
    stop: async () => {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
  try {
    for (const n of ports.keys()) await cluster.untilCaughtUp(n);
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}
