import { createHash } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import { encodePack } from "../../../domain/invocation/invocation.ts";
import { buckets, invokeSubject, streams } from "../../../domain/subjects.ts";
import {
  describeStream,
  restoreStream,
  streamChunks,
  streamsToSave,
  type SavedStream,
} from "../../../platform/jetstream/streams/backup.ts";
import { Bucket } from "../../../platform/jetstream/buckets/bucket.ts";
import { appendCommit, lastCommit, lastPosition } from "../../../platform/jetstream/runs/commits.ts";
import { connect, type Connection } from "../../../platform/jetstream/connection/connection.ts";
import { readPartition } from "../../../platform/jetstream/read/partition-reader.ts";
import { loadFloors } from "../../../platform/jetstream/runs/floors.ts";
import { openBlobStore } from "../../../platform/jetstream/bundles/object-store.ts";
import { setTimer } from "../../../platform/jetstream/schedules.ts";
import { statePosition } from "../../../platform/jetstream/runs/state-position.ts";
import { setUpStreams } from "../../../platform/jetstream/streams/streams.ts";
import { natsKeysOf, storedNatsRoot } from "../../../platform/process/nats/nats-keys.ts";
import { startNats } from "../../../platform/process/nats/nats-server.ts";
import { startNatsCluster } from "../../support/nats/nats-cluster.ts";
import { natsBinary } from "../../support/nats/nats.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { streamOptions } from "./support.ts";
import { until } from "../../support/until.ts";

const ref = { partition: 0, owner: "u_1", source: "dc_kept" };
const routes = (connection: Connection) => new Bucket<{ n: number }>(connection, buckets.routes, (json) => json as { n: number });
const bundle = Buffer.from("bundle ".repeat(200_000));
const hash = createHash("sha256").update(bundle).digest("hex");
const timerMs = 45_000;

async function write(connection: Connection): Promise<void> {
  for (let n = 0; n < 300; n++)
    await connection.publisher.publish(invokeSubject("default", 1, "dc_1"), encodePack([JSON.stringify({ n })]));
  const target = invokeSubject("default", 2, "dc_2");
  const schedule = { kind: "at", atMs: Date.now() + timerMs } as const;
  await setTimer(connection.publisher, { source: "dc_2", prop: "timer", schedule, target, body: encodePack(["{}"]), messageId: "t" });
  for (let n = 1; n <= 50; n++) await appendCommit(connection, ref, `commit ${n}`, n - 1);
  await until(async () => (await statePosition(connection)) === 50, "STATE has every commit");
  await connection.manager.streams.purge(streams.runs, { seq: 51 });
  await appendCommit(connection, { ...ref, source: "dc_other" }, "other", 0);
  await routes(connection).put("sub_1", { n: 1 });
  await openBlobStore(connection).put(hash, bundle);
}

/** Invocations of a partition, all acked. */
async function readAll(connection: Connection, partition: number, count: number): Promise<readonly string[]> {
  const got: string[] = [];
  const reading = await readPartition({
    connection,
    pool: "default",
    partition,
    onMessage: (message) => {
      got.push(message.text());
      message.ack();
    },
  });
  await until(() => got.length >= count, `${count} invocations`);
  await reading.stop();
  return got;
}

interface Saved {
  readonly description: SavedStream;
  readonly chunks: readonly Uint8Array[];
}

async function save(connection: Connection): Promise<readonly Saved[]> {
  const saved: Saved[] = [];
  // STATE copies from RUNS.
  const names = (await streamsToSave(connection)).toSorted((a, b) => Number(b === streams.runs) - Number(a === streams.runs));
  for (const name of names) {
    const chunks: Uint8Array[] = [];
    const description = await describeStream(connection, name);
    for await (const chunk of streamChunks(connection, name)) chunks.push(chunk);
    saved.push({ description, chunks });
  }
  return saved;
}

async function restore(connection: Connection, saved: readonly Saved[]): Promise<void> {
  for (const { description, chunks } of saved) {
    const inTurn = async function* (): AsyncGenerator<Uint8Array> {
      yield* chunks;
    };
    await restoreStream(connection, description, inTurn(), { replicas: 3, id: "test", name: "backup" });
  }
}

/** As docs/operations.md describes: back up, start three servers without data, restore, run setup. */
test("an installation with one server continues with three, where each stream, bucket and consumer has three replicas", async () => {
  const directory = await temporaryDirectory("growth");
  const keys = natsKeysOf(await storedNatsRoot(join(directory.path, "nats.root")));
  const single = await startNats({ dataDirectory: join(directory.path, "single"), binary: await natsBinary(), keys });
  const before = await connect({ server: single.connection, name: "before" });
  await setUpStreams(before, { ...streamOptions, replicas: 1 });
  await write(before);
  const position = await lastPosition(before);
  const saved = await save(before);
  await before.close();
  await single.stop();

  const cluster = await startNatsCluster(directory.path, keys);
  const after = await connect({ server: cluster.connection, name: "after" });
  await restore(after, saved);
  await setUpStreams(after, { ...streamOptions, replicas: 3 });

  const { manager } = after;
  const unreplicated: string[] = [];
  for await (const { config, cluster: group } of manager.streams.list()) {
    if (config.num_replicas !== 3 || group?.replicas?.length !== 2) unreplicated.push(config.name);
    for await (const consumer of manager.consumers.list(config.name))
      if (consumer.cluster?.replicas?.length !== 2) unreplicated.push(`${config.name} ${consumer.name}`);
  }
  expect(unreplicated).toEqual([]);
  // The recorded and routed events are derived from this.
  expect(await lastPosition(after)).toEqual(position);
  expect((await loadFloors(after)).stream).toBe(position.stream);
  expect(await lastCommit(after, ref)).toEqual({ text: "commit 50", sequence: 50 });
  expect(await appendCommit(after, ref, "twice", 49)).toEqual({ outcome: "refused" });
  expect(await appendCommit(after, ref, "commit 51", 50)).toEqual({ outcome: "stored", sequence: position.seq + 1 });
  expect(await routes(after).get("sub_1")).toEqual({ n: 1 });
  expect(hash).toBe(
    createHash("sha256")
      .update(await openBlobStore(after).get(hash))
      .digest("hex"),
  );
  const expected = Array.from({ length: 300 }, (_, n) => encodePack([JSON.stringify({ n })]));
  expect(await readAll(after, 1, 300)).toEqual(expected);
  expect(await readAll(after, 2, 1), "the timer").toEqual([encodePack(["{}"])]);
  await until(async () => (await statePosition(after)) === position.seq + 1, "STATE goes on copying");
  await after.close();
  await cluster.stop();
  await directory.remove();
});
