import { expect, it } from "vitest";
import type { LimitedOutcome } from "../../../delivery/mail/ports.ts";
import { destinationConformance } from "../../conformance/destination.ts";
import { destinationWorld, sendOf } from "../../conformance/destination-ports.ts";

const delivery = sendOf("email", { subject: "Hello", text: "you" });

destinationConformance(() => {
  const { world, destinations } = destinationWorld();
  return {
    delivery,
    find: (each) => destinations.find(each),
    arrived: world.mails,
    breakPorts: () => void (world.arePortsBroken = true),
    failForNow: () => void (world.mailed = { outcome: "retry", reason: "the server is busy" }),
    failForGood: () => {
      world.mailed = { outcome: "refused", reason: "the address of u_1 is not confirmed" };
      return delivery;
    },
  };
});

it.each<LimitedOutcome>([
  { outcome: "unknown", reason: "the connection was lost" },
  { outcome: "limited", reason: "the limit is used up", waitMs: 5 },
])("sends no mail again after $outcome", async (mailed) => {
  const { world, destinations } = destinationWorld();
  world.mailed = mailed;
  expect(await destinations.find(delivery)?.attempt(delivery, undefined)).toMatchObject({ outcome: "listener_gone" });
});

it("becomes a message first", () => {
  expect(destinationWorld().destinations.find(delivery)).toMatchObject({
    kind: "send",
    circuit: "p_1 email",
    storesBeforeFirstAttempt: true,
  });
});
