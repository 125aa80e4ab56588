import { describe, expect, it } from "vitest";
import { destinationConformance } from "../../conformance/destination.ts";
import { deliveryTo, destinationWorld } from "../../conformance/destination-ports.ts";
import { deadLetter, redelivery } from "../../../delivery/record/dead-letter.ts";
import type { Delivery } from "../../../delivery/routing/delivery.ts";

const caller = { workflow: "p_1", run: "r_1", suspension: 1 };
/** A minute after the commit: the workflow is in the routes, if it exists. */
const now = 1_000_000;

function callTo(workflow: string, changed: Partial<Delivery["event"]> = {}): Delivery {
  const given = deliveryTo(workflow);
  const event = { ...given.event, owner: "u_1", channel: "$call", emitId: "r_1-c2", ts: now - 60_000, invocation: { caller }, ...changed };
  return { ...given, id: "r_1-c2", subscription: workflow, event };
}

function callWorld() {
  const { world, routes, destinations } = destinationWorld();
  const own = (id: string, owner: string, ofPool: object = { pool: "default" }) => {
    const listener = { kind: "workflow", id, ...ofPool } as const;
    routes.set(id, { subscription: id, owner, emitter: id, channel: "", listener });
  };
  own("p_1", "u_1");
  own("p_2", "u_1");
  own("p_others", "u_2");
  own("p_off", "u_1", { runsIn: "default" });
  const attempt = async (delivery: Delivery) => destinations.find(delivery)?.attempt(delivery, undefined);
  return { world, routes, destinations, attempt };
}

describe("a workflow that is called", () => {
  destinationConformance(() => {
    const { world, destinations } = callWorld();
    return {
      delivery: callTo("p_2"),
      find: destinations.find.bind(destinations),
      arrived: world.stored,
      loseNats: () => void (world.isNatsAway = true),
      failForNow: () => void (world.isBacklogFull = true),
      failForGood: () => callTo("p_gone", { invocation: {} }),
    };
  });
});

describe("a workflow that cannot be called", () => {
  it.each(["p_gone", "p_others"])("such as %s is looked for again for a minute; then its caller gets an error", async (id) => {
    const { world, attempt } = callWorld();
    const young = callTo(id);
    expect(await attempt({ ...young, event: { ...young.event, ts: now - 59_999 } })).toMatchObject({ outcome: "backlog_full" });
    expect(world.stored).toEqual([]);
    expect(await attempt(young)).toMatchObject({ outcome: "delivered" });
    expect(world.stored).toEqual(["r_1-c2-refused"]);
  });

  it("because it is too far away from the first event, has a caller that gets an error", async () => {
    const { world, attempt } = callWorld();
    const far = callTo("p_2");
    expect(await attempt({ ...far, event: { ...far.event, hops: 1_000 } })).toMatchObject({ outcome: "delivered" });
    expect(world.stored).toEqual(["r_1-c2-refused"]);
  });

  it("such as one whose time is in the future, is not looked for again: only a forged commit has it", async () => {
    const { attempt } = callWorld();
    expect(await attempt(callTo("p_gone", { ts: now + 3_600_000, invocation: {} }))).toMatchObject({ outcome: "left_out" });
  });

  it("has no caller of another owner, which only a forged commit could name", async () => {
    const { world, attempt } = callWorld();
    const forged = callTo("p_gone", { invocation: { caller: { ...caller, workflow: "p_others" } } });
    expect(await attempt(forged)).toMatchObject({ outcome: "left_out" });
    expect(world.stored).toEqual([]);
  });
});

describe("a workflow that is switched off", () => {
  it("gets calls in its queue, and what concerns its runs at once", async () => {
    const { world, attempt } = callWorld();
    world.waiting = { usage: undefined, bytes: 0, counts: new Map([["p_off", 10_000]]) };
    const returned = { run: "r_2", status: "succeeded", value: "1" } as const;
    const resume = { run: "r_1", suspension: 1, action: "resume" } as const;
    expect(await attempt(callTo("p_off", { invocation: { resume, returned } }))).toMatchObject({ outcome: "delivered" });
    expect(await attempt(callTo("p_off", { invocation: {} }))).toMatchObject({ outcome: "refused" });
  });
});

it("is the same after it was a dead letter", () => {
  const call = callTo("p_2");
  expect(redelivery(deadLetter(call, "no room", now)).event).toEqual(call.event);
});
