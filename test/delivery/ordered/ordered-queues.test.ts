import { describe, expect, it } from "vitest";
import type { Settled } from "../../../delivery/attempts/discards.ts";
import { encodeBatch } from "../../../delivery/ordered/batches.ts";
import { OrderedPartition } from "../../../delivery/ordered/ordered-partition.ts";
import { OrderedQueue } from "../../../delivery/ordered/ordered-queue.ts";
import type { QueueParts } from "../../../delivery/ordered/queue-parts.ts";
import type { QueueKey, QueueStore } from "../../../delivery/ordered/ports.ts";
import { decodeDelivery, encodeDelivery, type Delivery } from "../../../delivery/routing/delivery.ts";
import { Unavailable } from "../../../domain/errors.ts";
import { Routes } from "../../../delivery/routing/routes.ts";
import { disorder } from "../../support/order.ts";
import { seeded } from "../../support/random.ts";

const source = "dc_one";
const webhook = { kind: "webhook", id: "wh_one", url: "http://one", keys: ["key"], ordered: true } as const;
const routes = new Routes();
routes.set(webhook.id, { subscription: webhook.id, owner: "u_one", emitter: webhook.id, channel: "", listener: webhook });

const deliveryOf = (n: number): Delivery => ({
  id: `em${n}.sub`,
  subscription: "sub",
  listener: webhook.id,
  attempt: 1,
  inOrder: true,
  event: { emitId: `em${n}`, eventId: `1-${n}`, source, owner: "u_one", channel: "", ts: 1, payload: String(n) },
});
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** What survives a replica: the stream DELIVERIES, and what the endpoint has received. */
class World {
  readonly messages: { readonly seq: number; readonly key: QueueKey; readonly text: string }[] = [];
  readonly scheduled = new Map<string, Delivery>();
  readonly heard: string[] = [];
  readonly taken = new Set<string>();
  readonly dead: string[] = [];
  /** Decides how an attempt ends. */
  outcomeOf: (delivery: Delivery) => "delivered" | "failed" | "dead" = () => "delivered";
  hasRoom = true;
  #seq = 0;

  append(key: QueueKey, text: string, after: number): number | undefined {
    if ((this.last()?.seq ?? 0) !== after) return undefined;
    this.messages.push({ seq: ++this.#seq, key, text });
    return this.#seq;
  }

  last() {
    return this.messages.at(-1);
  }

  remove(seq: number): void {
    const index = this.messages.findIndex((message) => message.seq === seq);
    if (index >= 0) this.messages.splice(index, 1);
  }
}

/** A replica that holds the partition. A killed one does nothing more, and a stalled one continues later. */
class Replica {
  readonly partition: OrderedPartition;
  isKilled = false;
  isCurrent = true;
  resume: Promise<void> = Promise.resolve();
  readonly #world: World;

  constructor(world: World, config: QueueParts["config"] = { deliveryDeadlineMs: 1_000, attemptTimeoutMs: 1_000 }) {
    this.#world = world;
    this.partition = new OrderedPartition(0, {
      config,
      routes,
      deliverer: {
        attempt: (delivery) => this.#attempt(delivery),
        schedule: (delivery) => this.#io(() => this.#schedule(delivery)),
        hold: async (delivery, isHead) => {
          if (world.hasRoom || isHead) return true;
          world.dead.push(delivery.event.payload);
          return false;
        },
        release: () => undefined,
        abandon: async () => undefined,
      },
      ports: {
        queueStore: this.#store(),
        deliveries: {
          findScheduled: async (_webhook, id) => {
            const found = world.scheduled.get(id);
            return found && encodeDelivery(found);
          },
        },
        replicas: { isCurrent: () => this.isCurrent },
        clock: { now: () => Date.now() },
        log: { warn: () => undefined, error: () => undefined },
      },
    });
  }

  /** A step that reaches NATS or the endpoint. */
  async #io<Result>(act: () => Result): Promise<Result> {
    await turn();
    await this.resume;
    if (this.isKilled) return new Promise(() => undefined);
    return act();
  }

  #schedule(delivery: Delivery): Settled {
    this.#world.scheduled.set(delivery.id, decodeDelivery(encodeDelivery(delivery)));
    return "scheduled";
  }

  #attempt(delivery: Delivery): Promise<Settled> {
    const { heard, taken, dead, outcomeOf } = this.#world;
    return this.#io(() => {
      const { payload } = delivery.event;
      heard.push(payload);
      const outcome = outcomeOf(delivery);
      if (outcome === "failed") return this.#schedule({ ...delivery, attempt: delivery.attempt + 1 });
      if (outcome === "dead") dead.push(payload);
      else taken.add(payload);
      return "done";
    });
  }

  #store(): QueueStore {
    const world = this.#world;
    return {
      list: () => this.#io(() => (world.messages.length === 0 ? [] : [{ partition: 0, webhook: webhook.id, source }])),
      findNext: (_key, from) => this.#io(() => world.messages.find(({ seq }) => seq >= from)),
      findLast: () => this.#io(() => world.last()),
      append: (key, text, _count, after) => this.#io(() => world.append(key, text, after)),
      remove: (seq) => this.#io(() => world.remove(seq)),
      removeAll: () => this.#io(() => void world.messages.splice(0)),
      listScheduled: () => this.#io(() => new Set(world.scheduled.keys())),
    };
  }

  /** Hands out a due message, which is handed out again if the replica does not ack it. */
  due(id: string): void {
    const delivery = this.#world.scheduled.get(id);
    if (delivery === undefined) return;
    const ack = (): void => void (this.#world.scheduled.get(id) === delivery && this.#world.scheduled.delete(id));
    this.partition.attemptDue(delivery).then(ack, () => undefined);
  }
}

/** Routes commits of one to three events, from the floor on. `done` counts the commits that need no repetition. */
async function route(replica: Replica, commits: readonly (readonly number[])[], progress: { done: number }): Promise<void> {
  const from = progress.done;
  await Promise.all(
    commits.slice(from).map(async (numbers, index) => {
      await replica.partition.deliver(numbers.map(deliveryOf));
      if (!replica.isKilled && progress.done === from + index) progress.done++;
    }),
  );
}

async function untilTrue(condition: () => boolean, what: string): Promise<void> {
  for (let turns = 0; !condition(); turns++) {
    if (turns > 100_000) expect.fail(`${what} does not come true`);
    await turn();
  }
}

function commitsOf(count: number): readonly (readonly number[])[] {
  const commits: number[][] = [];
  for (let n = 0; n < count;) {
    const size = Math.min(count - n, 1 + (commits.length % 3));
    commits.push(Array.from({ length: size }, (_, index) => n + index));
    n += size;
  }
  return commits;
}

describe("the queue of a source for an ordered webhook", () => {
  it("delivers also what a replica that had stalled has stored after this one began, and leaves nothing behind", async () => {
    const world = new World();
    const replica = new Replica(world);
    await replica.partition.start();
    world.append({ partition: 0, webhook: webhook.id, source }, encodeBatch([deliveryOf(0)]), 0);
    world.outcomeOf = ({ attempt, event }) => (event.payload === "1" && attempt === 1 ? "failed" : "delivered");
    await replica.partition.deliver([deliveryOf(1)]);
    await replica.partition.deliver([deliveryOf(2)]);
    await untilTrue(() => {
      for (const id of world.scheduled.keys()) replica.due(id);
      return world.messages.length === 0;
    }, "all is delivered");
    await replica.partition.deliver([deliveryOf(3)]);
    await untilTrue(() => world.taken.size === 4, "the last one is delivered");
    // The event of the other replica is one that it has read from the floor, and so has this one: its order is that of a repetition.
    expect([...world.taken].filter((payload) => payload !== "0")).toEqual(["1", "2", "3"]);
  });

  it("stores what arrives after it was retired, also for a source that had no queue", async () => {
    const world = new World();
    const replica = new Replica(world);
    await replica.partition.start();
    replica.partition.retire();
    await replica.partition.deliver([deliveryOf(0)]);
    expect([world.heard, world.messages.length]).toEqual([[], 1]);
    await replica.partition.stop();
  });

  it("stores nothing behind an event that was given up when the partition was handed over", async () => {
    const stored: string[] = [];
    let isAway = true;
    const parts = {
      config: { deliveryDeadlineMs: 1_000, attemptTimeoutMs: 1_000 },
      deliverer: { hold: async () => true },
      ports: {
        queueStore: {
          findLast: async () => undefined,
          append: async (_key: QueueKey, text: string) => {
            if (isAway) throw new Unavailable("NATS does not answer");
            return stored.push(text);
          },
        },
        replicas: { isCurrent: () => true },
        log: { warn: () => undefined, error: () => undefined },
      },
      onIdle: () => undefined,
    } as unknown as QueueParts; // The parts that are used.
    const queue = new OrderedQueue({ partition: 0, webhook: webhook.id, source }, parts);
    queue.retire();
    const first = queue.deliver([deliveryOf(0)], 0);
    first.catch(() => undefined); // It is awaited below.
    await queue.stop(0);
    await expect(first).rejects.toThrow("taken over");
    isAway = false;
    await expect(queue.deliver([deliveryOf(1)], 0)).rejects.toThrow("taken over");
    expect(stored).toEqual([]);
  });

  it("begins nothing that it finds stored after it was retired", async () => {
    const world = new World();
    world.append({ partition: 0, webhook: webhook.id, source }, encodeBatch([deliveryOf(0)]), 0);
    const replica = new Replica(world);
    const slow = Promise.withResolvers<void>();
    replica.resume = slow.promise;
    const starting = replica.partition.start();
    replica.partition.retire();
    slow.resolve();
    await starting;
    await replica.partition.stop();
    for (let turns = 0; turns < 20; turns++) await turn();
    expect(world.heard).toEqual([]);
  });

  it.each(Array.from({ length: 40 }, (_, seed) => seed))(
    "delivers each event in order while replicas are killed and attempts fail (seed %i)",
    async (seed) => {
      const random = seeded(seed);
      const [world, count, progress] = [new World(), 30, { done: 0 }];
      world.outcomeOf = () => (random() < 0.2 ? "failed" : "delivered");
      const commits = commitsOf(count);
      for (let kills = 0; kills < 6; kills++) {
        const replica = new Replica(world);
        await replica.partition.start();
        void route(replica, commits, progress);
        const turns = 5 + random() * 60;
        for (let n = 0; n < turns; n++) {
          for (const id of world.scheduled.keys()) if (random() < 0.5) replica.due(id);
          await turn();
        }
        replica.isKilled = true;
      }
      const last = new Replica(world);
      await last.partition.start();
      void route(last, commits, progress);
      await untilTrue(() => {
        for (const id of world.scheduled.keys()) last.due(id);
        return world.taken.size === count && world.messages.length === 0;
      }, "everything is delivered");
      expect(
        disorder(
          Array.from({ length: count }, (_, n) => String(n)),
          world.heard,
        ),
      ).toBeUndefined();
    },
  );

  it("stores nothing while attempts succeed, and one message for each commit behind a failure", async () => {
    const world = new World();
    const replica = new Replica(world);
    await replica.partition.start();
    await replica.partition.deliver([0, 1, 2].map(deliveryOf));
    expect([world.heard, world.messages]).toEqual([["0", "1", "2"], []]);
    world.outcomeOf = () => "failed";
    await replica.partition.deliver([3, 4].map(deliveryOf));
    for (let n = 5; n < 300; n++) await replica.partition.deliver([deliveryOf(n)]);
    expect(world.heard).toEqual(["0", "1", "2", "3"]);
    expect(world.messages).toHaveLength(296);
    world.outcomeOf = () => "delivered";
    replica.due("em3.sub");
    await untilTrue(() => world.messages.length === 0, "the queue is empty");
    expect(world.heard.slice(4)).toEqual(Array.from({ length: 297 }, (_, n) => String(n + 3)));
  });

  it("does not wait for a slow attempt before the commit is done", async () => {
    const world = new World();
    const replica = new Replica(world, { deliveryDeadlineMs: 10, attemptTimeoutMs: 1_000 });
    await replica.partition.start();
    const slow = Promise.withResolvers<void>();
    replica.resume = slow.promise;
    const delivered = replica.partition.deliver([deliveryOf(0), deliveryOf(1)]);
    for (let n = 0; n < 3; n++) await turn();
    replica.resume = Promise.resolve();
    await delivered;
    expect([world.heard, world.messages.length]).toEqual([[], 1]);
    slow.resolve();
    await untilTrue(() => world.messages.length === 0, "the attempt ends, and the next one follows");
    expect(world.heard).toEqual(["0", "1"]);
  });

  it("posts and stores nothing by a replica that stalled while another one took over", async () => {
    const world = new World();
    world.outcomeOf = ({ event }) => (event.payload === "0" ? "failed" : "delivered");
    const stalled = new Replica(world);
    await stalled.partition.start();
    await stalled.partition.deliver([deliveryOf(0)]);
    const stall = Promise.withResolvers<void>();
    stalled.resume = stall.promise;
    stalled.isCurrent = false;
    const routed = stalled.partition.deliver([deliveryOf(1)]).catch((error: unknown) => error);
    for (let n = 0; n < 5; n++) await turn();

    const next = new Replica(world);
    await next.partition.start();
    for (const n of [1, 2]) await next.partition.deliver([deliveryOf(n)]);
    stall.resolve();
    for (let n = 0; n < 20; n++) await turn();
    stalled.partition.retire();
    stalled.isCurrent = true;
    expect(await routed).toBeInstanceOf(Error);
    expect(world.messages).toHaveLength(3);
    await stalled.partition.stop();
    world.outcomeOf = () => "delivered";
    next.due("em0.sub");
    await untilTrue(() => world.messages.length === 0, "the queue is empty");
    expect(world.heard).toEqual(["0", "0", "1", "2"]);
  });

  it("turns events beyond the owner's share into dead letters, and continues with those that were stored", async () => {
    const world = new World();
    world.outcomeOf = () => "failed";
    const replica = new Replica(world);
    await replica.partition.start();
    for (const n of [0, 1]) await replica.partition.deliver([deliveryOf(n)]);
    world.hasRoom = false;
    await replica.partition.deliver([deliveryOf(2)]);
    world.hasRoom = true;
    await replica.partition.deliver([deliveryOf(3)]);
    world.outcomeOf = () => "delivered";
    replica.due("em0.sub");
    await untilTrue(() => world.messages.length === 0, "the queue is empty");
    expect([world.heard, world.dead]).toEqual([["0", "0", "1", "3"], ["2"]]);
  });

  it("drops the message of a delivery that is done", async () => {
    const world = new World();
    world.outcomeOf = ({ attempt }) => (attempt === 1 ? "failed" : "delivered");
    const replica = new Replica(world);
    await replica.partition.start();
    await replica.partition.deliver([deliveryOf(0)]);
    const again = world.scheduled.get("em0.sub") ?? expect.fail("it is not scheduled");
    replica.due("em0.sub");
    await untilTrue(() => world.messages.length === 0, "it is delivered");
    await replica.partition.attemptDue(again);
    expect(world.heard).toEqual(["0", "0"]);
  });

  it("attempts the head again after a start if NATS has lost its schedule", async () => {
    const world = new World();
    world.outcomeOf = ({ attempt }) => (attempt === 1 ? "failed" : "delivered");
    const first = new Replica(world);
    await first.partition.start();
    for (const n of [0, 1]) await first.partition.deliver([deliveryOf(n)]);
    first.isKilled = true;
    world.scheduled.clear();
    world.outcomeOf = () => "delivered";
    await new Replica(world).partition.start();
    await untilTrue(() => world.messages.length === 0, "the queue is empty");
    expect(world.heard).toEqual(["0", "0", "1"]);
  });
});
