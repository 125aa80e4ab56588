import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { deliverSubject, retrySubject } from "../../../domain/subjects.ts";
import { findScheduled } from "../../../platform/jetstream/deliveries/due-deliveries.ts";
import { publishScheduled } from "../../../platform/jetstream/schedules.ts";
import { createDeliveryRecords } from "../../../platform/postgres/history/deliveries.ts";
import { deadLettersIn } from "./dead-letters-support.ts";
import { keys } from "./support.ts";
import { withRepairWorld, type Receiver } from "./webhooks-support.ts";
import { until } from "../../support/until.ts";

const world = withRepairWorld();
const { api } = world;
const { list: deadLetters, untilDead, untilNothingIsDue, create: withDeadLetters } = deadLettersIn(world);

const idsOf = ({ received }: Receiver): readonly (string | undefined)[] => received.map(({ headers }) => headers["webhook-id"]);
const attempts = async (webhook: string, query = "") => (await world.get(`/v1/webhooks/${webhook}/deliveries?limit=100${query}`)).data;

describe("attempts at deliveries to a webhook", () => {
  it("are listed newest first, by outcome, event and time, in pages", async () => {
    world.waits = [20];
    await world.deliver();
    const { receiver, webhook } = await withDeadLetters({ n: 1 });
    await until(async () => (await attempts(webhook.id)).length === 2, "two attempts");
    const [second, first] = await attempts(webhook.id);
    expect(second).toMatchObject({
      delivery_id: expect.stringMatching(/^em\d+x0\.sub_/),
      source_id: expect.stringMatching(/^dc_emitter/),
      event_name: "",
      attempt: 2,
      outcome: "dead",
      response_status: 503,
      cause: "the endpoint answered 503",
    });
    expect(first).toMatchObject({ delivery_id: second.delivery_id, attempt: 1, outcome: "retry" });
    expect(second.at_ms).toBeGreaterThanOrEqual(first.at_ms);
    expect(second.duration_ms).toBeGreaterThanOrEqual(0);

    receiver.status = 200;
    await world.emit({ n: 2 });
    await until(async () => (await attempts(webhook.id)).length === 3, "three attempts");
    const outcomes = async (query: string) => (await attempts(webhook.id, query)).map(({ outcome }: { outcome: string }) => outcome);
    expect(await outcomes("")).toEqual(["delivered", "dead", "retry"]);
    expect(await outcomes("&outcome=delivered")).toEqual(["delivered"]);
    expect(await outcomes("&outcome=dead")).toEqual(["dead"]);
    expect(await outcomes(`&event_id=${first.event_id}`)).toEqual(["dead", "retry"]);
    expect(await outcomes(`&until=${first.at_ms}`)).toEqual(["retry"]);
    expect(await outcomes(`&since=${first.at_ms + 1}&outcome=retry`)).toEqual([]);
    const page = await world.get(`/v1/webhooks/${webhook.id}/deliveries?limit=2`);
    expect(page.page_info).toMatchObject({ total_count: 3, count: 2 });
    const rest = await world.get(`/v1/webhooks/${webhook.id}/deliveries?limit=2&after=${page.page_info.end_cursor}`);
    expect(rest.data).toEqual([first]);
    for (const query of ["outcome=lost", "since=now", "after=x"])
      expect((await api.ask("GET", `/v1/webhooks/${webhook.id}/deliveries?${query}`)).status).toBe(422);
  });
});

describe("dead letters", () => {
  it("are redelivered, signed, under the same id, and then deleted", async () => {
    world.waits = [];
    await world.deliver();
    const { receiver, webhook, ids } = await withDeadLetters({ n: 1 }, { n: 2 });
    const { data } = await world.get(`/v1/webhooks/${webhook.id}/dead_letters?expand=event`);
    const expected = [1, 2].map(
      (n) => expect.objectContaining({ attempts: 1, cause: "the endpoint answered 503", event: { n } }) as unknown,
    );
    // Which of them died first is a matter of chance.
    expect([data, data.toReversed()]).toContainEqual(expected);
    receiver.status = 204;
    const { status, body } = await api.ask("POST", `/v1/webhooks/${webhook.id}/dead_letters/redrive`);
    expect([status, body.data]).toEqual([202, { matching: 2, queued: 2 }]);
    await until(() => receiver.received.length === 4, "both again");
    expect(new Set(idsOf(receiver).slice(2))).toEqual(new Set(ids));
    for (const { body: text, headers } of receiver.received) new Webhook(webhook.signing_key).verify(text, headers);
    await untilDead(webhook.id, 0);
    await until(async () => (await attempts(webhook.id, "&outcome=delivered")).length === 2, "both are listed");
    expect(await attempts(webhook.id, "&outcome=delivered")).toMatchObject([{ attempt: 2 }, { attempt: 2 }]);
  });

  /** Method: all headers of the first attempt and of the last are compared, except those about the time of an attempt. */
  it("are redelivered with the original headers and the trace of their run", async () => {
    world.waits = [10];
    await world.deliver();
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    world.also = { traceparent, tracestate: "theirs=1", hops: 3, way: ["dc_before"] };
    const { receiver, webhook } = await withDeadLetters({ n: 1 });
    receiver.status = 200;
    await api.ask("POST", `/v1/webhooks/${webhook.id}/dead_letters/redrive`);
    await until(() => receiver.received.length === 3, "it is delivered again");
    const ofItsTime = ["webhook-timestamp", "webhook-signature", "x-pd-signature", "x-pd-timestamp"];
    const [first, , again] = receiver.received.map(({ body, headers }) => ({
      body,
      headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !ofItsTime.includes(name))),
    }));
    expect(first?.headers).toMatchObject({ traceparent, tracestate: "theirs=1" });
    expect(again).toEqual(first);
  });

  it("stored by an earlier version are redelivered without a trace", async () => {
    world.waits = [];
    await world.deliver();
    world.also = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };
    const { receiver, webhook } = await withDeadLetters({ n: 1 });
    await world.query("update dead_letters set record = (record::jsonb - 'carried')::text where webhook = $1", webhook.id);
    receiver.status = 200;
    await api.ask("POST", `/v1/webhooks/${webhook.id}/dead_letters/redrive`);
    await until(() => receiver.received.length === 2, "it is delivered again");
    expect(receiver.received[1]?.body).toBe(receiver.received[0]?.body);
    expect(receiver.received[1]?.headers).not.toHaveProperty("traceparent");
  });

  it("that fail again get all attempts again, and become dead letters again", async () => {
    world.waits = [10];
    await world.deliver();
    const { receiver, webhook } = await withDeadLetters({ n: 1 });
    await api.ask("POST", `/v1/webhooks/${webhook.id}/dead_letters/redrive`);
    await until(() => receiver.received.length === 4, "two attempts more");
    await untilDead(webhook.id, 1);
    await until(async () => (await attempts(webhook.id)).length === 4, "four attempts are listed");
    expect((await attempts(webhook.id)).map(({ attempt, outcome }: Record<string, unknown>) => [attempt, outcome])).toEqual([
      [4, "dead"],
      [3, "retry"],
      [2, "dead"],
      [1, "retry"],
    ]);
    await until(async () => (await world.get(`/v1/webhooks/${webhook.id}/dead_letters`)).data[0]?.attempts === 4, "the newer dead letter");
  });

  it("are selected by the ids of their deliveries, or deleted", async () => {
    world.waits = [];
    await world.deliver();
    const { receiver, webhook } = await withDeadLetters({ n: 1 }, { n: 2 }, { n: 3 });
    const [newest, , oldest] = await deadLetters(webhook.id);
    receiver.status = 200;
    const { body } = await api.ask("POST", `/v1/webhooks/${webhook.id}/dead_letters/redrive`, {
      body: { deliveries: [oldest?.delivery_id, oldest?.delivery_id, "em_none.sub_none"] },
    });
    expect(body.data).toEqual({ matching: 1, queued: 1 });
    await untilDead(webhook.id, 2);
    await until(() => receiver.received.length === 4, "the chosen one");
    expect(receiver.received.at(-1)?.body).toBe('{"n":1}');

    expect((await api.ask("POST", `/v1/deliveries/${newest?.delivery_id}/retry`)).status).toBe(202);
    await until(() => receiver.received.length === 5, "another one");
    expect(receiver.received.at(-1)?.body).toBe('{"n":3}');
    await untilDead(webhook.id, 1);
    const deleted = await api.ask("DELETE", `/v1/webhooks/${webhook.id}/dead_letters`);
    expect([deleted.status, deleted.body.data]).toEqual([200, { deleted: 1 }]);
    expect(await deadLetters(webhook.id)).toEqual([]);
    expect((await api.ask("POST", `/v1/webhooks/${webhook.id}/dead_letters/redrive`)).body.data).toEqual({ matching: 0, queued: 0 });
  });

  it("stay until they are stored as deliveries, and are delivered once if the last step is repeated", async () => {
    world.waits = [];
    let fails = 2;
    const records = createDeliveryRecords(api.database);
    const removed: number[] = [];
    const deadNow = async (webhook: string) => (await deadLetters(webhook)).length;
    await world.deliver({
      removeDeadLetters: async (webhook, ids) => {
        removed.push(await deadNow(webhook));
        if (fails-- > 0) throw new Error("the database is away");
        return records.removeDeadLetters(webhook, ids);
      },
    });
    const { receiver, webhook, ids } = await withDeadLetters({ n: 1 });
    receiver.status = 200;
    await api.ask("POST", `/v1/webhooks/${webhook.id}/dead_letters/redrive`);
    await untilDead(webhook.id, 0);
    expect(removed).toEqual([1, 1, 1]);
    await until(() => receiver.received.length >= 2, "it arrives");
    expect(idsOf(receiver)).toEqual([...ids, ...ids]);
    await untilNothingIsDue();
    expect(receiver.received).toHaveLength(2);
  });

  it("that died again before the previous one was deleted are kept", async () => {
    world.waits = [];
    const records = createDeliveryRecords(api.database);
    let diedAgain: Promise<void> | undefined;
    let receiver: Receiver | undefined;
    await world.deliver({
      removeDeadLetters: async (webhook, ids) => {
        diedAgain ??= until(
          async () => (await records.pageDeadLetters(webhook, { limit: 1, cursor: null })).items[0]?.attempts === 2,
          "dead",
        );
        await diedAgain;
        return records.removeDeadLetters(webhook, ids);
      },
    });
    const dead = await withDeadLetters({ n: 1 });
    ({ receiver } = dead);
    await api.ask("POST", `/v1/webhooks/${dead.webhook.id}/dead_letters/redrive`);
    await until(() => receiver.received.length === 2, "a second attempt");
    await untilNothingIsDue();
    expect(await world.get(`/v1/webhooks/${dead.webhook.id}/dead_letters`)).toMatchObject({ data: [{ attempts: 2 }] });
  });
});

describe("a scheduled delivery", () => {
  it("is attempted immediately with the same id on retry", async () => {
    world.waits = [3_600_000];
    await world.deliver();
    const receiver = await world.receive();
    receiver.status = 500;
    const webhook = await world.subscribedWebhook(receiver.url);
    const ids = await world.emit({ n: 1 });
    await until(async () => (await attempts(webhook.id)).length === 1, "a first attempt");
    const [{ delivery_id }] = await attempts(webhook.id);
    receiver.status = 200;
    const { status, body } = await api.ask("POST", `/v1/deliveries/${delivery_id}/retry`);
    expect([status, body.data]).toEqual([202, { delivery_id, webhook_id: webhook.id, status: "queued" }]);
    await until(() => receiver.received.length === 2, "a second attempt");
    expect(idsOf(receiver)).toEqual([...ids, ...ids]);
    await until(async () => (await attempts(webhook.id)).length === 2, "it is listed");
    expect(await attempts(webhook.id)).toMatchObject([{ attempt: 2, outcome: "delivered" }, { attempt: 1 }]);
    const again = await api.ask("POST", `/v1/deliveries/${delivery_id}/retry`);
    expect([again.status, again.body.code]).toEqual([409, "already_delivered"]);
  });

  it("becomes a dead letter if it is due while the webhook is inactive", async () => {
    world.waits = [3_600_000];
    await world.deliver();
    const receiver = await world.receive();
    receiver.status = 500;
    const webhook = await world.subscribedWebhook(receiver.url);
    await world.emit({ n: 1 });
    await until(async () => (await attempts(webhook.id)).length === 1, "a first attempt");
    const [{ delivery_id }] = await attempts(webhook.id);
    expect((await api.ask("PUT", `/v1/webhooks/${webhook.id}`, { body: { active: false } })).status).toBe(200);
    await world.observe(webhook.id);
    const refused = await api.ask("POST", `/v1/deliveries/${delivery_id}/retry`);
    expect([refused.status, refused.body.code]).toEqual([409, "webhook_inactive"]);

    const { connection } = world.streams;
    const subject = retrySubject(webhook.id, delivery_id);
    const body = await findScheduled(connection, webhook.id, delivery_id);
    const schedule = { kind: "at", atMs: Date.now() } as const;
    await publishScheduled(connection.publisher, { subject, schedule, target: deliverSubject(webhook.id, delivery_id), body: body ?? "" });
    await untilDead(webhook.id, 1);
    expect(await deadLetters(webhook.id)).toMatchObject([
      { delivery_id, attempts: 1, cause: expect.stringContaining("is not active: activate it") as string },
    ]);

    await api.ask("PUT", `/v1/webhooks/${webhook.id}`, { body: { active: true } });
    await world.observe(webhook.id);
    receiver.status = 200;
    await api.ask("POST", `/v1/webhooks/${webhook.id}/dead_letters/redrive`);
    await until(() => receiver.received.length === 2, "it arrives");
  });
});

describe("another user", () => {
  it("gets 404 for deliveries, dead letters and retries", async () => {
    world.waits = [];
    await world.deliver();
    const { webhook } = await withDeadLetters({ n: 1 });
    const [letter] = await deadLetters(webhook.id);
    const asked = [
      ["GET", `/webhooks/${webhook.id}/deliveries`],
      ["GET", `/webhooks/${webhook.id}/dead_letters`],
      ["DELETE", `/webhooks/${webhook.id}/dead_letters`],
      ["POST", `/webhooks/${webhook.id}/dead_letters/redrive`],
      ["POST", `/deliveries/${letter?.delivery_id}/retry`],
      ["POST", "/deliveries/em_none.sub_none/retry"],
    ] as const;
    for (const [method, path] of asked)
      expect([path, (await api.ask(method, `/v1${path}`, { key: keys.bob })).status]).toEqual([path, 404]);
    expect(await deadLetters(webhook.id)).toHaveLength(1);
  });
});
