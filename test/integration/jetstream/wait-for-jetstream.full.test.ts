import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { connect, type Connection } from "../../../platform/jetstream/connection/connection.ts";
import { setUpStreams } from "../../../platform/jetstream/streams/streams.ts";
import { waitForJetStream } from "../../../platform/jetstream/connection/wait-for-jetstream.ts";
import { storedNatsRoot, natsKeysOf, type NatsKeys } from "../../../platform/process/nats/nats-keys.ts";
import { startNats, type NatsServer } from "../../../platform/process/nats/nats-server.ts";
import { natsBinary } from "../../support/nats/nats.ts";
import { steadyPort } from "../../support/steady-port.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.ts";
import { streamOptions } from "./support.ts";

let directory: TemporaryDirectory;
let keys: NatsKeys;
let connection: Connection;
const ports: number[] = [];
const servers: NatsServer[] = [];

async function start(n: number): Promise<NatsServer> {
  const cluster = { serverName: `nats-${n}`, port: ports[n] ?? 0, ports, password: "of the routes" };
  const server = await startNats({ dataDirectory: join(directory.path, String(n)), binary: await natsBinary(), keys, cluster });
  servers.push(server);
  return server;
}

beforeAll(async () => {
  directory = await temporaryDirectory("answers");
  keys = natsKeysOf(await storedNatsRoot(join(directory.path, "nats.root")));
  while (new Set(ports).size < 3) ports.splice(0, 3, await steadyPort(), await steadyPort(), await steadyPort());
  connection = await connect({ server: (await start(0)).connection, name: "test", requestTimeoutMs: 30_000 });
});
afterAll(async () => {
  await connection.close();
  await Promise.all(servers.map((server) => server.stop()));
  await directory.remove();
});

it("waits until more than half of the servers are up, and streams can be created at once", async () => {
  await expect(waitForJetStream(connection, 1_500)).rejects.toMatchObject({ code: "unavailable" });
  const answered = waitForJetStream(connection, 60_000);
  await Promise.all([start(1), start(2)]);
  await answered;
  await setUpStreams(connection, { ...streamOptions, replicas: 3 });
  expect((await connection.manager.streams.info("RUNS")).config.num_replicas).toBe(3);
});
