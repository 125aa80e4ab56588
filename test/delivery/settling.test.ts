import { describe, expect, it } from "vitest";
import type { Route } from "../../domain/source/deployment.ts";
import { LimitExceeded, Unavailable } from "../../domain/errors.ts";
import { AttemptBuffer } from "../../delivery/attempts/attempt-buffer.ts";
import { Deliverer } from "../../delivery/attempts/deliver.ts";
import { WebhookDeliverer } from "../../delivery/deliverers/webhook.ts";
import { decodeDelivery, firstDelivery, type Delivery } from "../../delivery/routing/delivery.ts";
import { Endpoints } from "../../delivery/attempts/webhook-circuits.ts";
import { FailingEndpoints } from "../../delivery/attempts/failing-webhooks.ts";
import type { DeliveryConfig, DeliveryPorts } from "../../delivery/ports.ts";
import type { PostResult } from "../../delivery/attempts/ports.ts";
import { Routes } from "../../delivery/routing/routes.ts";
import { untilDone } from "../../delivery/settle.ts";

const now = 1_000_000;
const config: DeliveryConfig = {
  deliveryDeadlineMs: 20,
  attemptsPerWebhook: 16,
  maxDirectListeners: 16,
  attemptTimeoutMs: 15_000,
  nextAttempt: (_attempt, _random, retryAfterMs = 0) => Math.max(5_000, retryAfterMs),
};
const route: Route = {
  subscription: "sub_1",
  owner: "u_1",
  emitter: "dc_1",
  channel: "",
  listener: { kind: "webhook", id: "wh_1", url: "http://a", keys: [] },
};
const event = { emitId: "e1", eventId: "1-1", source: "dc_1", owner: "u_1", channel: "", ts: 1, payload: "{}" };
const answered = (status: number, retryAfter?: string): PostResult => ({ outcome: "answered", status, retryAfter });

/** A deliverer whose servers may be away, and what it asked of them. */
function world(post: () => Promise<PostResult>, places = 16) {
  const away = { streams: false, postgres: false };
  const asked = { posts: 0, scheduled: [] as { readonly attempt: number; readonly atMs: number }[], withdrawn: 0, letters: 0 };
  const unlessAway = (which: keyof typeof away, act: () => void): Promise<void> => {
    const code = which === "postgres" ? "database_unavailable" : "unavailable";
    if (away[which]) return Promise.reject(new Unavailable(`${which} is away`, { code }));
    return Promise.resolve(act());
  };
  const toPostgres = (): Promise<void> => unlessAway("postgres", () => undefined);
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  // What else there is of ports is not reached from here.
  const ports = {
    deliveries: {
      schedule: (_webhook: string, _delivery: string, text: string, atMs: number) =>
        unlessAway("streams", () => void asked.scheduled.push({ attempt: decodeDelivery(text).attempt, atMs })),
      withdraw: () => unlessAway("streams", () => void asked.withdrawn++),
    },
    poster: { post: () => (asked.posts++, post()) },
    secrets: { open: (sealed: string) => Promise.resolve(sealed) },
    hmac: () => "",
    history: {
      recordAttempts: toPostgres,
      listFailingWebhooks: () => toPostgres().then(() => []),
      saveWebhookFailures: toPostgres,
      recordDeadLetters: () => unlessAway("postgres", () => void asked.letters++),
    },
    clock: { now: () => now },
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
  const stop = async (): Promise<void> => {
    Object.assign(away, { streams: false, postgres: false });
    await deliverer.drain();
    await attempts.stop();
  };
  return { deliverer, delivery: firstDelivery(event, route), away, asked, stop };
}

describe("an attempt whose outcome cannot be written", () => {
  it("is not made again when it is settled again", async () => {
    const { deliverer, delivery, away, asked, stop } = world(() => Promise.resolve(answered(500)));
    away.streams = true;
    for (let n = 0; n < 3; n++) await expect(deliverer.direct(delivery, route, 0)).rejects.toThrow("streams is away");
    away.streams = false;
    await deliverer.direct(delivery, route, 0);
    expect(asked).toMatchObject({ posts: 1, scheduled: [{ attempt: 2, atMs: now + 5_000 }] });
    await stop();
  });

  it("is not made again either while it is under way, though it has the only place", async () => {
    const answer = Promise.withResolvers<PostResult>();
    const { deliverer, delivery, away, asked, stop } = world(() => answer.promise, 1);
    away.streams = true;
    for (let n = 0; n < 2; n++) await expect(deliverer.direct(delivery, route, 0)).rejects.toThrow("streams is away");
    away.streams = false;
    await deliverer.direct(delivery, route, 0);
    answer.resolve(answered(200));
    await deliverer.drain();
    expect(asked).toMatchObject({ posts: 1, scheduled: [{ attempt: 2 }], withdrawn: 1 });
    await stop();
  });

  it("is made again when it failed after its next attempt could not be written", async () => {
    const answer = Promise.withResolvers<PostResult>();
    const { deliverer, delivery, away, asked, stop } = world(() => answer.promise);
    away.streams = true;
    await expect(deliverer.direct(delivery, route, 0)).rejects.toThrow("streams is away");
    // That it is gone for good must be written before it is so.
    away.postgres = true;
    answer.resolve(answered(410));
    await expect(deliverer.direct(delivery, route, 0)).rejects.toThrow("is away");
    Object.assign(away, { streams: false, postgres: false });
    await deliverer.direct(delivery, route, 0);
    expect(asked).toMatchObject({ posts: 2, letters: 1 });
    await stop();
  });

  it("holds up nobody when that is Postgres: it comes again, and is a dead letter then", async () => {
    const { deliverer, delivery, away, asked, stop } = world(() => Promise.resolve(answered(410)));
    away.postgres = true;
    await deliverer.direct(delivery, route, 0);
    expect(asked).toMatchObject({ letters: 0, scheduled: [{ attempt: 1, atMs: now + 5_000 }] });
    away.postgres = false;
    await deliverer.direct({ ...delivery }, route, 0);
    expect(asked).toMatchObject({ posts: 2, letters: 1 });
    await stop();
  });
});

describe("an attempt that outlives the patience", () => {
  it.each([
    ["delivered", answered(204), { scheduled: [{ attempt: 2, atMs: now + 19_980 }], withdrawn: 1, letters: 0 }],
    ["gone", answered(410), { scheduled: [{ attempt: 2, atMs: now + 19_980 }], withdrawn: 1, letters: 1 }],
    ["failed", answered(500), { scheduled: [{ attempt: 2, atMs: now + 19_980 }], withdrawn: 0, letters: 0 }],
    ["asked to wait", answered(429, "60"), { scheduled: [{ attempt: 2 }, { attempt: 2, atMs: now + 60_000 }], withdrawn: 0, letters: 0 }],
  ])("and was %s has its next attempt as if it had not", async (_how, result, expected) => {
    const answer = Promise.withResolvers<PostResult>();
    const { deliverer, delivery, asked, stop } = world(() => answer.promise);
    await deliverer.direct(delivery, route, 0);
    answer.resolve(result);
    await deliverer.drain();
    expect(asked).toMatchObject({ posts: 1, ...expected });
    await stop();
  });
});

describe("a next attempt that is due while the one before it is under way, or has just ended", () => {
  const routes = new Routes();
  routes.set(route.subscription, route);
  /** As it comes out of the stream. */
  const next = (delivery: Delivery): Delivery => ({ ...delivery, attempt: 2 });

  it.each([
    ["delivered", answered(200), 1, 1],
    ["gone", answered(410), 1, 1],
    ["asked to wait", answered(429, "60"), 1, 2],
    ["failed", answered(500), 2, 3],
  ])("waits for it, and when that was %s makes as many attempts as it should", async (_how, result, posts, postsInAll) => {
    const answer = Promise.withResolvers<PostResult>();
    const { deliverer, delivery, asked, stop } = world(() => answer.promise);
    await deliverer.direct(delivery, route, 0);
    const due = deliverer.due(next(delivery), routes);
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked.posts).toBe(1);
    answer.resolve(result);
    await due;
    await deliverer.drain();
    expect(asked.posts).toBe(posts);
    await deliverer.due(next(delivery), routes);
    expect(asked.posts).toBe(postsInAll);
    await stop();
  });

  it("is made when what came of the one before it could not be written", async () => {
    const answer = Promise.withResolvers<PostResult>();
    const { deliverer, delivery, asked, away, stop } = world(() => answer.promise);
    await deliverer.direct(delivery, route, 0);
    away.streams = true;
    answer.resolve(answered(429, "60"));
    await deliverer.drain();
    away.streams = false;
    await deliverer.due(next(delivery), routes);
    expect(asked.posts).toBe(2);
    await stop();
  });

  it("is made when somebody asks for it again", async () => {
    const { deliverer, delivery, asked, stop } = world(async () => {
      await new Promise((resolve) => setTimeout(resolve, 2 * config.deliveryDeadlineMs));
      return answered(200);
    });
    await deliverer.direct(delivery, route, 0);
    await deliverer.drain();
    const listener = { kind: "webhook", id: "wh_1", url: "http://a", keys: [`whsec_${"A".repeat(32)}`] } as const;
    routes.set("wh_1", { ...route, subscription: "wh_1", emitter: "wh_1", listener });
    await deliverer.due({ ...next(delivery), attemptsBefore: 1 }, routes);
    expect(asked.posts).toBe(2);
    await stop();
  });
});

describe("a delivery that has waited long for those before it", () => {
  it("becomes a message of its own without an attempt", async () => {
    const { deliverer, delivery, asked, stop } = world(() => Promise.resolve(answered(200)));
    await deliverer.direct(delivery, route, 5_001);
    expect(asked).toMatchObject({ posts: 0, scheduled: [{ attempt: 1 }] });
    await deliverer.direct({ ...delivery }, route, 4_999);
    expect(asked.posts).toBe(1);
    await stop();
  });
});

describe("a delivery that can never be stored", () => {
  const tooLarge = (): Promise<void> => Promise.reject(new LimitExceeded("a message of 9000000 bytes is larger than max_payload"));
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

  it("becomes a dead letter of its webhook in place of being tried for ever, also when Postgres comes back later", async () => {
    const { deliverer, delivery, away, asked, stop } = world(() => Promise.resolve(answered(500)));
    away.postgres = true;
    let tries = 0;
    const settle = (): Promise<void> => (tries++, tooLarge());
    const { signal } = new AbortController();
    const settling = untilDone(settle, delivery, { log }, signal, async (error) => {
      const abandoned = deliverer.abandon(delivery, error);
      away.postgres = false;
      await abandoned;
    });
    expect(await settling).toBe(true);
    expect({ tries, letters: asked.letters }).toEqual({ tries: 1, letters: 1 });
    await stop();
  });

  it("ends when there is nobody to give it to", async () => {
    expect(await untilDone(tooLarge, { id: "d_1" }, { log }, new AbortController().signal)).toBe(true);
  });
});
