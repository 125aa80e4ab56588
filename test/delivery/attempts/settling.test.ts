import { describe, expect, it } from "vitest";
import type { Route } from "../../../domain/source/deployment.ts";
import { LimitExceeded, Unavailable } from "../../../domain/errors.ts";
import { createDeliverer } from "./deliverer-fixture.ts";
import { decodeDelivery, firstDelivery, type Delivery } from "../../../delivery/routing/delivery.ts";
import type { DeliveryConfig, DeliveryPorts } from "../../../delivery/ports.ts";
import type { PostResult } from "../../../delivery/destinations/ports.ts";
import type { FirstAttempt } from "../../../delivery/routing/ports.ts";
import { settle } from "../../../delivery/settle.ts";

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
  listener: { kind: "webhook", id: "wh_1", url: "http://a", keys: [`whsec_${"A".repeat(32)}`] },
};
const first: FirstAttempt = { route, atMs: now, waitedMs: 0 };
const event = { emitId: "e1", eventId: "1-1", source: "dc_1", owner: "u_1", channel: "", ts: 1, payload: "{}" };
const answered = (status: number, retryAfter?: string): PostResult => ({ outcome: "answered", status, retryAfter });

/** A deliverer whose NATS and Postgres may be away, and the calls that it made. */
function world(post: () => Promise<PostResult>, maxInFlight = 16) {
  const away = { streams: false, postgres: false };
  const calls = { posts: 0, scheduled: [] as { readonly attempt: number; readonly atMs: number }[], withdrawn: 0, letters: 0 };
  const unlessAway = (which: keyof typeof away, act: () => void): Promise<void> => {
    const code = which === "postgres" ? "database_unavailable" : "unavailable";
    if (away[which]) return Promise.reject(new Unavailable(`${which} is away`, { code }));
    return Promise.resolve(act());
  };
  const toPostgres = (): Promise<void> => unlessAway("postgres", () => undefined);
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  // Deliveries to webhooks, and to workflows that refuse them, use no other ports.
  const ports = {
    deliveries: {
      schedule: (_webhook: string, _delivery: string, text: string, atMs: number) =>
        unlessAway("streams", () => void calls.scheduled.push({ attempt: decodeDelivery(text).attempt, atMs })),
      withdraw: () => unlessAway("streams", () => void calls.withdrawn++),
    },
    poster: { post: () => (calls.posts++, post()) },
    workflows: { waiting: async () => ({ usage: undefined, bytes: 0, counts: new Map([["p_full", 10_000]]) }) },
    secrets: { open: (sealed: string) => Promise.resolve(sealed) },
    hmac: () => "",
    history: {
      recordAttempts: toPostgres,
      listFailingWebhooks: () => toPostgres().then(() => []),
      saveWebhookFailures: toPostgres,
      recordDeadLetters: () => unlessAway("postgres", () => void calls.letters++),
    },
    clock: { now: () => now },
    random: () => 0,
    log,
  } as unknown as DeliveryPorts;
  const limited = { ...config, attemptsPerWebhook: maxInFlight };
  const { deliverer, attempts, routes } = createDeliverer(limited, ports);
  routes.set(route.subscription, route);
  const stop = async (): Promise<void> => {
    Object.assign(away, { streams: false, postgres: false });
    await deliverer.drain();
    await attempts.stop();
  };
  return { deliverer, routes, delivery: firstDelivery(event, route), away, calls, stop };
}

describe("an attempt whose outcome cannot be stored", () => {
  it("is not repeated when it is settled again", async () => {
    const { deliverer, delivery, away, calls, stop } = world(() => Promise.resolve(answered(500)));
    away.streams = true;
    for (let n = 0; n < 3; n++) await expect(deliverer.attemptFirst(delivery, first)).rejects.toThrow("streams is away");
    away.streams = false;
    await deliverer.attemptFirst(delivery, first);
    expect(calls).toMatchObject({ posts: 1, scheduled: [{ attempt: 2, atMs: now + 5_000 }] });
    await stop();
  });

  it("is not repeated while it is in flight and holds the only permit", async () => {
    const answer = Promise.withResolvers<PostResult>();
    const { deliverer, delivery, away, calls, stop } = world(() => answer.promise, 1);
    away.streams = true;
    for (let n = 0; n < 2; n++) await expect(deliverer.attemptFirst(delivery, first)).rejects.toThrow("streams is away");
    away.streams = false;
    await deliverer.attemptFirst(delivery, first);
    answer.resolve(answered(200));
    await deliverer.drain();
    expect(calls).toMatchObject({ posts: 1, scheduled: [{ attempt: 2 }], withdrawn: 1 });
    await stop();
  });

  it("is repeated when its next attempt could not be stored and it cannot be recorded as gone", async () => {
    const answer = Promise.withResolvers<PostResult>();
    const { deliverer, delivery, away, calls, stop } = world(() => answer.promise);
    away.streams = true;
    await expect(deliverer.attemptFirst(delivery, first)).rejects.toThrow("streams is away");
    // A webhook is disabled only once that is stored.
    away.postgres = true;
    answer.resolve(answered(410));
    await expect(deliverer.attemptFirst(delivery, first)).rejects.toThrow("is away");
    Object.assign(away, { streams: false, postgres: false });
    await deliverer.attemptFirst(delivery, first);
    expect(calls).toMatchObject({ posts: 2, letters: 1 });
    await stop();
  });

  it("is scheduled again while Postgres is away, and becomes a dead letter later", async () => {
    const { deliverer, delivery, away, calls, stop } = world(() => Promise.resolve(answered(410)));
    away.postgres = true;
    await deliverer.attemptFirst(delivery, first);
    expect(calls).toMatchObject({ letters: 0, scheduled: [{ attempt: 1, atMs: now + 5_000 }] });
    away.postgres = false;
    await deliverer.attemptFirst({ ...delivery }, first);
    expect(calls).toMatchObject({ posts: 2, letters: 1 });
    await stop();
  });
});

describe("a first attempt at a destination that refuses deliveries", () => {
  const refusing: readonly [string, Route["listener"]][] = [
    ["a workflow whose queue is full", { kind: "workflow", id: "p_full" }],
    ["a webhook without keys", { kind: "webhook", id: "wh_1", url: "http://a", keys: [] }],
  ];

  it.each(refusing)("at %s becomes a dead letter, and is scheduled again while Postgres is away", async (_which, listener) => {
    const { deliverer, away, calls, stop } = world(() => Promise.resolve(answered(200)));
    const to = { ...route, listener };
    const attempt = () => deliverer.attemptFirst(firstDelivery(event, to), { ...first, route: to });
    away.postgres = true;
    expect(await attempt()).toBe("scheduled");
    expect(calls).toMatchObject({ posts: 0, letters: 0, scheduled: [{ attempt: 1, atMs: now + 5_000 }] });
    away.postgres = false;
    expect(await attempt()).toBe("done");
    expect(calls).toMatchObject({ posts: 0, letters: 1, scheduled: [{ attempt: 1 }] });
    await stop();
  });
});

describe("an attempt that takes longer than the delivery deadline", () => {
  it.each([
    ["delivered", answered(204), { scheduled: [{ attempt: 2, atMs: now + 19_980 }], withdrawn: 1, letters: 0 }],
    ["gone", answered(410), { scheduled: [{ attempt: 2, atMs: now + 19_980 }], withdrawn: 1, letters: 1 }],
    ["failed", answered(500), { scheduled: [{ attempt: 2, atMs: now + 19_980 }], withdrawn: 0, letters: 0 }],
    ["asked to wait", answered(429, "60"), { scheduled: [{ attempt: 2 }, { attempt: 2, atMs: now + 60_000 }], withdrawn: 0, letters: 0 }],
  ])("and then ended as %s leaves the next attempt in the right state", async (_how, result, expected) => {
    const answer = Promise.withResolvers<PostResult>();
    const { deliverer, delivery, calls, stop } = world(() => answer.promise);
    await deliverer.attemptFirst(delivery, first);
    answer.resolve(result);
    await deliverer.drain();
    expect(calls).toMatchObject({ posts: 1, ...expected });
    await stop();
  });
});

describe("a next attempt that is due while the previous one is in flight or has just ended", () => {
  /** The delivery as it is read from the stream. */
  const next = (delivery: Delivery): Delivery => ({ ...delivery, attempt: 2 });

  it.each([
    ["delivered", answered(200), 1, 1],
    ["gone", answered(410), 1, 1],
    ["asked to wait", answered(429, "60"), 1, 2],
    ["failed", answered(500), 2, 3],
  ])("waits for the outcome and, when that is %s, is made only if it is necessary", async (_how, result, posts, postsInAll) => {
    const answer = Promise.withResolvers<PostResult>();
    const { deliverer, delivery, calls, stop } = world(() => answer.promise);
    await deliverer.attemptFirst(delivery, first);
    const due = deliverer.attemptDue(next(delivery));
    await new Promise((resolve) => setImmediate(resolve));
    expect(calls.posts).toBe(1);
    answer.resolve(result);
    await due;
    await deliverer.drain();
    expect(calls.posts).toBe(posts);
    await deliverer.attemptDue(next(delivery));
    expect(calls.posts).toBe(postsInAll);
    await stop();
  });

  it("is made when the outcome of the previous one could not be stored", async () => {
    const answer = Promise.withResolvers<PostResult>();
    const { deliverer, delivery, calls, away, stop } = world(() => answer.promise);
    await deliverer.attemptFirst(delivery, first);
    away.streams = true;
    answer.resolve(answered(429, "60"));
    await deliverer.drain();
    away.streams = false;
    await deliverer.attemptDue(next(delivery));
    expect(calls.posts).toBe(2);
    await stop();
  });

  it("is made when a user requests a redelivery", async () => {
    const { deliverer, routes, delivery, calls, stop } = world(async () => {
      await new Promise((resolve) => setTimeout(resolve, 2 * config.deliveryDeadlineMs));
      return answered(200);
    });
    await deliverer.attemptFirst(delivery, first);
    await deliverer.drain();
    routes.set("wh_1", { ...route, subscription: "wh_1", emitter: "wh_1" });
    await deliverer.attemptDue({ ...next(delivery), attemptsBefore: 1 });
    expect(calls.posts).toBe(2);
    await stop();
  });
});

describe("a delivery that waited more than five seconds in its chain", () => {
  it("is scheduled without an attempt", async () => {
    const { deliverer, delivery, calls, stop } = world(() => Promise.resolve(answered(200)));
    await deliverer.attemptFirst(delivery, { ...first, waitedMs: 5_001 });
    expect(calls).toMatchObject({ posts: 0, scheduled: [{ attempt: 1 }] });
    await deliverer.attemptFirst({ ...delivery }, { ...first, waitedMs: 4_999 });
    expect(calls.posts).toBe(1);
    await stop();
  });
});

describe("a delivery that NATS refuses permanently", () => {
  const tooLarge = (): Promise<void> => Promise.reject(new LimitExceeded("a message of 9000000 bytes is larger than max_payload"));
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

  it("becomes a dead letter instead of being repeated forever, also when Postgres returns only later", async () => {
    const { deliverer, delivery, away, calls, stop } = world(() => Promise.resolve(answered(500)));
    away.postgres = true;
    let tries = 0;
    const attempt = (): Promise<void> => (tries++, tooLarge());
    const { signal } = new AbortController();
    const settling = settle(attempt, delivery, { log }, signal, async (error) => {
      const abandoned = deliverer.abandon(delivery, error);
      away.postgres = false;
      await abandoned;
    });
    expect(await settling).toBe(true);
    expect({ tries, letters: calls.letters }).toEqual({ tries: 1, letters: 1 });
    await stop();
  });

  it("counts as settled when there is no way to give it up", async () => {
    expect(await settle(tooLarge, { id: "d_1" }, { log }, new AbortController().signal)).toBe(true);
  });
});

describe("first attempts of an owner whose endpoints are slow", () => {
  it("are scheduled without counting an attempt while 128 are late, and those of other owners are made", async () => {
    const answers: ((result: PostResult) => void)[] = [];
    const { deliverer, delivery, calls, stop } = world(() => new Promise((resolve) => answers.push(resolve)), 1_000);
    const attemptNth = (n: number, to = route) => deliverer.attemptFirst({ ...delivery, id: `e${n}.sub_1` }, { ...first, route: to });
    await Promise.all(Array.from({ length: 128 }, (_, n) => attemptNth(n)));
    expect([calls.posts, calls.scheduled.length]).toEqual([128, 128]);
    await attemptNth(128);
    expect([calls.posts, calls.scheduled.at(-1)]).toEqual([128, { attempt: 1, atMs: now + 1_000 }]);

    await attemptNth(129, { ...route, owner: "u_2" });
    expect(calls.posts).toBe(129);
    for (const answer of answers.splice(0)) answer(answered(200));
    await deliverer.drain();
    const last = attemptNth(130);
    while (answers.length === 0) await new Promise((resolve) => setImmediate(resolve));
    for (const answer of answers.splice(0)) answer(answered(200));
    await last;
    expect(calls.posts).toBe(130);
    await stop();
  });
});
