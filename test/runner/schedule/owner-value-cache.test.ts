import { afterEach, describe, expect, it } from "vitest";
import { OwnerValueCache } from "../../../runner/schedule/owner-value-cache.ts";
import { schedulerLimits } from "../../../runner/schedule/scheduler.ts";
import { SourceQueues } from "../../../runner/schedule/source-queues.ts";
import { largeBacklog, positionAt } from "../support.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A cache of stored weights that counts its reads. */
function weightsOf(entries: Map<string, number>) {
  let changed: (owner: string | undefined) => void = () => undefined;
  let reads = 0;
  let isDown = false;
  let now = 1;
  const weights = new OwnerValueCache({
    read: async (owner) => {
      reads++;
      if (isDown) throw new Error("NATS is down");
      return entries.get(owner);
    },
    subscribe: async (listener) => ((changed = listener), { stop: async () => undefined }),
    defaultValue: 1,
    clock: { now: () => now },
  });
  return {
    weights,
    reads: () => reads,
    change: (owner: string | undefined) => changed(owner),
    setDown: (down: boolean) => (isDown = down),
    pass: (ms: number) => (now += ms),
  };
}

describe("OwnerValueCache", () => {
  it("returns the default until the value is read, and reads it once", async () => {
    const { weights, reads } = weightsOf(new Map([["u_a", 4]]));
    await weights.start();
    expect([weights.get("u_a"), weights.get("u_a"), weights.get("u_b")]).toEqual([1, 1, 1]);
    await turn();
    expect([weights.get("u_a"), weights.get("u_b"), reads()]).toEqual([4, 1, 2]);
  });

  it("reads a value again when it changes, when changes may have been missed, and after ten minutes", async () => {
    const entries = new Map([["u_a", 4]]);
    const { weights, reads, change, pass } = weightsOf(entries);
    await weights.start();
    weights.get("u_a");
    await turn();
    entries.set("u_a", 8);
    change("u_other");
    await turn();
    expect([weights.get("u_a"), reads()]).toEqual([4, 1]);
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

  it("keeps the old value while it cannot be read, and reads it again a second later", async () => {
    const entries = new Map([["u_a", 4]]);
    const { weights, reads, change, setDown, pass } = weightsOf(entries);
    await weights.start();
    weights.get("u_a");
    await turn();
    setDown(true);
    change(undefined);
    await turn();
    expect([weights.get("u_a"), reads()]).toEqual([4, 2]);
    setDown(false);
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

  it("gets four times as many runs as an owner of weight 1 while both have queued runs", async () => {
    const ran: string[] = [];
    const queues = new SourceQueues({
      limits: schedulerLimits(1, 100),
      backlog: largeBacklog(),
      ownerOf: ({ invocation: { source } }) => source.slice(0, 1),
      weightOf: (owner) => (owner === "a" ? 4 : 1),
      now: () => 0,
    });
    queues.start({
      handle: async ({ invocation: { source } }) => {
        ran.push(source.slice(0, 1));
        await turn();
        return "finished";
      },
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
