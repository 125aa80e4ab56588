import { expect, it } from "vitest";
import { destinationConformance } from "../../conformance/destination.ts";
import { deliveryTo, destinationWorld, signingKey } from "../../conformance/destination-ports.ts";

function webhookWorld(keys: readonly string[] = [signingKey]) {
  const { world, routes, destinations } = destinationWorld();
  const listener = { kind: "webhook", id: "wh_1", url: "http://a/hook", keys } as const;
  const own = { subscription: "wh_1", owner: "u_1", emitter: "wh_1", channel: "", listener };
  routes.set("wh_1", own);
  routes.set("sub_1", { ...own, subscription: "sub_1", emitter: "dc_1" });
  return { world, routes, destinations, own, delivery: deliveryTo("wh_1") };
}

destinationConformance(() => {
  const { world, routes, destinations, own, delivery } = webhookWorld();
  return {
    delivery,
    of: (each) => destinations.of(each),
    get arrived() {
      return world.posts.map(({ headers }) => String(headers["webhook-id"]));
    },
    breakPorts: () => void (world.arePortsBroken = true),
    failForNow: () => void (world.answer = { outcome: "answered", status: 503, retryAfter: "5" }),
    failForGood: () => {
      world.answer = { outcome: "answered", status: 410, retryAfter: undefined };
      return delivery;
    },
    refuse: () => routes.set("wh_1", { ...own, listener: { ...own.listener, keys: [] } }),
  };
});

it("refuses deliveries after a 410, and says how to enable the webhook", async () => {
  const { destinations, delivery } = webhookWorld();
  const destination = destinations.of(delivery);
  const outcome = { outcome: "listener-gone", status: 410, error: "410 Gone" } as const;
  expect(await destination?.ended?.(delivery, { outcome, at: 5, durationMs: 1 }, undefined)).toMatch(/Enable it with PUT/);
  expect(destination?.refusal()).toMatch(/Enable it with PUT/);
});

it("keeps naming the 410 once the operator has taken the keys of the webhook for it", async () => {
  const { routes, destinations, own, delivery } = webhookWorld();
  const outcome = { outcome: "listener-gone", status: 410, error: "410 Gone" } as const;
  await destinations.of(delivery)?.ended?.(delivery, { outcome, at: 5, durationMs: 1 }, undefined);
  routes.set("wh_1", { ...own, listener: { ...own.listener, keys: [] } });
  expect(destinations.of(delivery)?.refusal()).toMatch(/Enable it with PUT/);
});

it("posts nothing while a signing key cannot be opened", async () => {
  const { world, destinations, delivery } = webhookWorld(["not sealed"]);
  await expect(destinations.of(delivery)?.attempt(delivery, undefined)).rejects.toThrow("not sealed for this installation");
  expect(world.posts).toEqual([]);
});

it("has no destination after the subscription was deleted, except for a redelivery, and for a dead letter of an inactive webhook", () => {
  const { routes, destinations, own, delivery } = webhookWorld();
  routes.set("sub_1", undefined);
  expect(destinations.of(delivery)).toBeUndefined();
  expect(destinations.of({ ...delivery, attempt: 2, attemptsBefore: 1 })).toMatchObject({ kind: "webhook", circuit: "wh_1" });
  routes.set("wh_1", { ...own, listener: { ...own.listener, keys: [] } });
  expect(destinations.of(delivery)?.refusal()).toBeDefined();
  routes.set("wh_1", undefined);
  expect(destinations.of({ ...delivery, attempt: 2, attemptsBefore: 1 })).toBeUndefined();
});
