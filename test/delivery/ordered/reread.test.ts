import { expect, it } from "vitest";
import type { Settled } from "../../../delivery/attempts/discards.ts";
import { encodeBatch } from "../../../delivery/ordered/batches.ts";
import { OrderedPartition } from "../../../delivery/ordered/ordered-partition.ts";
import type { QueueParts } from "../../../delivery/ordered/queue-parts.ts";
import type { Delivery } from "../../../delivery/routing/delivery.ts";
import { Routes } from "../../../delivery/routing/routes.ts";
import { until } from "../../support/until.ts";

const webhook = { kind: "webhook", id: "wh_one", url: "http://one", keys: ["key"], ordered: true } as const;
const routes = new Routes();
routes.set(webhook.id, { subscription: webhook.id, owner: "u_one", emitter: webhook.id, channel: "", listener: webhook });

const deliveryOf = (source: string, name: string): Delivery => ({
  id: name,
  subscription: "sub",
  listener: webhook.id,
  attempt: 1,
  inOrder: true,
  event: { emitId: name, eventId: "1-1", source, owner: "u_one", channel: "", ts: 1, payload: "{}" },
});

it("knows what an attempt has scheduled since another queue of the webhook has listed what is scheduled", async () => {
  const batches = new Map([
    ["dc_a", [deliveryOf("dc_a", "a")]],
    ["dc_b", [deliveryOf("dc_b", "x"), deliveryOf("dc_b", "y")]],
  ]);
  const scheduled = new Set<string>();
  const attempted: string[] = [];
  const ends = new Map<string, (settled: Settled) => void>();
  const done = (): Promise<void> => Promise.resolve();
  const parts = {
    routes,
    config: { deliveryDeadlineMs: 1_000, attemptTimeoutMs: 1_000 },
    deliverer: {
      attempt: ({ id }: Delivery) =>
        new Promise<Settled>((resolve) => {
          attempted.push(id);
          ends.set(id, resolve);
        }),
      release: () => undefined,
    },
    ports: {
      queueStore: {
        list: async () => [...batches.keys()].map((source) => ({ partition: 0, webhook: webhook.id, source })),
        findNext: async ({ source }: { readonly source: string }, from: number) => {
          const batch = batches.get(source);
          return batch === undefined || from > 1 ? undefined : { seq: 1, text: encodeBatch(batch) };
        },
        remove: done,
        listScheduled: async () => new Set(scheduled),
      },
      replicas: { isCurrent: () => true },
      log: { warn: () => undefined, error: () => undefined },
    },
  } as unknown as Omit<QueueParts, "onIdle">; // All that it uses.
  const partition = new OrderedPartition(0, parts);
  await partition.start();
  await until(() => attempted.length === 2, "the heads are attempted");
  scheduled.add("a").add("x"); // Due and in progress.
  await partition.start(); // As it does once a minute.
  ends.get("a")?.("scheduled");
  await until(() => scheduled.size === 2, "the other queue has its list");
  scheduled.delete("x");
  ends.get("x")?.("done");
  await until(() => attempted.includes("y"), "the next one is attempted");
  scheduled.add("y");
  ends.get("y")?.("scheduled");
  const due = partition.attemptDue(deliveryOf("dc_b", "y"));
  await until(() => attempted.length === 4, "the head is attempted again");
  expect(attempted).toEqual(["a", "x", "y", "y"]);
  ends.get("y")?.("done");
  batches.clear();
  await due;
  partition.retire();
});
