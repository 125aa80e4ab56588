import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { appendCommit, lastCommit } from "../../../platform/jetstream/runs/commits.ts";
import { connect, type Connection } from "../../../platform/jetstream/connection/connection.ts";
import { readPartition } from "../../../platform/jetstream/read/partition-reader.ts";
import { statePosition } from "../../../platform/jetstream/runs/state-position.ts";
import { setUpStreams } from "../../../platform/jetstream/streams/streams.ts";
import { storedNatsRoot, natsKeysOf } from "../../../platform/process/nats/nats-keys.ts";
import { invokeSubject, streams } from "../../../domain/subjects.ts";
import { startNatsCluster, type TestNatsCluster } from "../../support/nats/nats-cluster.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.ts";
import { streamOptions } from "./support.ts";
import { until } from "../../support/until.ts";

let directory: TemporaryDirectory;
let cluster: TestNatsCluster;
let connections: Connection[];

beforeAll(async () => {
  directory = await temporaryDirectory("replicated");
  cluster = await startNatsCluster(directory.path, natsKeysOf(await storedNatsRoot(join(directory.path, "nats.root"))));
  connections = await Promise.all(["a", "b", "admin"].map((name) => connect({ server: cluster.connection, name })));
  await setUpStreams(admin(), { ...streamOptions, replicas: 3 });
});
afterAll(async () => {
  await Promise.all(connections.map((connection) => connection.close()));
  await cluster.stop();
  await directory.remove();
});

function admin(): Connection {
  const [, , connection] = connections;
  if (connection === undefined) throw new Error("no connection before beforeAll");
  return connection;
}

/** Resolves when another server leads. */
async function stepDown(request: string, leader: () => Promise<string | undefined>): Promise<void> {
  const before = await leader();
  await admin().nats.request(`$JS.API.${request}`, "", { timeout: 5_000 });
  await until(async () => ![before, undefined, ""].includes(await leader().catch(() => undefined)), `${request} has another leader`);
}

/**
 * Method: two readers open one partition at about the same time, so that a consumer is reset while it delivers; then the stream gets
 * another leader. With resets that are neither waited for nor verified, half of the messages were gone after twelve rounds.
 */
// Not part of every run: on a busy machine it sometimes fails, because nats-server itself has lost a message.
test.runIf(process.env["HEADWATER_TEST_NATS_SERVERS"] === "3")(
  "a partition that two runners open at once keeps each message until it is acked, across changes of the leader",
  async () => {
    const total = 800;
    const publish = (n: number) => admin().publisher.publish(invokeSubject("default", 1, "dc_1"), String(n));
    for (let n = 0; n < total; n += 100) await Promise.all(Array.from({ length: 100 }, (_, index) => publish(n + index)));
    const { streams: stored } = admin().manager;
    const messages = async () => (await stored.info(streams.invocations)).state.messages;
    for (let round = 0; round < 12; round++) {
      let handedOut = 0;
      const open = async (connection: Connection, delayMs: number) => {
        await sleep(delayMs); // The delay varies from round to round.
        return readPartition({ connection, pool: "default", partition: 1, onMessage: () => void handedOut++ });
      };
      const readings = await Promise.all(connections.slice(0, 2).map((connection, n) => open(connection, n * round * 2)));
      await until(() => handedOut >= total, "one of them is handed all");
      await stepDown(`STREAM.LEADER.STEPDOWN.${streams.invocations}`, async () => (await stored.info(streams.invocations)).cluster?.leader);
      await Promise.all(readings.map((reading) => reading.stop()));
      expect(await messages(), `messages left after round ${round}`).toBe(total);
    }
    const got = new Set<string>();
    const reading = await readPartition({
      connection: admin(),
      pool: "default",
      partition: 1,
      onMessage: (message) => {
        got.add(message.text());
        message.ack();
      },
    });
    await until(async () => (await messages()) === 0, "all are acked");
    await reading.stop();
    expect(got.size).toBe(total);
  },
);

/**
 * Method: server 0 is away while a commit is stored, copied to STATE and trimmed from RUNS. Then it runs alone, and may serve direct reads
 * from its old data.
 */
test("a source does not continue from an outdated state of a server that was away", async () => {
  const ref = { partition: 0, owner: "u_1", source: "dc_stale" };
  const { streams: stored } = admin().manager;
  const trim = async () => {
    const { last_seq } = (await stored.info(streams.runs)).state;
    await until(async () => (await statePosition(admin())) === last_seq, "STATE has every commit");
    await stored.purge(streams.runs);
  };
  const first = await appendCommit(admin(), ref, "one", 0);
  if (first.outcome !== "stored") throw new Error("the first commit is refused");
  await trim();
  const bringBack = await cluster.takeAway(0, { gracefully: true });
  await until(async () => {
    const { outcome } = await appendCommit(admin(), ref, "two", first.sequence).catch(() => ({ outcome: "unknown" }));
    return outcome !== "unknown";
  }, "the second commit is stored");
  expect(await lastCommit(admin(), ref)).toMatchObject({ text: "two" });
  await trim();
  const others = await Promise.all([cluster.takeAway(1), cluster.takeAway(2)]);
  await bringBack();
  const alone = await connect({ server: { ...cluster.connection, servers: cluster.servers[0]?.url ?? "" }, name: "alone" });
  await expect(lastCommit(alone, ref)).rejects.toMatchObject({ code: "unavailable" });
  await Promise.all(others.map((bringOtherBack) => bringOtherBack()));
  await until(async () => (await lastCommit(alone, ref).catch(() => undefined))?.text === "two", "the last commit is read");
  await alone.close();
});
