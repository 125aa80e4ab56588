import { expect, it } from "vitest";
import type { PostRequest, PostResult } from "../../../delivery/attempts/ports.ts";
import { partitionCount, streams as names } from "../../../domain/subjects.ts";
import { requestRedelivery } from "../../../platform/jetstream/deliveries/due-deliveries.ts";
import { setUpStreams } from "../../../platform/jetstream/streams/streams.ts";
import { createDeliveryRecords } from "../../../platform/postgres/history/deliveries.ts";
import { streamOptions, until } from "../jetstream/support.ts";
import { withWorkflowWorld } from "./workflow-support.ts";

const world = withWorkflowWorld();
const { stopAll, putRoute, emitOf } = world;
/** 4 % of it are for ORDERED: 32 MiB. An owner alone may hold half of three quarters of that. */
const storeBytes = 800 * 2 ** 20;
const large = JSON.stringify("x".repeat(800_000));
const all = { limit: 100, cursor: null };
const posted = new Map<string, number>();
let isDown = true;

async function post({ url }: PostRequest): Promise<PostResult> {
  const status = isDown ? 503 : 200;
  if (!isDown) posted.set(url, (posted.get(url) ?? 0) + 1);
  return { outcome: "answered", status, retryAfter: undefined };
}

async function putOrdered(owner: string): Promise<void> {
  const keys = [`whsec_${"A".repeat(32)}`];
  const listener = { kind: "webhook", id: `wh_${owner}`, url: `http://${owner}`, keys, ordered: true } as const;
  await putRoute({ subscription: listener.id, owner, emitter: listener.id, channel: "", listener });
  await putRoute({ subscription: `sub_${owner}`, owner, emitter: `dc_${owner}`, channel: "", listener });
}

it("keeps the queue of an owner while a dead ordered webhook of another fills his share, whose further events are dead letters", async () => {
  const { connection } = world.streams;
  await setUpStreams(connection, { ...streamOptions, partitions: partitionCount, storeBytes });
  const records = createDeliveryRecords(world.database());
  const deadLetters = async (owner: string) => (await records.pageDeadLetters(`wh_${owner}`, all)).items;
  const start = () => world.start(connection, { poster: { post } }, { nextAttempt: () => 200 });
  const messages = async (): Promise<number> => (await connection.manager.streams.info(names.ordered)).state.messages;
  await putOrdered("greedy");
  await putOrdered("modest");
  await start();

  const count = 40;
  for (let n = 1; n <= count; n++) await emitOf("greedy", "dc_greedy", [n, large]);
  const stored = async () => (await messages()) + (await deadLetters("greedy")).length;
  await until(async () => (await stored()) === count, "each event waits or is a dead letter");
  const waiting = await messages();
  // 12 MiB in a stream of 32 MiB: not all that the stream can hold.
  expect(waiting).toBeGreaterThan(13);
  expect(waiting).toBeLessThan(18);
  expect((await deadLetters("greedy"))[0]).toMatchObject({ source: "dc_greedy", payload: large, attempts: 0 });
  expect((await deadLetters("greedy"))[0]?.reason).toMatch(
    /^the deliveries in the queues of this owner's ordered webhooks have 12\d{6} bytes, and the store is too full for 8\d{5} more: repair/,
  );
  for (let n = 1; n <= 3; n++) await emitOf("modest", "dc_modest", [n, large]);
  await until(async () => (await messages()) === waiting + 3, "the modest owner's events wait");

  // After a restart the counts are the same.
  await stopAll();
  await start();
  await emitOf("greedy", "dc_greedy", [count + 1, large]);
  await until(async () => (await deadLetters("greedy")).length === count + 1 - waiting, "the greedy owner's next event is a dead letter");
  expect(await deadLetters("modest")).toEqual([]);

  isDown = false;
  await until(async () => (await messages()) === 0, "the queues are delivered");
  expect([posted.get("http://greedy"), posted.get("http://modest")]).toEqual([waiting, 3]);
  const [{ delivery } = expect.fail("no dead letter")] = await deadLetters("greedy");
  await requestRedelivery(connection, { webhook: "wh_greedy", deliveries: [delivery] });
  await until(() => posted.get("http://greedy") === waiting + 1, "a dead letter is delivered on request");
  await setUpStreams(connection, { ...streamOptions, partitions: partitionCount });
});
