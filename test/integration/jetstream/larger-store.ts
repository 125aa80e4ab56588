import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { streams } from "../../../domain/subjects.ts";
import { connect } from "../../../platform/jetstream/connection/connection.ts";
import { waitForJetStream } from "../../../platform/jetstream/connection/wait-for-jetstream.ts";
import { setUpStreams } from "../../../platform/jetstream/streams/streams.ts";
import { startNats, type NatsServer } from "../../../platform/process/nats/nats-server.ts";
import { natsBinary } from "../../support/nats/nats.ts";
import { steadyPort } from "../../support/steady-port.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { streamOptions } from "./support.ts";

const mebibyte = 2 ** 20;
const [small, large] = [300 * mebibyte, 1_200 * mebibyte];
const password = "of all servers";

/** Starts this many servers with a store of that size; they keep their data and ports. */
async function serversIn(directory: string, count: number): Promise<(maxFileStoreBytes: number) => Promise<readonly NatsServer[]>> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await steadyPort());
  const [binary, all] = [await natsBinary(), [...ports]];
  const home = (n: number): string => join(directory, `nats-${n}`);
  for (const n of all.keys()) {
    await mkdir(home(n));
    await writeFile(join(home(n), "password"), password, { mode: 0o600 });
  }
  const cluster = (n: number, port: number) => ({ cluster: { serverName: `nats-${n}`, port, ports: all, password: "of the routes" } });
  return (maxFileStoreBytes) =>
    Promise.all(
      all.map((port, n) =>
        startNats({ dataDirectory: home(n), binary, port: 0, maxFileStoreBytes, ...(count === 1 ? {} : cluster(n, port)) }),
      ),
    );
}

/** Runs setup. Returns the streams whose limit it could not change, and the limit of RUNS. */
async function setUp(servers: readonly NatsServer[], storeBytes: number) {
  const [first] = servers;
  if (first === undefined) throw new Error("there is no server");
  const server = { ...first.connection, servers: servers.map(({ url }) => url).join(",") };
  const connection = await connect({ server, name: "test", requestTimeoutMs: 60_000 });
  const noRoom: string[] = [];
  try {
    await waitForJetStream(connection, 60_000);
    const options = { ...streamOptions, replicas: servers.length, storeBytes, onNoRoom: (stream: string) => noRoom.push(stream) };
    await setUpStreams(connection, options);
    return { noRoom, runsBytes: (await connection.manager.streams.info(streams.runs)).config.max_bytes };
  } finally {
    await connection.close();
  }
}

/** Setup raises the limits of streams once the servers have restarted with a larger store, and not before. */
export async function expectRaisedLimits(count: number): Promise<void> {
  const directory = await temporaryDirectory("larger-store");
  const start = await serversIn(directory.path, count);
  let servers = await start(small);
  try {
    const before = await setUp(servers, small * 0.8);
    expect(before.noRoom).toEqual([]);
    const early = await setUp(servers, large * 0.8);
    expect([early.noRoom.includes(streams.runs), early.runsBytes]).toEqual([true, before.runsBytes]);
    await Promise.all(servers.map((server) => server.stop()));
    servers = await start(large);
    const after = await setUp(servers, large * 0.8);
    expect(after.noRoom).toEqual([]);
    expect(after.runsBytes / before.runsBytes).toBeCloseTo(4, 3);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await directory.remove();
  }
}
