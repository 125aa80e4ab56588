import { expect, it } from "vitest";
import { partitionCount, streams } from "../../../domain/subjects.ts";
import { appendCommit, lastCommit } from "../../../platform/jetstream/runs/commits.ts";
import { FloorPublisher } from "../../../platform/jetstream/runs/floor-publisher.ts";
import { doneUpTo, loadFloors, publishFloors, readFloors, type Floors } from "../../../platform/jetstream/runs/floors.ts";
import { statePosition } from "../../../platform/jetstream/runs/state-position.ts";
import { setUpStreams } from "../../../platform/jetstream/streams/streams.ts";
import { trimRuns } from "../../../platform/jetstream/runs/trim-runs.ts";
import { streamOptions, withJetStream } from "./support.ts";
import { until } from "../../support/until.ts";

const nats = withJetStream();
const keepNothing = { ms: 0, bytes: 0 };
const keepAll = { ms: 3_600_000, bytes: 2 ** 30 };
const bodyBytes = 100_000;
const upTo = (processed: number) => (most: number) => Promise.resolve(Math.min(processed, most));

const runs = async () => (await nats.connection.manager.streams.info(streams.runs)).state;
const commit = (n: number) =>
  appendCommit(nats.connection, { partition: 0, owner: "u_1", source: `dc_${n}` }, `${n} ${"x".repeat(bodyBytes)}`, 0);

async function copied(): Promise<number> {
  const { last_seq } = await runs();
  await until(async () => (await statePosition(nats.connection)) === last_seq, "STATE has every commit");
  return last_seq;
}

it("keeps unprocessed messages, whatever their age and size", async () => {
  for (let n = 0; n < 10; n++) await commit(n);
  const last = await copied();
  await trimRuns(nats.connection, upTo(last - 3), keepNothing);
  expect(await runs()).toMatchObject({ messages: 3, first_seq: last - 2 });
});

it("keeps the newest processed messages, up to a size and an age", async () => {
  for (let n = 10; n < 20; n++) await commit(n);
  const last = await copied();
  await trimRuns(nats.connection, upTo(last), keepAll);
  expect((await runs()).messages).toBe(13);
  await trimRuns(nats.connection, upTo(last), { ...keepAll, bytes: 5.5 * bodyBytes });
  expect((await runs()).messages).toBe(5);
  await until(async () => {
    await trimRuns(nats.connection, upTo(last), { ...keepAll, ms: 1 });
    return (await runs()).messages === 0;
  }, "the last one is older than a millisecond");
  expect((await lastCommit(nats.connection, { partition: 0, owner: "u_1", source: "dc_19" })).text?.slice(0, 2)).toBe("19");
});

it("keeps commits that STATE has not copied, so the last commit of a source is always in one of them", async () => {
  const { streams: stored } = nats.connection.manager;
  const before = await copied();
  // While STATE is full the server copies nothing.
  await stored.update(streams.state, { max_bytes: 1 });
  await commit(20);
  await trimRuns(nats.connection, upTo(before + 1), keepNothing);
  expect(await runs()).toMatchObject({ messages: 1 });
  await setUpStreams(nats.connection, streamOptions);
  const last = await copied();
  await trimRuns(nats.connection, upTo(last), keepNothing);
  expect(await runs()).toMatchObject({ messages: 0, last_seq: before + 1 });
});

it("refuses commits beyond the limit of RUNS, and accepts them again after RUNS is trimmed", async () => {
  const { streams: stored } = nats.connection.manager;
  const limited = { max_bytes: 3 * bodyBytes };
  await stored.update(streams.runs, limited);
  await commit(30);
  await commit(31);
  await expect(commit(32)).rejects.toMatchObject({ code: "store_full" });
  await trimRuns(nats.connection, upTo(await copied()), keepNothing);
  expect(await commit(32)).toMatchObject({ outcome: "stored" });
  await setUpStreams(nats.connection, streamOptions);
});

it("lowers the limit of a stream that holds more without dropping messages", async () => {
  for (let n = 40; n < 50; n++) await commit(n);
  const { messages, bytes } = await runs();
  await setUpStreams(nats.connection, { ...streamOptions, storeBytes: bytes });
  expect((await runs()).messages).toBe(messages);
  await expect(commit(50)).rejects.toMatchObject({ code: "store_full" });
  await setUpStreams(nats.connection, streamOptions);
});

const failed = (error: unknown): never => {
  throw error;
};
const ofAll = (floor: number): readonly number[] => Array.from({ length: partitionCount }, () => floor);
const floorsOf = (stream: string, routed: Readonly<Record<number, number>>, recorded: Readonly<Record<number, number>> = {}): Floors => ({
  stream,
  routed: ofAll(0).map((floor, partition) => routed[partition] ?? floor),
  recorded: ofAll(0).map((floor, partition) => recorded[partition] ?? floor),
});

it("publishes floors of partitions that only grow, with any number of publishers", async () => {
  const one = new FloorPublisher(nats.connection, failed);
  const other = new FloorPublisher(await nats.addConnection(), failed);
  const { stream } = await one.load();
  await other.load();
  const floors = new Map([[1, 10]]);
  one.follow("routed", () => floors);
  other.follow(
    "routed",
    () =>
      new Map([
        [2, 20],
        [1, 3],
      ]),
  );
  await Promise.all([one.publish(), other.publish()]);
  expect(await readFloors(nats.connection)).toEqual(floorsOf(stream, { 1: 10, 2: 20 }));
  floors.set(1, 11);
  await until(async () => (await readFloors(nats.connection))?.routed[1] === 11, "published without being asked to");
  one.follow("recorded", () => new Map([[1, 5]]));
  await Promise.all([one.stop(), other.stop()]);
  expect(await readFloors(nats.connection)).toEqual(floorsOf(stream, { 1: 11, 2: 20 }, { 1: 5 }));
  expect(await new FloorPublisher(nats.connection, failed).load()).toEqual(floorsOf(stream, { 1: 11, 2: 20 }, { 1: 5 }));
});

it("starts with the floor of an earlier version for each partition, and not with that of another stream", async () => {
  const { stream } = await loadFloors(nats.connection);
  const put = (entry: object) => nats.connection.publisher.publish("$KV.FLOORS.delivery", JSON.stringify(entry));
  await put({ stream, routed: 7, recorded: 3 });
  expect(await loadFloors(nats.connection)).toEqual({ stream, routed: ofAll(7), recorded: ofAll(3) });
  // Its ordered webhooks had not received what was routed to other listeners.
  await put({ stream, routed: 5, recorded: 3, partitions: { routed: ofAll(7), recorded: ofAll(3), ordered: [5] } });
  expect(await loadFloors(nats.connection)).toEqual({ stream, routed: ofAll(5), recorded: ofAll(3) });
  await put({ stream: "an earlier one", routed: 9_999, recorded: 9_999 });
  expect(await loadFloors(nats.connection)).toEqual(floorsOf(stream, {}));
});

it("lowers floors above the last commit permanently, since the next commits get these sequences", async () => {
  const { last_seq } = await runs();
  const { stream } = await loadFloors(nats.connection);
  await publishFloors(nats.connection, floorsOf(stream, { 3: last_seq + 100 }, { 3: 2 }));
  expect((await loadFloors(nats.connection)).routed[3]).toBe(last_seq);
  expect((await readFloors(nats.connection))?.routed[3]).toBe(last_seq);
});

it("counts a partition without newer commits as processed", async () => {
  const { last_seq: before } = await runs();
  await appendCommit(nats.connection, { partition: 5, owner: "u_1", source: "dc_idle" }, "x", 0);
  await appendCommit(nats.connection, { partition: 6, owner: "u_1", source: "dc_busy" }, "x", 0);
  const last = before + 2;
  const floors = ofAll(before);
  expect(await doneUpTo(nats.connection, floors, last)).toBe(before);
  const fifthDone = floors.map((floor, partition) => (partition === 5 ? before + 1 : floor));
  expect(await doneUpTo(nats.connection, fifthDone, last)).toBe(before + 1);
  const bothDone = fifthDone.map((floor, partition) => (partition === 6 ? last : floor));
  expect(await doneUpTo(nats.connection, bothDone, last)).toBe(last);
  expect(await doneUpTo(nats.connection, bothDone, before - 1)).toBe(before - 1);
});
