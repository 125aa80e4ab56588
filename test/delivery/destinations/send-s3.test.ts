import { expect, it } from "vitest";
import { destinationConformance } from "../../conformance/destination.ts";
import { destinationWorld, sendOf } from "../../conformance/destination-ports.ts";

const argument = { bucket: "events", prefix: "a/b", payload: { n: 1 } };
const delivery = sendOf("s3", argument);

destinationConformance(() => {
  const { world, destinations } = destinationWorld();
  return {
    delivery,
    find: (each) => destinations.find(each),
    get arrived() {
      return world.objects.map(({ bucket, key }) => [bucket, ...key].join("/"));
    },
    breakPorts: () => void (world.arePortsBroken = true),
    failForNow: () => void (world.answer = { outcome: "answered", status: 503, retryAfter: undefined }),
    failForGood: () => sendOf("s3", { ...argument, prefix: "../victim" }),
  };
});

it("becomes a message first, and stores the object under its owner", async () => {
  const { world, destinations } = destinationWorld();
  const destination = destinations.find(delivery);
  expect(destination).toMatchObject({ kind: "send", circuit: "p_1 s3", storesBeforeFirstAttempt: true });
  await destination?.attempt(delivery, undefined);
  const key = ["u_1", "a", "b", "1970-01-01", "e1.sub_1"];
  expect(world.objects).toEqual([{ bucket: "events", key, body: '{"n":1}', contentType: "application/json" }]);
});
