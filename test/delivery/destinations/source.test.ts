import { destinationConformance } from "../../conformance/destination.ts";
import { deliveryTo, destinationWorld } from "../../conformance/destination-ports.ts";

destinationConformance(() => {
  const { world, routes, destinations } = destinationWorld();
  const listener = { kind: "source", id: "dc_2", pool: "default" } as const;
  routes.set("sub_1", { subscription: "sub_1", owner: "u_1", emitter: "dc_1", channel: "", listener });
  const delivery = deliveryTo("dc_2");
  return {
    delivery,
    find: (each) => destinations.find(each),
    arrived: world.stored,
    failForNow: () => void (world.isBacklogFull = true),
    failForGood: () => ({ ...delivery, event: { ...delivery.event, hops: 1_000_000 } }),
    loseNats: () => void (world.isNatsAway = true),
  };
});
