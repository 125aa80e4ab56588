import { expect, it } from "vitest";
import { streams } from "../../domain/subjects.ts";
import { appendCommit, lastCommit } from "../../platform/jetstream/commits.ts";
import { FloorPublisher, readFloors } from "../../platform/jetstream/floors.ts";
import { statePosition } from "../../platform/jetstream/state-position.ts";
import { setUpStreams } from "../../platform/jetstream/streams.ts";
import { trimRuns } from "../../platform/jetstream/trim-runs.ts";
import { streamOptions, until, withJetStream } from "./jetstream-support.ts";

const nats = withJetStream();
const keepNothing = { ms: 0, bytes: 0 };
const keepAll = { ms: 3_600_000, bytes: 2 ** 30 };
const bodyBytes = 100_000;

const runs = async () => (await nats.connection.manager.streams.info(streams.runs)).state;
const commit = (n: number) =>
  appendCommit(nats.connection, { partition: 0, owner: "u_1", source: `dc_${n}` }, `${n} ${"x".repeat(bodyBytes)}`, 0);

async function copied(): Promise<number> {
  const { last_seq } = await runs();
  await until(async () => (await statePosition(nats.connection)) === last_seq, "STATE has every commit");
  return last_seq;
}

it("keeps what is not processed, whatever its age and size", async () => {
  for (let n = 0; n < 10; n++) await commit(n);
  const last = await copied();
  await trimRuns(nats.connection, last - 3, keepNothing);
  expect(await runs()).toMatchObject({ messages: 3, first_seq: last - 2 });
});

it("keeps the newest of what is processed: so many bytes, and no older than so long", async () => {
  for (let n = 10; n < 20; n++) await commit(n);
  const last = await copied();
  await trimRuns(nats.connection, last, keepAll);
  expect((await runs()).messages).toBe(13);
  await trimRuns(nats.connection, last, { ...keepAll, bytes: 5.5 * bodyBytes });
  expect((await runs()).messages).toBe(5);
  await until(async () => {
    await trimRuns(nats.connection, last, { ...keepAll, ms: 1 });
    return (await runs()).messages === 0;
  }, "the last one is older than a millisecond");
  expect((await lastCommit(nats.connection, { partition: 0, owner: "u_1", source: "dc_19" })).text?.slice(0, 2)).toBe("19");
});

it("keeps what STATE has not copied: the last commit of a source is never in neither of them", async () => {
  const { streams: stored } = nats.connection.manager;
  const before = await copied();
  // While STATE is full the server copies nothing.
  await stored.update(streams.state, { max_bytes: 1 });
  await commit(20);
  await trimRuns(nats.connection, before + 1, keepNothing);
  expect(await runs()).toMatchObject({ messages: 1 });
  await setUpStreams(nats.connection, streamOptions);
  const last = await copied();
  await trimRuns(nats.connection, last, keepNothing);
  expect(await runs()).toMatchObject({ messages: 0, last_seq: before + 1 });
}, 60_000);

it("refuses commits beyond the limit of RUNS, and takes them again once it is trimmed", async () => {
  const { streams: stored } = nats.connection.manager;
  const limited = { max_bytes: 3 * bodyBytes };
  await stored.update(streams.runs, limited);
  await commit(30);
  await commit(31);
  await expect(commit(32)).rejects.toMatchObject({ code: "store_full" });
  await trimRuns(nats.connection, await copied(), keepNothing);
  expect(await commit(32)).toMatchObject({ outcome: "stored" });
  await setUpStreams(nats.connection, streamOptions);
});

it("lowers the limit of a stream that holds more without dropping anything", async () => {
  for (let n = 40; n < 50; n++) await commit(n);
  const { messages, bytes } = await runs();
  await setUpStreams(nats.connection, { ...streamOptions, storeBytes: bytes });
  expect((await runs()).messages).toBe(messages);
  await expect(commit(50)).rejects.toMatchObject({ code: "store_full" });
  await setUpStreams(nats.connection, streamOptions);
});

it("publishes floors that only grow, and begins again with those of the same stream alone", async () => {
  const failed = (error: unknown): never => {
    throw error;
  };
  const floors = new FloorPublisher(nats.connection, failed);
  const { stream } = await floors.load();
  const { last_seq } = await runs();
  floors.raise({ routed: last_seq });
  floors.raise({ routed: 1, recorded: 2 });
  await until(async () => (await readFloors(nats.connection))?.recorded === 2, "published without being stopped");
  floors.raise({ recorded: 3 });
  await floors.stop();
  expect(await readFloors(nats.connection)).toEqual({ stream, routed: last_seq, recorded: 3 });
  expect(await new FloorPublisher(nats.connection, failed).load()).toEqual({ stream, routed: last_seq, recorded: 3 });
  await nats.connection.publisher.publish(
    "$KV.FLOORS.delivery",
    JSON.stringify({ stream: "an earlier one", routed: 9_999, recorded: 9_999 }),
  );
  expect(await new FloorPublisher(nats.connection, failed).load()).toEqual({ stream, routed: 0, recorded: 0 });
});
