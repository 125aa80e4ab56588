import { describe, expect, it } from "vitest";
import { until } from "../../support/until.ts";
import { deadLettersIn } from "./dead-letters-support.ts";
import { acme, keys, type Ask } from "./support.ts";
import { withRepairWorld, type Receiver } from "./webhooks-support.ts";

/** `POST /webhooks/{id}/dead_letters/redrive` by selection, over the real delivery role. */
const world = withRepairWorld();
const { api } = world;
const { list, untilDead, untilNothingIsDue, scheduled, create } = deadLettersIn(world);

const redrive = (webhook: string, body: object = {}, ask: Ask = {}) =>
  api.ask("POST", `/v1/webhooks/${webhook}/dead_letters/redrive`, { ...ask, body });
const bodiesOf = ({ received }: Receiver): readonly string[] => received.map(({ body }) => body).toSorted();

/** Numbered events that died at these times. */
async function diedAt(...times: readonly number[]) {
  const made = await create(...times.map((_, n) => ({ n })));
  for (const [n, ms] of times.entries())
    await world.query(
      "update dead_letters set died_ms = $1, record = (record::jsonb || $2::jsonb)::text where webhook = $3 and payload = $4",
      ms,
      JSON.stringify({ diedAt: ms }),
      made.webhook.id,
      `{"n":${n}}`,
    );
  made.receiver.received.length = 0;
  made.receiver.status = 200;
  return made;
}

/** Entries of the audit log about the webhook. */
const redrivesIn = async (webhook: string): Promise<number> => {
  const { data } = await world.get("/v1/audit_log?limit=100");
  return data.filter((entry: Record<string, unknown>) => entry["action"] === "redrive" && entry["resource_id"] === webhook).length;
};

describe("a redrive of dead letters", () => {
  it("counts with dry_run what it would deliver, and neither delivers nor records it", async () => {
    world.waits = [];
    await world.deliver();
    const { receiver, webhook } = await diedAt(1_000, 2_000, 3_000);
    const [letter] = await list(webhook.id);
    for (const [body, matching] of [
      [{}, 3],
      [{ since_ms: 2_000 }, 2],
      [{ until_ms: 1_000 }, 0],
      [{ deliveries: [letter?.delivery_id, letter?.delivery_id, "em_none.sub_none"] }, 1],
      [{ deliveries: [] }, 0],
    ] as const) {
      const { status, body: answer } = await redrive(webhook.id, { ...body, dry_run: true });
      expect([status, answer.data]).toEqual([200, { matching, queued: 0 }]);
    }
    const inQuery = await api.ask("POST", `/v1/webhooks/${webhook.id}/dead_letters/redrive?dry_run=true`);
    expect([inQuery.status, inQuery.body.data]).toEqual([200, { matching: 3, queued: 0 }]);
    expect(await redrivesIn(webhook.id)).toBe(0);
    expect(await list(webhook.id)).toHaveLength(3);
    expect(receiver.received).toHaveLength(0);
    expect((await redrive(webhook.id, { dry_run: false })).body.data).toEqual({ matching: 3, queued: 3 });
    expect(await redrivesIn(webhook.id)).toBe(1);
    await until(() => receiver.received.length === 3, "all three");
  });

  it("delivers those of a time range, and keeps the others", async () => {
    world.waits = [];
    await world.deliver();
    const { receiver, webhook } = await diedAt(1_000, 2_000, 3_000, 4_000);
    const { status, body } = await redrive(webhook.id, { since_ms: 2_000, until_ms: 4_000 });
    expect([status, body.data]).toEqual([202, { matching: 2, queued: 2 }]);
    await untilDead(webhook.id, 2);
    await until(() => receiver.received.length === 2, "both");
    expect(bodiesOf(receiver)).toEqual(['{"n":1}', '{"n":2}']);
    expect(new Set((await list(webhook.id)).map(({ died_at_ms: ms }) => ms))).toEqual(new Set([1_000, 4_000]));
  });

  it("that is requested twice at once delivers each once", async () => {
    world.waits = [];
    await world.deliver();
    const { receiver, webhook } = await diedAt(1_000, 2_000, 3_000);
    const answers = await Promise.all([redrive(webhook.id), redrive(webhook.id), redrive(webhook.id, { since_ms: 1 })]);
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
    await untilDead(webhook.id, 0);
    await until(() => receiver.received.length >= 3, "all three");
    await untilNothingIsDue();
    expect(bodiesOf(receiver)).toEqual(['{"n":0}', '{"n":1}', '{"n":2}']);
  });

  it("delivers at a bounded rate, while a single delivery is attempted at once", async () => {
    world.waits = [];
    await world.deliver({}, { replayPace: { burst: 1, perSecond: 0.5 } });
    const { receiver, webhook } = await diedAt(1_000, 2_000, 3_000, 4_000);
    const [single] = (await list(webhook.id)).filter(({ died_at_ms: ms }) => ms === 4_000);
    await redrive(webhook.id, { until_ms: 4_000 });
    await until(() => receiver.received.length === 1, "the first of three");
    expect(await scheduled(webhook.id)).not.toEqual([]);
    await api.ask("POST", `/v1/deliveries/${single?.delivery_id}/retry`);
    await until(() => receiver.received.some(({ body }) => body === '{"n":3}'), "the single one");
    expect(receiver.received.length).toBeLessThan(4);
    await until(() => receiver.received.length === 4, "all");
  });

  it("keeps the order in which they died, oldest first", async () => {
    world.waits = [];
    await world.deliver({}, { replayPace: { burst: 1, perSecond: 10 } });
    const receiver = await world.receive();
    receiver.status = 503;
    const webhook = await world.subscribedWebhook(receiver.url);
    for (const n of [0, 1, 2]) {
      await world.emit({ n });
      await untilDead(webhook.id, n + 1);
    }
    receiver.received.length = 0;
    receiver.status = 200;
    await redrive(webhook.id);
    await until(() => receiver.received.length === 3, "all three");
    expect(receiver.received.map(({ body }) => body)).toEqual(['{"n":0}', '{"n":1}', '{"n":2}']);
  });

  it("skips those that were deleted after the request, and of a webhook that was deleted", async () => {
    world.waits = [];
    const { receiver, webhook } = await withoutDelivery();
    const other = await createStored(receiver);
    expect((await redrive(webhook.id, { since_ms: 1 })).body.data.queued).toBe(2);
    expect((await redrive(other, {})).body.data.queued).toBe(1);
    const [letter] = await list(webhook.id);
    await world.query("delete from dead_letters where delivery = $1", letter?.delivery_id);
    await world.remove(other);
    await world.deliver();
    await untilDead(webhook.id, 0);
    await until(() => receiver.received.length === 1, "the one that is left");
    expect((await redrive(other)).status).toBe(404);
    expect(receiver.received).toHaveLength(1);
  });

  it("of a paused webhook is refused, also with dry_run", async () => {
    world.waits = [];
    await world.deliver();
    const { webhook } = await diedAt(1_000);
    await api.ask("PUT", `/v1/webhooks/${webhook.id}`, { body: { active: false } });
    for (const body of [{}, { dry_run: true }, { since_ms: 1 }]) {
      const { status, body: answer } = await redrive(webhook.id, body);
      expect([status, answer.code]).toEqual([409, "webhook_inactive"]);
    }
    expect(await list(webhook.id)).toHaveLength(1);
    expect(await redrivesIn(webhook.id)).toBe(0);
  });

  it("is refused to other users and to keys that may only read", async () => {
    world.waits = [];
    await world.deliver();
    const { receiver, webhook } = await diedAt(1_000);
    const { key } = (await api.ask("POST", "/v1/users/me/keys", { body: { name: "reads", scopes: ["read"] } })).body.data;
    for (const body of [{}, { dry_run: true }]) {
      expect((await redrive(webhook.id, body, { key: keys.bob })).status).toBe(404);
      expect((await redrive(webhook.id, body, { key })).status).toBe(403);
    }
    expect((await redrive("wh_none", { dry_run: "x" })).status).toBe(404);
    expect(await list(webhook.id)).toHaveLength(1);
    expect(receiver.received).toHaveLength(0);
  });

  it("of a webhook of an organization is for its members", async () => {
    const { id } = (await api.ask("POST", `/v1/webhooks?org_id=${acme.id}`, { body: { url: "https://example.com/hook" } })).body.data;
    expect((await redrive(id, { dry_run: true })).status).toBe(200);
    expect((await redrive(id)).body.data).toEqual({ matching: 0, queued: 0 });
    expect((await redrive(id, { dry_run: true }, { key: keys.bob })).status).toBe(404);
    const { data } = (await api.ask("GET", `/v1/orgs/${acme.id}/audit_log`)).body;
    expect(data.filter((entry: Record<string, unknown>) => entry["action"] === "redrive")).toHaveLength(1);
  });

  it.each([
    ["too many ids", { deliveries: Array.from({ length: 1_001 }, (_, n) => `em${n}.sub_1`) }, /must have at most 1000 ids/],
    ["a long id", { deliveries: ["x".repeat(201)] }, /at most 200 characters/],
    ["null as ids", { deliveries: null }, /deliveries/],
    ["an empty time", { since_ms: "" }, /since_ms is empty/],
    ["null as a time", { since_ms: null }, /since_ms is invalid: it must be a time in epoch milliseconds/],
    ["a word as a time", { since_ms: "yesterday" }, /since_ms is invalid/],
    ["a negative time", { until_ms: -1 }, /until_ms is invalid/],
    ["an empty dry_run", { dry_run: "" }, /dry_run is empty/],
    ["null as dry_run", { dry_run: null }, /dry_run is invalid: it must be true or false/],
    ["a time in seconds", { since_ms: 1_700_000_000 }, /since_ms 1700000000 looks like seconds/],
    ["a range that ends before it starts", { since_ms: 3, until_ms: 2 }, /since_ms 3 is after until_ms 2: swap them/],
    ["ids with a time range", { deliveries: ["em1.sub_1"], since_ms: 1 }, /deliveries was sent with a time range: send either/],
    ["an unknown filter alone", { status: "failed" }, /status/],
  ])("refuses %s", async (_, body, message) => {
    const { id } = (await api.ask("POST", "/v1/webhooks", { body: { url: "https://example.com/hook" } })).body.data;
    const { status, body: answer } = await redrive(id, body);
    expect([status, answer.error]).toEqual([422, expect.stringMatching(message)]);
  });
});

/** Two dead letters of a webhook, after the delivery role has stopped. */
async function withoutDelivery() {
  const delivery = await world.deliver();
  const made = await diedAt(1_000, 2_000);
  await delivery.stop();
  return made;
}

/** A webhook with a dead letter that is only stored. */
async function createStored({ url }: Receiver): Promise<string> {
  const { id } = await world.subscribedWebhook(url);
  await world.query(
    "insert into dead_letters (webhook, delivery, source, event, died_ms, record, payload) select $1, 'em_stored.sub_1', source, event, died_ms, record, payload from dead_letters limit 1",
    id,
  );
  return id;
}
