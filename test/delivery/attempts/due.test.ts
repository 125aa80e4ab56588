import { describe, expect, it } from "vitest";
import type { Route } from "../../../domain/source/deployment.ts";
import { createDeliverer } from "./deliverer-fixture.ts";
import { decodeDelivery, firstDelivery, type Delivery } from "../../../delivery/routing/delivery.ts";
import type { DeliveryConfig, DeliveryPorts } from "../../../delivery/ports.ts";
import type { PostRequest, PostResult } from "../../../delivery/destinations/ports.ts";

const maxInFlight = 4;
const config: DeliveryConfig = {
  deliveryDeadlineMs: 60_000,
  attemptsPerWebhook: maxInFlight,
  maxDirectListeners: 16,
  attemptTimeoutMs: 60_000,
  nextAttempt: () => undefined,
};
const keys = [`whsec_${"A".repeat(32)}`];
const route: Route = {
  subscription: "sub_1",
  owner: "u_1",
  emitter: "dc_1",
  channel: "",
  listener: { kind: "webhook", id: "wh_1", url: "http://a", keys },
};

/** A deliverer with a webhook whose endpoint answers when the test says so. */
function world() {
  const answers: (() => void)[] = [];
  const postponedTo: number[] = [];
  const postponed: Delivery[] = [];
  const posted: string[] = [];
  const post = ({ url }: PostRequest): Promise<PostResult> =>
    new Promise((resolve) => {
      posted.push(url);
      answers.push(() => resolve({ outcome: "answered", status: 200, retryAfter: undefined }));
    });
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  // Deliveries to webhooks use no other ports.
  const ports = {
    deliveries: {
      schedule: async (_webhook: string, _delivery: string, text: string, atMs: number) => {
        postponedTo.push(atMs);
        postponed.push(decodeDelivery(text));
      },
    },
    poster: { post },
    secrets: { open: (sealed: string) => Promise.resolve(sealed) },
    hmac: () => "",
    history: { recordAttempts: () => Promise.resolve(), saveWebhookFailures: () => Promise.resolve() },
    clock: { now: () => 1_000_000 },
    random: () => 0,
    log,
  } as unknown as DeliveryPorts;
  const { deliverer, attempts, routes } = createDeliverer(config, ports);
  const due = (n: number, to = route, payload = "{}"): Promise<void> => {
    routes.set(to.subscription, to);
    const event = { emitId: `e${n}`, eventId: `1-${n}`, source: "dc_1", owner: to.owner, channel: "", ts: 1, payload };
    return deliverer.attemptDue(firstDelivery(event, to));
  };
  /** Answers all posts until the deliveries are settled. */
  const answerAll = async (all: Promise<unknown>): Promise<void> => {
    let isSettled = false;
    void all.then(() => (isSettled = true));
    while (!isSettled) {
      for (const answer of answers.splice(0)) answer();
      await settled();
    }
    await attempts.stop();
  };
  return { answers, postponedTo, postponed, posted, due, answerAll, stop: () => attempts.stop() };
}

/** The route to a webhook of the owner. */
function routeTo(owner: string, n: number): Route {
  const listener = { ...route.listener, kind: "webhook", id: `wh_${owner}_${n}`, url: `http://${owner}/${n}`, keys } as const;
  return { ...route, owner, subscription: `sub_${owner}_${n}`, listener };
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
    const { postponedTo, due, answerAll } = world();
    const all = Promise.all(Array.from({ length: 600 }, (_, n) => due(n)));
    while (postponedTo.length < 600 - 500 - maxInFlight) await settled();
    expect(postponedTo.length).toBe(600 - 500 - maxInFlight);
    expect(postponedTo[0]).toBe(1_001_000);
    expect(postponedTo.at(-1)).toBe(1_001_000 + Math.round(((postponedTo.length - 1) * 1_000) / 600));
    await answerAll(all);
  });
});

describe("due deliveries of an owner with slow endpoints", () => {
  it("leave places for other owners: beyond 768 alone, and beyond a seventh of the free places beside others, they are rescheduled", async () => {
    const { postponed, postponedTo, posted, due, answerAll } = world();
    const slow: Promise<void>[] = [];
    for (let n = 0; n < 1_200; n++) slow.push(due(n, routeTo("u_slow", n)));
    while (postponed.length < 1_200 - 768) await settled();
    expect(posted).toHaveLength(768);
    expect(postponed.every(({ attempt }) => attempt === 1)).toBe(true);
    expect([postponedTo[0], postponedTo[1], postponedTo[200]]).toEqual([1_001_000, 1_001_005, 1_002_000]);

    slow.push(due(1_200, routeTo("u_other", 1)));
    while (posted.length < 769) await settled();
    expect(posted.at(-1)).toBe("http://u_other/1");
    slow.push(due(1_201, routeTo("u_slow", 1_201)));
    while (postponed.length < 1_201 - 768) await settled();
    await answerAll(Promise.all(slow));
    expect(posted).toHaveLength(769);
  });

  it("hold at most 8 MiB, and are stored again at 4 MiB a second", async () => {
    const { postponed, postponedTo, posted, due, answerAll } = world();
    const mebibyte = 2 ** 20;
    const large = "x".repeat(mebibyte - 512);
    const all = Promise.all(Array.from({ length: 12 }, (_, n) => due(n, routeTo("u_large", n), large)));
    while (postponed.length < 4) await settled();
    expect(posted).toHaveLength(8);
    expect(postponedTo).toEqual([1_001_000, 1_001_256, 1_001_512, 1_001_768]);
    await answerAll(all);
  });

  it("are attempted although one alone is larger than an owner's share", async () => {
    const { posted, due, answerAll } = world();
    await answerAll(due(1, routeTo("u_huge", 1), "x".repeat(9 * 2 ** 20)));
    expect(posted).toHaveLength(1);
  });
});
