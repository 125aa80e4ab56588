import { describe, expect, it } from "vitest";
import type { Invocation } from "../../../domain/invocation/invocation.ts";
import { SourceQueue, type QueuedInvocation } from "../../../runner/schedule/source-queue.ts";
import { SpeculativeRuns } from "../../../runner/schedule/speculative-runs.ts";
import { positionAt } from "../support.ts";

const entry = (trigger: Invocation["trigger"], isAwaited = false): QueuedInvocation => ({
  received: {
    invocation: { source: "dc_1", trigger, ...(isAwaited ? { answerTo: "inbox" } : {}) },
    position: positionAt(1),
    storedAt: 0,
  },
  bytes: 1,
  settle: () => undefined,
});

function queueOf(running: QueuedInvocation | undefined, ...queued: QueuedInvocation[]): SourceQueue {
  const queue = new SourceQueue("dc_1", { source: "dc_1", trigger: "http" });
  queue.running = running;
  for (const each of queued) queue.add(each);
  return queue;
}

function speculating() {
  const ran: QueuedInvocation["received"][] = [];
  const runs = new SpeculativeRuns((received) => (ran.push(received), Promise.resolve(undefined)));
  return { runs, ran };
}

describe("SpeculativeRuns", () => {
  it("runs each request whose caller waits once while a hook runs", async () => {
    const { runs, ran } = speculating();
    const [awaited, other] = [entry("http", true), entry("http")];
    const queue = queueOf(entry("hook"), other, awaited, entry("timer"), entry("manual"));
    runs.consider(queue);
    runs.consider(queue);
    expect(ran).toEqual([awaited.received]);
    expect([runs.take(other), await runs.take(awaited), runs.take(awaited)]).toEqual([undefined, undefined, undefined]);
  });

  it("runs nothing behind another such request, or while no run is in progress", () => {
    const { runs, ran } = speculating();
    runs.consider(queueOf(entry("http", true), entry("http", true)));
    runs.consider(queueOf(undefined, entry("http", true)));
    expect(ran).toEqual([]);
  });

  it("runs at most eight requests behind one run", () => {
    const { runs, ran } = speculating();
    runs.consider(queueOf(entry("hook"), ...Array.from({ length: 20 }, () => entry("http", true))));
    expect(ran).toHaveLength(8);
  });

  it("waits two seconds behind a tick", async () => {
    const { runs, ran } = speculating();
    const [stays, leaves] = [entry("http", true), entry("http", true)];
    const queue = queueOf(entry("timer"), leaves, stays);
    runs.consider(queue);
    expect(ran).toEqual([]);
    expect(queue.take(false)).toBe(leaves);
    await expect.poll(() => ran.length).toBe(1);
    expect(ran).toEqual([stays.received]);
  });
});
