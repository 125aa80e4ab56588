import { expect, test } from "vitest";
import { PartitionedFollow, type PartitionedOptions } from "../../../platform/jetstream/read/partitioned-follow.ts";
import { readPartition } from "../../../platform/jetstream/read/partition-reader.ts";
import { followFrom } from "../../../platform/jetstream/read/follow.ts";
import { requestConsumers } from "../../../platform/jetstream/invocations/pool-requests.ts";
import { invokeSubject, partitionOfRun, runsOfPartition } from "../../../domain/subjects.ts";
import { quietMs, withJetStream, withPoolRequests } from "./support.ts";
import { until } from "../../support/until.ts";

const nats = withJetStream();
withPoolRequests(nats);
const readerOf = (options: Pick<PartitionedOptions, "onMessage"> & Partial<PartitionedOptions>): PartitionedFollow =>
  new PartitionedFollow({
    connection: nats.connection,
    stream: "RUNS",
    filterOf: runsOfPartition,
    partitionOf: partitionOfRun,
    ...options,
  });

async function publishMany(subject: string, from: number, to: number): Promise<void> {
  await Promise.all(Array.from({ length: to - from }, (_, i) => nats.connection.publisher.publish(subject, String(from + i))));
}

const numbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);
const sorted = (values: Iterable<number>): number[] => [...values].sort((a, b) => a - b);

test("a partition is read, nacked messages are redelivered, and acked messages are removed", async () => {
  const got: string[] = [];
  const reading = await readPartition({
    connection: nats.connection,
    pool: "default",
    partition: 1,
    onMessage: (message) => {
      got.push(`${message.text()}.${message.deliveries}`);
      message.working();
      if (message.deliveries === 1 && message.text() === "1") message.nak(50);
      else message.ack();
    },
  });
  await publishMany(invokeSubject("default", 1, "dc_1"), 0, 3);
  await until(() => got.length === 4, "all and one again");
  await reading.stop();
  expect(got).toEqual(["0.1", "1.1", "2.1", "1.2"]);
  await until(async () => (await nats.connection.manager.streams.info("INVOCATIONS")).state.messages === 0, "the queue is empty");
});

test("one of two readers of a partition stops without blocking a message", async () => {
  const other = await nats.addConnection();
  const got = new Set<string>();
  const read = (connection: typeof other) =>
    readPartition({
      connection,
      pool: "default",
      partition: 2,
      batch: 20,
      onMessage: (message) => {
        got.add(message.text());
        message.ack();
      },
    });
  const a = await read(nats.connection);
  const b = await read(other);
  const publishing = publishMany(invokeSubject("default", 2, "dc_1"), 0, 500);
  await until(() => got.size > 60, "reading began");
  await a.stop();
  await publishing;
  await until(() => got.size === 500, "every message before the ack wait of an hour");
  await b.stop();
});

test("a partition continues after kill -9 of the server, without loss", async () => {
  const got = new Set<number>();
  const reading = await readPartition({
    connection: nats.connection,
    pool: "default",
    partition: 3,
    restore: () => requestConsumers(nats.connection, "default"),
    onMessage: (message) => {
      got.add(Number(message.text()));
      message.ack();
    },
  });
  await publishMany(invokeSubject("default", 3, "dc_1"), 0, 100);
  await nats.server.crash();
  await publishMany(invokeSubject("default", 3, "dc_1"), 100, 200);
  await until(() => got.size === 200, "all messages");
  await reading.stop();
});

test("a follower delivers each message once, in order, across kill -9 and the loss of its consumer", async () => {
  const got: number[] = [];
  const interruptions: string[] = [];
  const filter = "runs.0.u_f.>";
  const following = await followFrom({
    connection: nats.connection,
    stream: "RUNS",
    from: 1,
    filter,
    batch: 50,
    onMessage: (message) => got.push(Number(message.text())),
    onInterrupted: (reason) => interruptions.push(reason),
  });
  const writing = (async () => {
    for (let i = 0; i < 600; i++) await nats.connection.publisher.publish("runs.0.u_f.dc_1", String(i), { messageId: `f-${i}` });
  })();
  await until(() => got.length > 60, "some");
  await nats.server.crash();
  await until(() => got.length > 200, "more after the restart");
  for await (const consumer of nats.connection.manager.consumers.list("RUNS"))
    await nats.connection.manager.consumers.delete("RUNS", consumer.name);
  await writing;
  await until(() => got.length >= 600, "all");
  await following.stop();
  expect(got).toEqual(numbers(0, 600));
  expect(interruptions.length).toBeGreaterThanOrEqual(2);
});

test("a follower starts behind a sequence, or with new messages", async () => {
  await publishMany("runs.0.u_g.dc_1", 0, 5);
  const last = (await nats.connection.manager.streams.info("RUNS")).state.last_seq;
  const [behind, fresh]: [number[], number[]] = [[], []];
  const one = await followFrom({
    connection: nats.connection,
    stream: "RUNS",
    from: last - 1,
    onMessage: (m) => behind.push(Number(m.text())),
  });
  const two = await followFrom({
    connection: nats.connection,
    stream: "RUNS",
    from: "new",
    onMessage: (m) => fresh.push(Number(m.text())),
  });
  await Promise.all([one.caughtUp, two.caughtUp]);
  expect([behind, fresh]).toEqual([[3, 4], []]);
  await publishMany("runs.0.u_g.dc_1", 5, 7);
  await until(() => behind.length === 4 && fresh.length === 2, "both");
  expect([behind, fresh]).toEqual([
    [3, 4, 5, 6],
    [5, 6],
  ]);
  await Promise.all([one.stop(), two.stop()]);
  await until(async () => (await nats.connection.manager.streams.info("RUNS")).state.consumer_count === 0, "their consumers are gone");
});

test("a follower whose consumer is lost before its first message begins again with what was stored", async () => {
  const subject = "runs.0.u_h.dc_1";
  await publishMany(subject, 0, 1);
  const got: number[] = [];
  let mayPull = false;
  const following = await followFrom({
    connection: nats.connection,
    stream: "RUNS",
    from: "new",
    filter: subject,
    lastPerSubject: true,
    canPull: () => mayPull,
    onMessage: (message) => got.push(Number(message.text())),
  });
  for await (const consumer of nats.connection.manager.consumers.list("RUNS"))
    await nats.connection.manager.consumers.delete("RUNS", consumer.name);
  mayPull = true;
  following.resume();
  await following.caughtUp;
  await publishMany(subject, 1, 2);
  await until(() => got.length >= 2, "a new message");
  expect(got).toEqual([0, 1]);
  await following.stop();
});

test("the floor rises only past processed messages, and a reader that starts there receives the rest", async () => {
  const open = new Map<number, () => void>();
  const { last_seq: before } = (await nats.connection.manager.streams.info("RUNS")).state;
  const first = readerOf({ onMessage: (message, done) => open.set(Number(message.text()), done) });
  await first.open(1, before);
  await publishMany("runs.1.u_1.dc_1", 0, 10);
  await until(() => open.size === 10, "ten");
  for (const number of [0, 1, 5, 6, 9]) open.get(number)?.();
  expect(first.floors().get(1)).toBe(before + 2);
  open.get(2)?.();
  expect(first.floors().get(1)).toBe(before + 3);
  await first.stop();
  const again: number[] = [];
  const second = readerOf({
    onMessage: (message, done) => {
      again.push(Number(message.text()));
      done();
    },
  });
  await second.open(1, first.floors().get(1) ?? 0);
  await until(() => again.length === 7, "what lay above the floor");
  expect(again).toEqual(numbers(3, 10));
  await second.idle();
  expect(second.floors().get(1)).toBe(before + 10);
  await second.stop();
});

test("a reader adds and removes partitions while it reads, and receives each of their messages once, in order", async () => {
  const { last_seq: before } = (await nats.connection.manager.streams.info("RUNS")).state;
  const got = new Map<string, number[]>();
  const reader = readerOf({
    onMessage: (message, done) => {
      const { subject } = message;
      got.set(subject, [...(got.get(subject) ?? []), Number(message.text())]);
      setTimeout(done, Math.random() * 10);
    },
  });
  const subjects = numbers(5, 9).map((partition) => `runs.${partition}.u_1.dc_1`);
  const writing = (async () => {
    for (let i = 0; i < 100; i++) for (const subject of subjects) await nats.connection.publisher.publish(subject, String(i));
  })();
  const [, closed] = [await reader.open(5, before), await reader.open(6, before)];
  await until(() => (got.get("runs.6.u_1.dc_1")?.length ?? 0) > 15, "some of both");
  await reader.open(7, before);
  await closed.close();
  const floor = reader.floors().get(6) ?? 0;
  const handedOut = got.get("runs.6.u_1.dc_1")?.length ?? 0;
  await reader.open(8, before);
  await writing;
  const length = (partition: number): number => got.get(`runs.${partition}.u_1.dc_1`)?.length ?? 0;
  await until(() => [5, 7, 8].every((partition) => length(partition) === 100), "the partitions that are open");
  expect(length(6)).toBe(handedOut);
  await reader.open(6, floor);
  await until(() => length(6) === 100, "the rest of the one that was closed");
  for (const numbersGot of got.values()) expect(numbersGot).toEqual(numbers(0, 100));
  await reader.idle();
  await reader.stop();
  const { last_seq } = (await nats.connection.manager.streams.info("RUNS")).state;
  // Idle partitions have the same floor as the others.
  for (const partition of [5, 6, 7, 8]) expect(reader.floors().get(partition)).toBe(last_seq);
});

test("across kill -9 a reader with a floor loses nothing and delivers nothing twice", async () => {
  const got: number[] = [];
  const { last_seq: before } = (await nats.connection.manager.streams.info("RUNS")).state;
  const reader = readerOf({
    maxOpen: 50,
    onMessage: (message, done) => {
      got.push(Number(message.text()));
      setTimeout(done, Math.random() * 50);
    },
  });
  await reader.open(2, before);
  const writing = (async () => {
    for (let i = 0; i < 400; i++) await nats.connection.publisher.publish("runs.2.u_1.dc_1", String(i), { messageId: `floor-${i}` });
  })();
  await until(() => got.length > 60, "some");
  await nats.server.crash();
  await writing;
  await until(() => got.length >= 400 && reader.openBytes === 0, "all done");
  await reader.stop();
  expect(got).toEqual(numbers(0, 400));
});

test("a reader with a floor is not interrupted by the end of its requests", async () => {
  const { last_seq: before } = (await nats.connection.manager.streams.info("RUNS")).state;
  const interruptions: string[] = [];
  const reader = readerOf({ onMessage: (_message, done) => done(), onInterrupted: (reason) => interruptions.push(reason) });
  await reader.open(4, before);
  // More than two requests have.
  for (let n = 0; n < 420; n++) await nats.connection.publisher.publish("runs.4.u_1.dc_1", String(n));
  await until(() => reader.floors().get(4) === before + 420, "all of them");
  await reader.stop();
  expect(interruptions).toEqual([]);
});

test("reading pauses while large messages are in progress, whatever their number", async () => {
  const bytes = 1_000_000;
  const most = 30;
  const large = "x".repeat(bytes);
  const { last_seq: before } = (await nats.connection.manager.streams.info("RUNS")).state;
  for (let n = 0; n < most; n++) await nats.connection.publisher.publish(`runs.3.u_1.dc_${n}`, large);
  const open: (() => void)[] = [];
  let handedOut = 0;
  const reader = readerOf({
    maxOpenBytes: 4 * bytes,
    onMessage: (_message, done) => {
      handedOut++;
      open.push(done);
    },
  });
  await reader.open(3, before);
  await until(() => handedOut >= 4, "the first ones");
  await new Promise((resolve) => setTimeout(resolve, quietMs));
  expect(reader.openBytes).toBeLessThan(15 * bytes);
  await until(() => {
    for (const done of open.splice(0, 1)) done();
    return reader.floors().get(3) === before + most;
  }, "all of them");
  expect(handedOut).toBe(most);
  await reader.stop();
});

test("messages of a closed partition that are never done are forgotten, and handed out again", async () => {
  const { last_seq: before } = (await nats.connection.manager.streams.info("RUNS")).state;
  for (let n = 0; n < 15; n++) await nats.connection.publisher.publish("runs.9.u_1.dc_1", String(n));
  const got: number[] = [];
  let isRefused = true;
  const reader = readerOf({
    maxOpen: 10,
    onMessage: (message, done) => {
      got.push(Number(message.text()));
      if (!isRefused) done();
    },
  });
  const refused = await reader.open(9, before);
  await until(() => got.length >= 10, "as many as may be open");
  await refused.close(AbortSignal.abort());
  expect(reader.openBytes).toBe(0);
  isRefused = false;
  got.length = 0;
  await reader.open(9, before);
  await until(() => got.length === 15, "all of them");
  await reader.stop();
});

test("after stop no message is delivered", async () => {
  const got: number[] = [];
  const reading = await followFrom({
    connection: nats.connection,
    stream: "RUNS",
    from: "new",
    filter: "runs.9.>",
    onMessage: (m) => got.push(Number(m.text())),
  });
  await publishMany("runs.9.u_1.dc_1", 0, 3);
  await reading.stop();
  const seen = got.length;
  await publishMany("runs.9.u_1.dc_1", 3, 6);
  await new Promise((resolve) => setTimeout(resolve, quietMs));
  expect(got.length).toBe(seen);
  expect(sorted(got)).toEqual(numbers(0, seen));
});

test("reading a consumer that does not exist fails at once", async () => {
  await expect(readPartition({ connection: nats.connection, pool: "missing", partition: 0, onMessage: () => undefined })).rejects.toThrow(
    /not found/,
  );
});
