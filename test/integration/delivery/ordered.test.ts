import { afterEach, describe, expect, it } from "vitest";
import { former } from "../../../domain/subjects.ts";
import { deliveryBacklog } from "../../../platform/jetstream/deliveries/delivery-backlog.ts";
import { publishReplay } from "../../../platform/jetstream/deliveries/replays.ts";
import { dueConsumer } from "../../../wiring/roles/delivery-ports.ts";
import { disorder } from "../../support/order.ts";
import { ada } from "../api/support.ts";
import { withRepairWorld } from "../api/webhooks-support.ts";
import { quietMs } from "../jetstream/support.ts";
import { until } from "../../support/until.ts";
import { startEndpoint, type Answer, type Endpoint } from "../ordered-support.ts";

const world = withRepairWorld();
const { api } = world;
const ordered = { ordered: true };
const endpoints: Endpoint[] = [];
/** Numbers of the second source in a test start here. */
const other = 1_000;

afterEach(async () => {
  world.waits = [];
  for (const endpoint of endpoints.splice(0)) await endpoint.close();
});

async function listen(answer: (n: string) => Answer = () => 200): Promise<Endpoint> {
  const endpoint = await startEndpoint();
  endpoint.answer = answer;
  endpoints.push(endpoint);
  return endpoint;
}

let sources = 0;
const newSource = (): string => `dc_ordered${++sources}`;

/** Commits of a source, some with several events; the numbers are in the order of commits. */
async function emitMany(source: string, count: number, from = 0): Promise<readonly string[]> {
  const numbers = Array.from({ length: count }, (_, index) => from + index);
  for (let next = 0; next < count;) {
    const some = numbers.slice(next, next + 1 + (next % 4));
    await world.emitFrom(source, ...some.map((n) => ({ n })));
    next += some.length;
  }
  return numbers.map(String);
}

const isOfOther = (n: string): boolean => Number(n) >= other;
const stored = async () => (await deliveryBacklog(world.streams.connection, dueConsumer)).ordered;
const deadLetters = async (webhook: string) =>
  (await world.get(`/v1/webhooks/${webhook}/dead_letters`)).data as readonly { readonly delivery_id: string; readonly cause: string }[];
const attempts = async (webhook: string, outcome: string) =>
  (await world.get(`/v1/webhooks/${webhook}/deliveries?outcome=${outcome}&limit=100`)).data as readonly {
    readonly delivery_id: string;
    readonly attempt: number;
  }[];
const change = async (webhook: string, body: object) => {
  expect((await api.ask("PUT", `/v1/webhooks/${webhook}`, { body })).status).toBe(200);
  await world.observe(webhook);
};

describe("an ordered webhook", () => {
  it("receives the events of each source in the order of their commits, one at a time, although attempts fail", async () => {
    world.waits = [10, 20, 40, 80, 160, 320];
    await world.deliver();
    // Each number determines how it fails first; one of each source hangs until the attempt times out.
    const tries = new Map<string, number>();
    const endpoint = await listen((n) => {
      const tried = (tries.get(n) ?? 0) + 1;
      tries.set(n, tried);
      if (tried > 1 + (Number(n) % 3)) return 200;
      if (Number(n) % other === 15) return tried === 1 ? "hang" : 200;
      return (["reset", 200, 500, 503, 200, 200, 200] as const)[(Number(n) * 7 + tried) % 11] ?? 200;
    });
    await world.subscribedWebhook(endpoint.url, ordered);
    const [first, second] = [newSource(), newSource()];
    const [sent, ofOther] = await Promise.all([emitMany(first, 24), emitMany(second, 24, other)]);
    await until(() => endpoint.taken.length >= 48, "all are taken");
    const [heardOfFirst, heardOfOther] = [endpoint.heard.filter((n) => !isOfOther(n)), endpoint.heard.filter(isOfOther)];
    expect(endpoint.taken.filter((n) => !isOfOther(n))).toEqual(sent);
    expect(endpoint.taken.filter(isOfOther)).toEqual(ofOther);
    expect(disorder(sent, heardOfFirst)).toBeUndefined();
    expect(disorder(ofOther, heardOfOther)).toBeUndefined();
    expect(endpoint.heard.length).toBeGreaterThan(56);
    expect(endpoint.maxConcurrent()).toBe(2);
    await until(async () => (await stored()) === 0, "nothing stays queued");
  });

  it("continues after a dead letter", async () => {
    world.waits = [10, 10];
    await world.deliver();
    const endpoint = await listen((n) => (n === "3" ? 500 : 200));
    const { id } = await world.subscribedWebhook(endpoint.url, ordered);
    const sent = await emitMany(newSource(), 8);
    await until(() => endpoint.taken.length === 7, "all but one");
    expect(endpoint.heard).toEqual(["0", "1", "2", "3", "3", "3", "4", "5", "6", "7"]);
    expect(await deadLetters(id)).toMatchObject([{ attempts: 3, cause: "the endpoint answered 500" }]);
    // A redelivery on request is attempted at once.
    endpoint.answer = () => 200;
    expect((await api.ask("POST", `/v1/webhooks/${id}/dead_letters/redrive`)).status).toBe(202);
    await until(() => endpoint.taken.length === 8, "the dead letter");
    expect(endpoint.taken.at(-1)).toBe("3");
    expect(sent).toHaveLength(8);
  });

  it("delays neither other webhooks nor other sources", async () => {
    world.waits = [3_600_000];
    await world.deliver();
    const dead = await listen((n) => (isOfOther(n) ? 200 : 500));
    const [healthy, inOrder] = [await listen(), await listen()];
    const { id } = await world.subscribedWebhook(dead.url, ordered);
    await world.subscribedWebhook(healthy.url);
    await world.subscribedWebhook(inOrder.url, ordered);
    const source = newSource();
    const sent = await emitMany(source, 120);
    await until(() => healthy.taken.length === 120 && inOrder.taken.length === 120, "the others have all");
    expect(inOrder.taken).toEqual(sent);
    expect(inOrder.maxConcurrent()).toBe(1);
    expect(dead.heard).toEqual(["0"]);
    await until(async () => (await stored()) === 120, "the metric counts the queued deliveries");
    const ofOther = await emitMany(newSource(), 5, other);
    await until(() => dead.taken.length === 5, "another source of the webhook does not wait");
    expect(dead.taken.splice(0)).toEqual(ofOther);

    // A requested retry is made at once; when it succeeds, the queued deliveries continue.
    dead.answer = () => 200;
    await until(async () => (await attempts(id, "retry")).length === 1, "the attempt is listed");
    const [attempt] = await attempts(id, "retry");
    expect((await api.ask("POST", `/v1/deliveries/${attempt?.delivery_id}/retry`)).status).toBe(202);
    await until(() => dead.taken.length === 120, "what waited");
    expect(dead.taken).toEqual(sent);
    await until(async () => (await stored()) === 0, "nothing waits");
  });

  it("continues after a restart with the attempt that is due", async () => {
    world.waits = [200, 3_600_000];
    const first = await world.deliver();
    const endpoint = await listen((n) => (n === "2" ? 503 : 200));
    const { id } = await world.subscribedWebhook(endpoint.url, ordered);
    const sent = await emitMany(newSource(), 20);
    await until(() => endpoint.heard.length === 4, "the head has failed twice");
    await first.stop();
    await world.deliver();
    await new Promise((resolve) => setTimeout(resolve, quietMs));
    expect(endpoint.heard).toEqual(["0", "1", "2", "2"]);
    expect(await stored()).toBe(18);
    endpoint.answer = () => 200;
    // An active webhook in the response means that the delivery will be retried.
    await change(id, { active: true });
    await until(() => endpoint.taken.length === 20, "the rest");
    expect(disorder(sent, endpoint.heard)).toBeUndefined();
    await until(async () => (await attempts(id, "delivered")).length === 20, "the attempts are listed");
    const numbers = (await attempts(id, "delivered")).map(({ attempt }) => attempt);
    expect(numbers.toSorted()).toEqual([...Array.from({ length: 19 }, () => 1), 3]);
    expect(await attempts(id, "retry")).toHaveLength(2);
  });

  it("loses nothing when order is switched on and off, and keeps queued deliveries in order", async () => {
    world.waits = [3_600_000];
    await world.deliver();
    const endpoint = await listen(() => 500);
    const { id } = await world.subscribedWebhook(endpoint.url);
    const source = newSource();
    await emitMany(source, 2);
    await until(() => endpoint.heard.length === 2, "two wait for a retry");
    await change(id, { ordered: true });
    const queued = await emitMany(source, 5, 2);
    await until(() => endpoint.heard.length === 3, "the head has failed");
    await until(async () => (await stored()) === 5, "they are queued");
    await change(id, { ordered: false });
    endpoint.answer = () => 200;
    const after = await emitMany(source, 3, 7);
    await until(() => endpoint.taken.length === 3, "what came afterwards waits for nothing");
    expect(endpoint.taken).toEqual(after);
    await change(id, { active: true });
    await until(() => endpoint.taken.length === 8, "the queue");
    expect(endpoint.taken.slice(3)).toEqual(queued);
    await until(async () => (await attempts(id, "retry")).length === 3, "the attempts are listed");
    for (const { delivery_id } of await attempts(id, "retry")) await api.ask("POST", `/v1/deliveries/${delivery_id}/retry`);
    await until(() => endpoint.taken.length === 10, "the retries");
    expect(endpoint.taken.slice(8).toSorted()).toEqual(["0", "1"]);
  });

  it("receives replayed events after queued ones of their source", async () => {
    world.waits = [3_600_000];
    await world.deliver();
    const endpoint = await listen(() => 500);
    const { id } = await world.subscribedWebhook(endpoint.url, ordered);
    const source = newSource();
    await emitMany(source, 3);
    await until(async () => (await stored()) === 3, "the head has failed");
    const replay = { id: "rp_1", at: Date.now() };
    const events = [10, 11, 12].map((n) => ({
      emitId: `em_r${n}.rp_1`,
      eventId: `1700000000000-${n}`,
      source,
      owner: ada.id,
      channel: "",
      ts: 1,
      payload: JSON.stringify({ n }),
      replay,
    }));
    await publishReplay(world.streams.connection, events);
    await until(async () => (await stored()) === 6, "they are queued");
    endpoint.answer = () => 200;
    await change(id, { active: true });
    await until(() => endpoint.taken.length === 6, "all");
    expect(endpoint.taken).toEqual(["0", "1", "2", "10", "11", "12"]);
  });

  it("turns its queues into dead letters in order when it is switched off, and removes the queues when it is deleted", async () => {
    world.waits = [100];
    await world.deliver();
    const endpoint = await listen((n) => (n === "0" ? "hang" : 200));
    const { id } = await world.subscribedWebhook(endpoint.url, ordered);
    await emitMany(newSource(), 4);
    await until(() => endpoint.heard.length === 1, "the head is under way");
    await change(id, { active: false });
    await until(async () => (await deadLetters(id)).length === 4, "dead letters");
    expect(endpoint.heard).toEqual(["0"]);
    await until(async () => (await stored()) === 0, "nothing is queued");

    world.waits = [3_600_000];
    const refusing = await listen(() => 500);
    const deleted = await world.subscribedWebhook(refusing.url, ordered);
    await emitMany(newSource(), 4);
    await until(async () => (await stored()) === 4, "they are queued");
    await world.remove(deleted.id);
    await until(async () => (await stored()) === 0, "the queue is removed");
  });

  it("receives what an earlier version had queued, before newer events", async () => {
    const { manager, publisher } = world.streams.connection;
    const endpoint = await listen();
    const { id } = await world.subscribedWebhook(endpoint.url, ordered);
    const source = newSource();
    await manager.streams.add({ name: former.ordered, subjects: [former.lineSubject("*")] });
    await manager.streams.add({
      name: `KV_${former.lines}`,
      subjects: [`$KV.${former.lines}.>`],
      max_msgs_per_subject: 1,
      allow_direct: true,
    });
    const queued = (n: number) => ({
      id: `em_former${n}.${id}`,
      subscription: id,
      listener: id,
      attempt: 1,
      event: { emitId: `em_former${n}`, eventId: `1-${n}`, source, owner: ada.id, channel: "", ts: 1, payload: JSON.stringify({ n }) },
    });
    const append = (...numbers: readonly number[]) =>
      publisher.publish(former.lineSubject(id), JSON.stringify({ number: numbers.at(-1), deliveries: numbers.map(queued) }));
    await append(0);
    const { seq } = await append(1, 2, 3);
    await append(4, 5);
    // The first of three is done, and the second has failed twice.
    const failing = { delivery: queued(2).id, attempt: 3, atMs: Date.now() };
    const state = { stream: "", seq, done: 1, number: 2, failing };
    await publisher.publish(`$KV.${former.lines}.${id}`, JSON.stringify(state));
    const sent = await emitMany(source, 5, 6);
    await world.deliver();
    await until(() => endpoint.taken.length === 9, "all");
    expect(endpoint.taken).toEqual(["2", "3", "4", "5", ...sent]);
    await until(async () => (await attempts(id, "delivered")).length === 9, "the attempts are listed");
    expect((await attempts(id, "delivered")).find(({ attempt }) => attempt > 1)).toMatchObject({ delivery_id: queued(2).id, attempt: 3 });
    expect((await manager.streams.info(former.ordered)).state.messages).toBe(0);
  });
});
