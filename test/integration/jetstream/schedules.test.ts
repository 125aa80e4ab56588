import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { invokeSubject, timerFilter } from "../../../domain/subjects.ts";
import { setUpPool } from "../../../platform/jetstream/invocations/pool-consumers.ts";
import type { Stoppable } from "../../../platform/jetstream/connection/link.ts";
import { readPartition } from "../../../platform/jetstream/read/partition-reader.ts";
import { readQueue } from "../../../platform/jetstream/read/queue-reader.ts";
import { endSchedule, endTimers, publishScheduled, setTimer, type Schedule } from "../../../platform/jetstream/schedules.ts";
import type { StreamMessage } from "../../../platform/jetstream/read/stream-message.ts";
import { withJetStream } from "./support.ts";
import { until } from "../../support/until.ts";

const nats = withJetStream();
let reading: Stoppable;
let got: StreamMessage[] = [];
const target = invokeSubject("default", 0, "dc_1");
const set = (schedule: Schedule, options: { body?: string; messageId?: string; prop?: string } = {}) =>
  setTimer(nats.connection.publisher, { source: "dc_1", prop: "timer", schedule, target, body: "tick", ...options });
const schedulesLeft = async (): Promise<number> =>
  Object.keys((await nats.connection.manager.streams.info("INVOCATIONS", { subjects_filter: timerFilter("dc_1") })).state.subjects ?? {})
    .length;
const storedAt = (tick: number): number => got[tick]?.storedAt ?? Number.NaN;
const ticked = (count: number): Promise<void> => until(() => got.length >= count, `${count} ticks`);

beforeAll(async () => {
  reading = await readPartition({
    connection: nats.connection,
    pool: "default",
    restore: () => setUpPool(nats.connection, { pool: "default" }),
    partition: 0,
    onMessage: (message) => {
      got.push(message);
      message.ack();
    },
  });
});
afterAll(() => reading.stop());
beforeEach(async () => {
  await endTimers(nats.connection, "dc_1");
  got = [];
});

test("an interval ticks with its body on the target", async () => {
  await set({ kind: "every", every: "1s" }, { body: '{"invocations":[]}' });
  await ticked(2);
  expect(got.map((tick) => [tick.subject, tick.text()])).toEqual([
    [target, '{"invocations":[]}'],
    [target, '{"invocations":[]}'],
  ]);
  expect(storedAt(1) - storedAt(0)).toBeGreaterThan(900);
});

test("publishing again replaces the schedule, purging ends it", async () => {
  await set({ kind: "every", every: "1s" }, { body: "old" });
  await set({ kind: "every", every: "2s" }, { body: "new" });
  expect(await schedulesLeft()).toBe(1);
  await ticked(1);
  expect(got[0]?.text()).toBe("new");
  await set({ kind: "every", every: "1s" }, { prop: "second prop/ä" });
  expect(await schedulesLeft()).toBe(2);
  await endTimers(nats.connection, "dc_1");
  expect(await schedulesLeft()).toBe(0);
});

test("a one-shot in the past fires at once and leaves no schedule behind", async () => {
  await set({ kind: "at", atMs: Date.now() - 5_000 });
  await ticked(1);
  await until(async () => (await schedulesLeft()) === 0, "the schedule is gone");
});

test("a one-shot in the future fires when it is due, and is not armed twice under a known message id", async () => {
  const atMs = Date.now() + 1_500;
  await set({ kind: "at", atMs }, { messageId: "chain-1" });
  expect((await set({ kind: "at", atMs: atMs + 60_000 }, { messageId: "chain-1" })).duplicate).toBe(true);
  await ticked(1);
  expect(storedAt(0)).toBeGreaterThanOrEqual(atMs - 50);
});

test("cron has six fields and a time zone", async () => {
  await set({ kind: "cron", cron: "* * * * * *", timezone: "Asia/Kolkata" });
  await ticked(1);
  await endTimers(nats.connection, "dc_1");
  await set({ kind: "cron", cron: "* * * * * *", timezone: "UTC" });
  const before = got.length;
  await ticked(before + 1);
});

test.each<[string, Schedule]>([
  ["five fields", { kind: "cron", cron: "* * * * *", timezone: "UTC" }],
  ["less than a second", { kind: "every", every: "500ms" }],
  ["a minute 61", { kind: "cron", cron: "0 61 * * * *", timezone: "UTC" }],
  ["an unknown zone", { kind: "cron", cron: "* * * * * *", timezone: "Mars/Base" }],
])("%s is refused", async (_what, schedule) => {
  await expect(set(schedule)).rejects.toMatchObject({ code: "publish_refused" });
});

test("schedules survive kill -9 of the server", async () => {
  await set({ kind: "every", every: "1s" });
  await nats.server.crash();
  const before = got.length;
  await ticked(before + 2);
});

test("a retry waits on DELIVERIES until it is due, and can be removed before", async () => {
  const due: string[] = [];
  const retries = await readQueue({
    connection: nats.connection,
    stream: "DELIVERIES",
    consumer: "deliverer",
    create: { filter: "deliver.>", ackWaitMs: 30_000, maxAckPending: 1_000 },
    onMessage: (message) => {
      due.push(message.text());
      message.ack();
    },
  });
  const at = Date.now() + 1_000;
  const retry = (id: string) =>
    publishScheduled(nats.connection.publisher, {
      subject: `retry.wh_1.${id}`,
      target: `deliver.wh_1.${id}`,
      schedule: { kind: "at", atMs: at },
      body: id,
    });
  await retry("one");
  await retry("two");
  await endSchedule(nats.connection, "DELIVERIES", "retry.wh_1.one");
  await until(() => due.length > 0, "the retry");
  expect(due).toEqual(["two"]);
  await retries.stop();
});
