import { describe, expect, it } from "vitest";
import type { Invocation } from "../../../domain/invocation/invocation.ts";
import { SourceQueue } from "../../../runner/schedule/source-queue.ts";
import { SpeculativeRuns } from "../../../runner/schedule/speculative-runs.ts";
import type { Waiting } from "../../../runner/schedule/disposition.ts";
import { positionAt } from "../position.ts";

const entry = (trigger: Invocation["trigger"], isAwaited = false): Waiting => ({
  received: {
    invocation: { source: "dc_1", trigger, ...(isAwaited ? { answerTo: "inbox" } : {}) },
    position: positionAt(1),
    storedAt: 0,
  },
  bytes: 1,
  settle: () => undefined,
});

function queueOf(running: Waiting | undefined, ...waiting: Waiting[]): SourceQueue {
  const queue = new SourceQueue("dc_1");
  queue.running = running;
  for (const each of waiting) queue.add(each);
  return queue;
}

function speculating() {
  const ran: Waiting["received"][] = [];
  const runs = new SpeculativeRuns((received) => (ran.push(received), Promise.resolve(undefined)));
  return { runs, ran };
}

describe("SpeculativeRuns", () => {
  it("runs requests whose callers wait while a hook runs, each once", async () => {
    const { runs, ran } = speculating();
    const [awaited, other] = [entry("http", true), entry("http")];
    const queue = queueOf(entry("hook"), other, awaited, entry("timer"), entry("manual"));
    runs.consider(queue);
    runs.consider(queue);
    expect(ran).toEqual([awaited.received]);
    expect([runs.take(other), await runs.take(awaited), runs.take(awaited)]).toEqual([undefined, undefined, undefined]);
  });

  it("runs nothing behind another request, nor while nothing runs", () => {
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

  it("waits two seconds for a tick to end", async () => {
    const { runs, ran } = speculating();
    const [stays, leaves] = [entry("http", true), entry("http", true)];
    const queue = queueOf(entry("timer"), leaves, stays);
    runs.consider(queue);
    expect(ran).toEqual([]);
    expect(queue.take(false)).toBe(leaves);
    await expect.poll(() => ran.length, { timeout: 30_000 }).toBe(1);
    expect(ran).toEqual([stays.received]);
  });
});
