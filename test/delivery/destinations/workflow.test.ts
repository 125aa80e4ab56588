import { describe, expect, it } from "vitest";
import { destinationConformance } from "../../conformance/destination.ts";
import { deliveryTo, destinationWorld } from "../../conformance/destination-ports.ts";

const delivery = deliveryTo("p_1");

function workflowWorld(pool?: string) {
  const { world, routes, destinations } = destinationWorld();
  const listener = { kind: "workflow", id: "p_1", ...(pool === undefined ? {} : { pool }) } as const;
  const own = { subscription: "p_1", owner: "u_1", emitter: "p_1", channel: "", listener };
  routes.set("p_1", own);
  routes.set("sub_1", { ...own, subscription: "sub_1", emitter: "dc_1" });
  const under = {
    delivery,
    find: destinations.find.bind(destinations),
    arrived: world.stored,
    loseNats: () => void (world.isNatsAway = true),
  };
  return { world, routes, destinations, under };
}

describe("an active workflow", () => {
  destinationConformance(() => {
    const { world, under } = workflowWorld("default");
    return {
      ...under,
      failForNow: () => void (world.isBacklogFull = true),
      failForGood: () => ({ ...delivery, event: { ...delivery.event, hops: 1_000_000 } }),
    };
  });
});

describe("a workflow that is not active", () => {
  const fill = ({ world }: ReturnType<typeof workflowWorld>): void =>
    void (world.waiting = { usage: undefined, bytes: 0, counts: new Map([["p_1", 10_000]]) });

  destinationConformance(() => {
    const made = workflowWorld();
    return {
      ...made.under,
      // Its queue accepts what a runner's backlog does not.
      failForNow: () => {
        made.world.isBacklogFull = true;
        made.routes.set("p_1", {
          subscription: "p_1",
          owner: "u_1",
          emitter: "p_1",
          channel: "",
          listener: { kind: "workflow", id: "p_1", pool: "default" },
        });
      },
      failForGood: () => (fill(made), delivery),
      refuse: () => fill(made),
    };
  });
});

it("keeps what was accepted for a workflow when the subscription ends", () => {
  const { routes, destinations } = workflowWorld();
  routes.set("sub_1", undefined);
  expect(destinations.find(delivery)).toMatchObject({ kind: "workflow", owner: "u_1" });
  routes.set("p_1", undefined);
  expect(destinations.find(delivery)).toBeUndefined();
});
