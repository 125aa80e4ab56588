import { describe, expect, it } from "vitest";
import type { Route } from "../../domain/source/deployment.ts";
import { AttemptBuffer } from "../../delivery/attempts/attempt-buffer.ts";
import { Deliverer } from "../../delivery/attempts/deliver.ts";
import { WebhookDeliverer } from "../../delivery/deliverers/webhook.ts";
import { firstDelivery } from "../../delivery/routing/delivery.ts";
import { Endpoints } from "../../delivery/attempts/webhook-circuits.ts";
import { FailingEndpoints } from "../../delivery/attempts/failing-webhooks.ts";
import type { DeliveryConfig, DeliveryPorts } from "../../delivery/ports.ts";
import type { PostResult } from "../../delivery/attempts/ports.ts";
import { Routes } from "../../delivery/routing/routes.ts";

const places = 4;
const config: DeliveryConfig = {
  deliveryDeadlineMs: 60_000,
  attemptsPerWebhook: places,
  maxDirectListeners: 16,
  attemptTimeoutMs: 60_000,
  nextAttempt: () => undefined,
};
const route: Route = {
  subscription: "sub_1",
  owner: "u_1",
  emitter: "dc_1",
  channel: "",
  listener: { kind: "webhook", id: "wh_1", url: "http://a", keys: [`whsec_${"A".repeat(32)}`] },
};

/** A deliverer whose endpoint answers when it is told to. */
function world() {
  const answers: (() => void)[] = [];
  const putOff: number[] = [];
  const post = (): Promise<PostResult> =>
    new Promise((resolve) => answers.push(() => resolve({ outcome: "answered", status: 200, retryAfter: undefined })));
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  // What else there is of ports is not reached from here.
  const ports = {
    deliveries: { schedule: (_webhook: string, _delivery: string, _text: string, atMs: number) => Promise.resolve(void putOff.push(atMs)) },
    poster: { post },
    secrets: { open: (sealed: string) => Promise.resolve(sealed) },
    hmac: () => "",
    history: { recordAttempts: () => Promise.resolve(), saveWebhookFailures: () => Promise.resolve() },
    clock: { now: () => 1_000_000 },
    random: () => 0,
    log,
  } as unknown as DeliveryPorts;
  const failing = new FailingEndpoints(config, ports, () => Promise.resolve());
  const attempts = new AttemptBuffer(ports, failing);
  const deliverer = new Deliverer(config, ports, {
    endpoints: new Endpoints(places),
    failing,
    webhooks: new WebhookDeliverer(ports),
    attempts,
  });
  const routes = new Routes();
  routes.set(route.subscription, route);
  const due = (n: number): Promise<void> => {
    const event = { emitId: `e${n}`, eventId: `1-${n}`, source: "dc_1", owner: "u_1", channel: "", ts: 1, payload: "{}" };
    return deliverer.due(firstDelivery(event, route), routes);
  };
  return { answers, putOff, due, stop: () => attempts.stop() };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("deliveries that are due at once", () => {
  it("wait for a place at their endpoint in place of being written again", async () => {
    const { answers, putOff, due, stop } = world();
    const all = Promise.all(Array.from({ length: 3 * places }, (_, n) => due(n)));
    for (let answered = 0; answered < 3 * places; answered++) {
      while (answers.length === 0) await settled();
      expect(answers.length).toBeLessThanOrEqual(places);
      answers.shift()?.();
      await settled();
    }
    await all;
    expect(putOff).toEqual([]);
    await stop();
  });

  it("are put off, one after the other, when so many wait that those for others would find no room", async () => {
    const { answers, putOff, due, stop } = world();
    const all = Promise.all(Array.from({ length: 600 }, (_, n) => due(n)));
    while (putOff.length < 600 - 500 - places) await settled();
    expect(putOff.length).toBe(600 - 500 - places);
    expect(putOff[0]).toBe(1_001_000);
    expect(putOff.at(-1)).toBe(1_001_000 + Math.round(((putOff.length - 1) * 1_000) / 600));
    let isOver = false;
    void all.then(() => (isOver = true));
    while (!isOver) {
      for (const answer of answers.splice(0)) answer();
      await settled();
    }
    await stop();
  });
});
