import { describe, expect, it } from "vitest";
import { deliverSubject, retrySubject } from "../../../domain/subjects.ts";
import { publishScheduled } from "../../../platform/jetstream/schedules.ts";
import { keys } from "./support.ts";
import { withRepairWorld } from "./webhooks-support.ts";
import { until } from "../../support/until.ts";

const world = withRepairWorld();
const { api } = world;
const hourMs = 3_600_000;
const nothing = { due: 0, scheduled: { count: 0, next_at_ms: null }, line: { count: 0, head: null } };

const backlog = async (webhook: string) => (await world.get(`/v1/webhooks/${webhook}/backlog`)).data;
const inAnHour = (from: number) => ({
  asymmetricMatch: (at: unknown) => typeof at === "number" && at >= from + hourMs && at <= Date.now() + hourMs,
});

async function failing(fields: object = {}) {
  const receiver = await world.receive();
  receiver.status = 503;
  return { receiver, webhook: await world.subscribedWebhook(receiver.url, fields) };
}

describe("the backlog of a webhook", () => {
  it("is empty at first, and returns 404 for other users", async () => {
    const { webhook } = await failing();
    expect(await backlog(webhook.id)).toEqual(nothing);
    expect((await api.ask("GET", `/v1/webhooks/${webhook.id}/backlog`, { key: keys.bob })).status).toBe(404);
    expect((await api.ask("GET", "/v1/webhooks/wh_none/backlog")).status).toBe(404);
  });

  it("shows the queue with its head, whether or not delivery runs", async () => {
    world.waits = [hourMs];
    const from = Date.now();
    const delivery = await world.deliver();
    const { receiver, webhook } = await failing({ ordered: true });
    const [first = ""] = await world.emitFrom("dc_emitter", { n: 1 }, { n: 2 });
    await world.emitFrom("dc_emitter", { n: 3 });
    await until(async () => {
      const { count, head } = (await backlog(webhook.id)).line;
      return count === 3 && head?.last_attempt !== null;
    }, "three are in line, and an attempt is written");
    const expected = {
      ...nothing,
      scheduled: { count: 1, next_at_ms: inAnHour(from) },
      line: {
        count: 3,
        head: {
          delivery_id: expect.stringMatching(`^${first}\\.sub_`),
          event_id: expect.stringMatching(/^\d+-0$/),
          source_id: expect.stringMatching(/^dc_emitter/),
          subscription_id: expect.stringMatching(/^sub_/),
          event_name: "",
          attempts: 1,
          waiting_since_ms: expect.any(Number),
          next_attempt_at_ms: inAnHour(from),
          last_attempt: {
            at_ms: expect.any(Number),
            duration_ms: expect.any(Number),
            response_status: 503,
            cause: "the endpoint answered 503",
          },
        },
      },
    };
    const shown = await backlog(webhook.id);
    expect(shown).toEqual(expected);
    expect(shown.line.head.waiting_since_ms).toBeGreaterThanOrEqual(from);
    await delivery.stop();
    expect(await backlog(webhook.id)).toEqual(expected);

    receiver.status = 200;
    await world.deliver();
    expect((await api.ask("POST", `/v1/deliveries/${shown.line.head.delivery_id}/retry`)).status).toBe(202);
    await until(() => receiver.received.length === 4, "the queue continues");
    await until(async () => (await backlog(webhook.id)).line.count === 0, "nothing is in line");
    expect(await backlog(webhook.id)).toEqual(nothing);
  });

  it("counts retries, with the time of the next one", async () => {
    world.waits = [hourMs];
    const from = Date.now();
    const delivery = await world.deliver();
    const { webhook } = await failing();
    const other = await failing();
    await world.emit({ n: 1 }, { n: 2 });
    await world.emit({ n: 3 });
    await until(async () => (await backlog(webhook.id)).scheduled.count === 3, "three are scheduled");
    expect(await backlog(webhook.id)).toEqual({ ...nothing, scheduled: { count: 3, next_at_ms: inAnHour(from) } });
    expect((await backlog(other.webhook.id)).scheduled.count).toBe(3);

    await delivery.stop();
    const [{ delivery_id: id }] = (await world.get(`/v1/webhooks/${webhook.id}/deliveries`)).data;
    const schedule = { kind: "at", atMs: from } as const;
    await publishScheduled(world.streams.connection.publisher, {
      subject: retrySubject(webhook.id, id),
      target: deliverSubject(webhook.id, id),
      schedule,
      body: "{}",
    });
    await until(async () => (await backlog(webhook.id)).due === 1, "one is due, and delivery is not running");
    expect((await backlog(webhook.id)).scheduled.count).toBe(2);
  });

  it("is counted even if it is too large to find the next retry", async () => {
    const { webhook } = await failing();
    const schedule = { kind: "at", atMs: Date.now() + hourMs } as const;
    const { publisher } = world.streams.connection;
    await Promise.all(
      Array.from({ length: 300 }, (_, n) =>
        publishScheduled(publisher, {
          subject: retrySubject(webhook.id, `em_${n}.sub_1`),
          target: deliverSubject(webhook.id, `em_${n}.sub_1`),
          schedule,
          body: "{}",
        }),
      ),
    );
    expect(await backlog(webhook.id)).toEqual({ ...nothing, scheduled: { count: 300, next_at_ms: null } });
  });

  it("returns 503 while NATS is unavailable, unlike the rest of the API", async () => {
    const { webhook } = await failing();
    await world.streams.server.server.kill();
    const { status, body } = await api.ask("GET", `/v1/webhooks/${webhook.id}/backlog`);
    expect([status, body.code]).toEqual([503, "unavailable"]);
    expect((await api.ask("GET", `/v1/webhooks/${webhook.id}`)).status).toBe(200);
    await world.streams.server.crash();
    await until(async () => (await api.ask("GET", `/v1/webhooks/${webhook.id}/backlog`)).status === 200, "the backlog is reported again");
  });
});
