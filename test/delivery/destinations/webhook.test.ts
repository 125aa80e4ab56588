import { expect, it } from "vitest";
import type { ExternalOutcome } from "../../../delivery/destinations/destination.ts";
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
    find: (each) => destinations.find(each),
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

/** Reports a 410 to the destination of the delivery, as after an attempt. */
async function reportGone({ destinations, delivery }: ReturnType<typeof webhookWorld>): Promise<string | undefined> {
  const destination = destinations.find(delivery);
  if (destination?.kind !== "webhook") return expect.unreachable("the delivery goes to no webhook");
  const outcome = { outcome: "listener_gone", status: 410, error: "410 Gone" } as const;
  return destination.onAttempted?.(delivery, { outcome, at: 5, durationMs: 1 }, undefined);
}

it("refuses deliveries after a 410, and says how to enable the webhook", async () => {
  const made = webhookWorld();
  expect(await reportGone(made)).toMatch(/Enable it with PUT/);
  expect(made.destinations.find(made.delivery)?.refusal?.()).toMatch(/Enable it with PUT/);
});

it("keeps naming the 410 once the operator has taken the keys of the webhook for it", async () => {
  const made = webhookWorld();
  await reportGone(made);
  made.routes.set("wh_1", { ...made.own, listener: { ...made.own.listener, keys: [] } });
  expect(made.destinations.find(made.delivery)?.refusal?.()).toMatch(/Enable it with PUT/);
});

it("posts nothing while a signing key cannot be opened", async () => {
  const { world, destinations, delivery } = webhookWorld(["not sealed"]);
  await expect(destinations.find(delivery)?.attempt(delivery, undefined)).rejects.toThrow("not sealed for this installation");
  expect(world.posts).toEqual([]);
});

it("has no destination after the subscription was deleted, except for a redelivery, and for a dead letter of an inactive webhook", () => {
  const { routes, destinations, own, delivery } = webhookWorld();
  routes.set("sub_1", undefined);
  expect(destinations.find(delivery)).toBeUndefined();
  expect(destinations.find({ ...delivery, attempt: 2, attemptsBefore: 1 })).toMatchObject({ kind: "webhook", circuit: "wh_1" });
  routes.set("wh_1", { ...own, listener: { ...own.listener, keys: [] } });
  expect(destinations.find(delivery)?.refusal?.()).toBeDefined();
  routes.set("wh_1", undefined);
  expect(destinations.find({ ...delivery, attempt: 2, attemptsBefore: 1 })).toBeUndefined();
});

it("returns what was sent and received, without the credentials and keys of the webhook", async () => {
  const { world, destinations, routes, own, delivery } = webhookWorld();
  routes.set("wh_1", { ...own, listener: { ...own.listener, url: "http://u:p@a/hook", basicAuth: "sealed user:a long password" } });
  const authorization = `Basic ${Buffer.from("user:a long password").toString("base64")}`;
  const body = Buffer.from(JSON.stringify({ authorization, key: signingKey, password: "a long password" }));
  const headers = { "x-echo": authorization, "set-cookie": "session=1" };
  world.answer = { outcome: "answered", status: 200, retryAfter: undefined, received: { headers, body, isCut: false } };
  const { exchange } = ((await destinations.find(delivery)?.attempt(delivery, undefined)) ?? {}) as Partial<ExternalOutcome>;
  const [post] = world.posts;
  expect(post).toMatchObject({ headers: { authorization }, keepBytes: 16_384 });
  expect(exchange?.withResponse()).toEqual({
    url: "http://a/hook",
    sent: Object.entries({ ...post?.headers, authorization: "***" }),
    response: {
      headers: [
        ["x-echo", "Basic ***"],
        ["set-cookie", "***"],
      ],
      areHeadersCut: false,
      body: '{"authorization":"Basic ***","key":"***","password":"***"}',
      encoding: "utf-8",
      isCut: false,
    },
  });
});

it("returns what was sent to an endpoint that cannot be reached", async () => {
  const { world, destinations, delivery } = webhookWorld();
  world.answer = { outcome: "unreachable", code: "ECONNREFUSED", message: "a:80 refuses connections" };
  const outcome = await destinations.find(delivery)?.attempt(delivery, undefined);
  expect(outcome).toMatchObject({
    outcome: "retry",
    exchange: { request: { url: "http://a/hook", sent: expect.arrayContaining([["webhook-id", "e1"]]) }, responseBytes: undefined },
  });
});
