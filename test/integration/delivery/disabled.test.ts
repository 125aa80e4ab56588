import { describe, expect, it } from "vitest";
import { createFailingEndpoints } from "../../../platform/postgres/history/failing-endpoints.ts";
import { withRepairWorld, type Receiver } from "../api/webhooks-support.ts";
import { until } from "../../support/until.ts";

const world = withRepairWorld();
const { api } = world;

interface DeadLetter {
  readonly delivery_id: string;
  readonly attempts: number;
  readonly cause: string;
}

const deadLetters = async (webhook: string) => (await world.get(`/v1/webhooks/${webhook}/dead_letters`)).data as readonly DeadLetter[];
const untilDead = (webhook: string, count: number) =>
  until(async () => (await deadLetters(webhook)).length === count, `${count} dead letters`);
const bodies = ({ received }: Receiver) => received.map(({ body }) => body);
const shown = async (webhook: string) => (await world.get(`/v1/webhooks/${webhook}`)).data;
/** All webhooks of this file. */
const known = async () => (await createFailingEndpoints(api.database).all()).map(({ webhook }) => webhook);

async function enable(webhook: string): Promise<void> {
  const { status, body } = await api.ask("PUT", `/v1/webhooks/${webhook}`, { body: { active: true } });
  expect([status, body.data.active, body.data.disabled]).toEqual([200, true, undefined]);
  await world.observe(webhook);
}

async function redrive(webhook: string): Promise<void> {
  expect((await api.ask("POST", `/v1/webhooks/${webhook}/dead_letters/redrive`)).status).toBe(202);
}

describe("a webhook whose endpoint answers 410", () => {
  it("is disabled at once and reports it, keeps deliveries as dead letters, and continues when it is enabled", async () => {
    await world.deliver();
    const receiver = await world.receive();
    receiver.status = 410;
    const { id } = await world.subscribedWebhook(receiver.url);
    await world.emit({ n: 1 });
    await untilDead(id, 1);

    // The operator does not know yet, but delivery already posts nothing.
    await world.emit({ n: 2 });
    await untilDead(id, 2);
    expect(bodies(receiver)).toEqual(['{"n":1}']);
    const [second, first] = await deadLetters(id);
    expect([first?.attempts, second?.attempts]).toEqual([1, 0]);
    expect(first?.cause).toBe("the endpoint answered 410 Gone");
    expect(second?.cause).toContain(`the endpoint of webhook ${id} answered 410 Gone. It is disabled`);

    await world.observe(id);
    expect(await shown(id)).toMatchObject({ active: false, disabled: { reason: "EndpointGone", message: second?.cause } });
    expect((await world.routeOf(id))?.listener).toMatchObject({ keys: [] });
    for (const path of ["test", "dead_letters/redrive"]) {
      const refused = await api.ask("POST", `/v1/webhooks/${id}/${path}`);
      expect([refused.status, refused.body.code, refused.body.error]).toEqual([409, "webhook_disabled", second?.cause]);
    }

    receiver.status = 200;
    await enable(id);
    expect((await shown(id)).active).toBe(true);
    await redrive(id);
    await world.emit({ n: 3 });
    await until(() => bodies(receiver).length === 4, "what waited, and what came then");
    expect(bodies(receiver).toSorted()).toEqual(['{"n":1}', '{"n":1}', '{"n":2}', '{"n":3}']);
    await until(async () => !(await known()).includes(id), "nothing is held against it any more");
  });

  it("stays disabled after a restart of delivery or the operator", async () => {
    const first = await world.deliver();
    const receiver = await world.receive();
    receiver.status = 410;
    const { id } = await world.subscribedWebhook(receiver.url);
    await world.emit({ n: 1 });
    await untilDead(id, 1);
    await first.stop();
    receiver.status = 200;
    await world.deliver();
    await world.emit({ n: 2 });
    await untilDead(id, 2);
    expect(bodies(receiver)).toEqual(['{"n":1}']);
    // The operator derives its state from one look at the stored failures; a second one changes nothing.
    await world.observe(id);
    await world.observe(id);
    expect(await shown(id)).toMatchObject({ active: false, disabled: { reason: "EndpointGone" } });
  });

  it("emits an error event on $errors of the source, to all listeners except the webhook itself", async () => {
    await world.deliver();
    const [receiver, errorReceiver] = [await world.receive(), await world.receive()];
    receiver.status = 410;
    const { id } = await world.subscribedWebhook(receiver.url);
    const listener = await world.createWebhook(errorReceiver.url);
    for (const webhook of [id, listener.id]) {
      const asked = await api.ask("POST", `/v1/subscriptions?emitter_id=dc_*&listener_id=${webhook}&event_name=%24errors`);
      expect(asked.status).toBe(200);
      await world.observe(webhook);
    }
    await world.emit({ n: 1 }, { n: 2 });
    await until(() => errorReceiver.received.length > 0, "the error event");
    const [event] = errorReceiver.received;
    expect(event?.headers["x-pd-emitter-id"]).toMatch(/^dc_emitter/);
    const [letter] = (await deadLetters(id)).slice(-1);
    expect(JSON.parse(event?.body ?? "")).toMatchObject({
      original_context: { id: letter?.delivery_id, source_id: event?.headers["x-pd-emitter-id"], webhook_id: id, trigger: "delivery" },
      error: { code: "webhook_disabled", name: "EndpointGone", message: expect.stringContaining(id) },
    });
    await untilDead(id, 2);
    expect(errorReceiver.received).toHaveLength(1);
    expect(bodies(receiver)).toEqual(['{"n":1}']);
    await world.observe(listener.id);
    await api.ask("DELETE", `/v1/webhooks/${listener.id}`);
    await world.observe(listener.id);
  });
});

describe("a webhook without a successful delivery", () => {
  it("is disabled by a failure after the configured time, not by the clock", async () => {
    await world.deliver({}, { disableAfterMs: 400, nextAttempt: () => 100 });
    const receiver = await world.receive();
    receiver.status = 503;
    const { id } = await world.subscribedWebhook(receiver.url);
    await world.emit({ n: 1 });
    await untilDead(id, 1);
    const attempts = receiver.received.length;
    expect(attempts).toBeGreaterThan(1);
    const [letter] = await deadLetters(id);
    expect(letter).toMatchObject({ attempts, cause: expect.stringContaining("no delivery to the endpoint") });
    expect(letter?.cause).toContain("the last attempt: the endpoint answered 503");
    await world.observe(id);
    expect(await shown(id)).toMatchObject({ active: false, disabled: { reason: "EndpointFailing", message: letter?.cause } });

    // The failure period starts again: deliveries that fail now are retried.
    await enable(id);
    await redrive(id);
    await until(() => receiver.received.length >= attempts + 2, "two attempts more");
    receiver.status = 200;
    await until(async () => !(await known()).includes(id) || (await deadLetters(id)).length === 1, "an end");
  });

  it("is not disabled when a delivery succeeds in between", async () => {
    await world.deliver({}, { disableAfterMs: 1, nextAttempt: (attempt) => [50][attempt - 1] });
    const receiver = await world.receive();
    const { id } = await world.subscribedWebhook(receiver.url);
    for (const [n, status] of [503, 200, 503, 200].entries()) {
      receiver.nextStatus = status;
      const before = receiver.received.length;
      await world.emit({ n });
      await until(() => receiver.received.length > before, "an attempt");
      await until(async () => !(await known()).includes(id), "nothing is held against it");
      await until(() => new Set(bodies(receiver)).size === n + 1, "each is heard");
    }
    expect(await deadLetters(id)).toEqual([]);
  });

  it("starts a new failure period with another URL", async () => {
    await world.deliver();
    const [gone, moved] = [await world.receive(), await world.receive()];
    gone.status = 410;
    const { id } = await world.subscribedWebhook(gone.url);
    await world.emit({ n: 1 });
    await untilDead(id, 1);
    await world.observe(id);
    const { body } = await api.ask("PUT", `/v1/webhooks/${id}`, { body: { url: moved.url } });
    expect(body.data).toMatchObject({ active: true, url: moved.url });
    await world.observe(id);
    await redrive(id);
    await until(() => moved.received.length === 1, "what was given up");
  });
});
