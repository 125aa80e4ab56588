import { afterEach, describe, expect, it } from "vitest";
import { OwnerValues } from "../../../runner/schedule/owner-value-cache.ts";
import { schedulerLimits } from "../../../runner/schedule/scheduler.ts";
import { SourceQueues } from "../../../runner/schedule/source-queues.ts";
import { largeBacklog } from "../large-backlog.ts";
import { positionAt } from "../position.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Weights as the server would have them, and how often it was asked. */
function weightsOf(entries: Map<string, number>) {
  let changed: (owner: string | undefined) => void = () => undefined;
  let asked = 0;
  let isAway = false;
  let now = 1;
  const weights = new OwnerValues({
    read: async (owner) => {
      asked++;
      if (isAway) throw new Error("away");
      return entries.get(owner);
    },
    follow: async (listener) => ((changed = listener), { stop: async () => undefined }),
    usual: 1,
    clock: { now: () => now },
  });
  return {
    weights,
    asked: () => asked,
    change: (owner: string | undefined) => changed(owner),
    leave: (away: boolean) => (isAway = away),
    pass: (ms: number) => (now += ms),
  };
}

describe("the values of owners", () => {
  it("are the usual one until they are read, once", async () => {
    const { weights, asked } = weightsOf(new Map([["u_a", 4]]));
    await weights.start();
    expect([weights.get("u_a"), weights.get("u_a"), weights.get("u_b")]).toEqual([1, 1, 1]);
    await turn();
    expect([weights.get("u_a"), weights.get("u_b"), asked()]).toEqual([4, 1, 2]);
  });

  it("are read again when they change, when changes may have been missed, and after ten minutes", async () => {
    const entries = new Map([["u_a", 4]]);
    const { weights, asked, change, pass } = weightsOf(entries);
    await weights.start();
    weights.get("u_a");
    await turn();
    entries.set("u_a", 8);
    change("u_other");
    await turn();
    expect([weights.get("u_a"), asked()]).toEqual([4, 1]);
    change("u_a");
    await turn();
    expect(weights.get("u_a")).toBe(8);
    entries.set("u_a", 2);
    change(undefined);
    await turn();
    expect(weights.get("u_a")).toBe(2);
    entries.delete("u_a");
    pass(11 * 60_000);
    weights.get("u_a");
    await turn();
    expect(weights.get("u_a")).toBe(1);
  });

  it("stay the same while they cannot be read, and are read again a second later", async () => {
    const entries = new Map([["u_a", 4]]);
    const { weights, asked, change, leave, pass } = weightsOf(entries);
    await weights.start();
    weights.get("u_a");
    await turn();
    leave(true);
    change(undefined);
    await turn();
    expect([weights.get("u_a"), asked()]).toEqual([4, 2]);
    leave(false);
    entries.set("u_a", 5);
    pass(1_001);
    weights.get("u_a");
    await turn();
    expect(weights.get("u_a")).toBe(5);
  });
});

describe("an owner of weight 4", () => {
  const started: SourceQueues[] = [];
  afterEach(async () => {
    for (const queues of started.splice(0)) await queues.stop(AbortSignal.abort());
  });

  it("gets four times as many runs as one of weight 1 while both have runs that wait", async () => {
    const ran: string[] = [];
    const queues = new SourceQueues({
      limits: schedulerLimits(1, 100),
      backlog: largeBacklog(),
      ownerOf: ({ invocation: { source } }) => source.slice(0, 1),
      weightOf: (owner) => (owner === "a" ? 4 : 1),
      answer: async ({ invocation: { source } }) => {
        ran.push(source.slice(0, 1));
        await turn();
        return "done";
      },
      now: () => 0,
    });
    started.push(queues);
    for (let seq = 1; seq <= 4_000; seq++) {
      const position = positionAt(seq);
      const source = `${seq % 2 === 0 ? "a" : "b"}${seq}`;
      const received = { invocation: { source, trigger: "http" as const }, position, storedAt: 0, skippedTicks: 0 };
      queues.push({ received, bytes: 1, settle: () => undefined });
    }
    while (ran.length < 1_500) await turn();
    const ofA = ran.slice(0, 1_500).filter((owner) => owner === "a").length;
    expect(ofA / (1_500 - ofA)).toBeGreaterThan(3.5);
    expect(ofA / (1_500 - ofA)).toBeLessThan(4.5);
  });
});
