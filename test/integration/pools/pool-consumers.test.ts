import { expect, it } from "vitest";
import { decodePack, encodePack } from "../../../domain/invocation/invocation.ts";
import { invokeFilter, invokeSubject, partitionCount, runnerConsumer, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../../../platform/jetstream/connection/connection.ts";
import { readPartition } from "../../../platform/jetstream/read/partition-reader.ts";
import { queueConsumer } from "../../../platform/jetstream/read/queue-reader.ts";
import { requestConsumers } from "../../../platform/jetstream/invocations/pool-requests.ts";
import { setUpPool } from "../../../platform/jetstream/invocations/pool-consumers.ts";
import { withJetStream, withPoolRequests } from "../jetstream/support.ts";
import { until } from "../../support/until.ts";

const nats = withJetStream({ partitions: partitionCount });
withPoolRequests(nats);

const partition = 3;
const source = "dc_a";

async function publish(pool: string, ...events: readonly number[]): Promise<void> {
  for (const event of events)
    await nats.connection.publisher.publish(
      invokeSubject(pool, partition, source),
      encodePack([JSON.stringify({ source, trigger: "manual", event })]),
    );
}

const consumersOf = async ({ manager }: Connection): Promise<readonly string[]> => {
  const names: string[] = [];
  for await (const { name } of manager.consumers.list(streams.invocations)) names.push(name);
  return names;
};

it("continues reading after NATS restarts without the consumers of pools, and redelivers no acked message", async () => {
  await setUpPool(nats.connection, { pool: "own" });
  const events: unknown[] = [];
  let isInterrupted = false;
  const reading = await readPartition({
    connection: nats.connection,
    pool: "own",
    partition,
    onInterrupted: () => (isInterrupted = true),
    restore: () => requestConsumers(nats.connection, "own"),
    onMessage: (message) => {
      events.push(...decodePack(message.text()).map(({ event }) => event));
      message.ack();
    },
  });
  await publish("own", 1, 2);
  await until(async () => (await nats.connection.manager.streams.info(streams.invocations)).state.messages === 0, "both are acked");
  await nats.server.crash();
  // A request on the connection that breaks would wait for its answer until its time is over.
  await until(() => isInterrupted, "the reader has connected again");
  await until(
    async () => (await consumersOf(nats.connection).catch((): readonly string[] => [])).includes(runnerConsumer("own", partition)),
    "a new consumer",
  );
  await publish("own", 3, 4);
  await until(() => events.length >= 4, "what was published after the restart is read");
  expect(events).toEqual([1, 2, 3, 4]);
  await reading.stop();
});

it("redelivers unacked messages when a consumer with state on disk is created again in memory", async () => {
  const name = runnerConsumer("old", partition);
  const consumer = queueConsumer(name, { filter: invokeFilter("old", partition), ackWaitMs: 60_000, maxAckPending: 100 });
  const { manager } = nats.connection;
  await manager.consumers.add(streams.invocations, consumer);
  await publish("old", 1, 2);
  await setUpPool(nats.connection, { pool: "old" });
  const { config, num_pending } = await manager.consumers.info(streams.invocations, name);
  expect([config.mem_storage, num_pending]).toEqual([true, 2]);
});
