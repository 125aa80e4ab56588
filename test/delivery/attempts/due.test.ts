import { describe, expect, it } from "vitest";
import type { Route } from "../../../domain/source/deployment.ts";
import { Deliverer } from "../../../delivery/attempts/deliver.ts";
import { firstDelivery } from "../../../delivery/routing/delivery.ts";
import { WebhookAttempts } from "../../../delivery/attempts/webhook-attempts.ts";
import { FailingWebhooks } from "../../../delivery/attempts/failing-webhooks.ts";
import type { DeliveryConfig, DeliveryPorts } from "../../../delivery/ports.ts";
import type { PostResult } from "../../../delivery/attempts/ports.ts";
import { Routes } from "../../../delivery/routing/routes.ts";

const maxInFlight = 4;
const config: DeliveryConfig = {
  deliveryDeadlineMs: 60_000,
  attemptsPerWebhook: maxInFlight,
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

/** A deliverer with a webhook whose endpoint answers when the test says so. */
function world() {
  const answers: (() => void)[] = [];
  const postponedTo: number[] = [];
  const post = (): Promise<PostResult> =>
    new Promise((resolve) => answers.push(() => resolve({ outcome: "answered", status: 200, retryAfter: undefined })));
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  // Deliveries to webhooks use no other ports.
  const ports = {
    deliveries: {
      schedule: (_webhook: string, _delivery: string, _text: string, atMs: number) => Promise.resolve(void postponedTo.push(atMs)),
    },
    poster: { post },
    secrets: { open: (sealed: string) => Promise.resolve(sealed) },
    hmac: () => "",
    history: { recordAttempts: () => Promise.resolve(), saveWebhookFailures: () => Promise.resolve() },
    clock: { now: () => 1_000_000 },
    random: () => 0,
    log,
  } as unknown as DeliveryPorts;
  const attempts = new WebhookAttempts(config, ports, new FailingWebhooks(config, ports, () => Promise.resolve()));
  const deliverer = new Deliverer(config, ports, attempts);
  const routes = new Routes();
  routes.set(route.subscription, route);
  const due = (n: number): Promise<void> => {
    const event = { emitId: `e${n}`, eventId: `1-${n}`, source: "dc_1", owner: "u_1", channel: "", ts: 1, payload: "{}" };
    return deliverer.attemptDue(firstDelivery(event, route), routes);
  };
  return { answers, postponedTo, due, stop: () => attempts.stop() };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("deliveries of a webhook that are due at the same time", () => {
  it("wait for a permit of their webhook instead of being scheduled again", async () => {
    const { answers, postponedTo, due, stop } = world();
    const all = Promise.all(Array.from({ length: 3 * maxInFlight }, (_, n) => due(n)));
    for (let answered = 0; answered < 3 * maxInFlight; answered++) {
      while (answers.length === 0) await settled();
      expect(answers.length).toBeLessThanOrEqual(maxInFlight);
      answers.shift()?.();
      await settled();
    }
    await all;
    expect(postponedTo).toEqual([]);
    await stop();
  });

  it("are postponed one after the other when 500 already wait for a permit", async () => {
    const { answers, postponedTo, due, stop } = world();
    const all = Promise.all(Array.from({ length: 600 }, (_, n) => due(n)));
    while (postponedTo.length < 600 - 500 - maxInFlight) await settled();
    expect(postponedTo.length).toBe(600 - 500 - maxInFlight);
    expect(postponedTo[0]).toBe(1_001_000);
    expect(postponedTo.at(-1)).toBe(1_001_000 + Math.round(((postponedTo.length - 1) * 1_000) / 600));
    let isSettled = false;
    void all.then(() => (isSettled = true));
    while (!isSettled) {
      for (const answer of answers.splice(0)) answer();
      await settled();
    }
    await stop();
  });
});
