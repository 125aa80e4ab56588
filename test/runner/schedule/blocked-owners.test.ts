import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import type { Invocation } from "../../../domain/invocation/invocation.ts";
import { schedulerLimits } from "../../../runner/schedule/scheduler.ts";
import { SourceQueues } from "../../../runner/schedule/source-queues.ts";
import { largeBacklog, positionAt } from "../support.ts";

const limits = schedulerLimits(1, 100);
const started: SourceQueues[] = [];
afterEach(async () => {
  for (const queues of started.splice(0)) await queues.stop(AbortSignal.abort());
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Queues in which source `a…` belongs to owner `a`, and so on. Records runs, settlements and refusals. */
function queuesOf() {
  const [ran, settled, refused]: [string[], string[], string[]] = [[], [], []];
  const backlog = largeBacklog();
  const queues = new SourceQueues({
    limits,
    backlog,
    ownerOf: ({ invocation: { source } }) => source.slice(0, 1),
    refuse: ({ source }, owner) => refused.push(`${source} of ${owner}`),
    now: () => 0,
  });
  queues.start({
    handle: async ({ invocation: { source, trigger }, position, skippedTicks }) => {
      ran.push(`${source} ${trigger} ${position.seq}${skippedTicks > 0 ? ` after ${skippedTicks}` : ""}`);
      await turn();
      return "finished";
    },
  });
  started.push(queues);
  let seq = 0;
  const push = (source: string, invocation: Partial<Invocation> & Pick<Invocation, "trigger">): void => {
    const position = positionAt(++seq);
    queues.push({
      received: { invocation: { source, ...invocation }, position, storedAt: 0 },
      bytes: 1,
      settle: (settlement) => settled.push(`${position.seq} ${settlement}`),
    });
  };
  const untilIdle = async (): Promise<void> => {
    while (queues.counts().running > 0) await turn();
  };
  return { queues, ran, settled, refused, push, untilIdle };
}

describe("a blocked owner", () => {
  it("keeps its work queued, and runs it in order when it is unblocked", async () => {
    const { queues, ran, settled, push, untilIdle } = queuesOf();
    queues.block("a", "owner_quota");
    for (const source of ["a1", "b1", "a2", "a1"]) push(source, { trigger: "http" });
    await untilIdle();
    expect([ran, settled]).toEqual([["b1 http 2"], ["2 finished"]]);
    expect(queues.counts()).toMatchObject({ waiting: 0, blocked: { owner_quota: 2, owner_commits: 0 }, heldBack: 0 });
    queues.unblock("a");
    await untilIdle();
    expect(ran.slice(1)).toEqual(["a1 http 1", "a2 http 3", "a1 http 4"]);
    expect(queues.counts()).toMatchObject({ waiting: 0, blocked: { owner_quota: 0, owner_commits: 0 } });
  });

  it("is counted by the reason, and only the quota keeps its work out of what waits", async () => {
    const { queues, push, untilIdle } = queuesOf();
    queues.block("a", "owner_commits");
    for (const source of ["a1", "a2", "a1"]) push(source, { trigger: "event" });
    expect(queues.counts()).toMatchObject({ waiting: 3, blocked: { owner_quota: 0, owner_commits: 2 } });
    queues.block("a", "owner_quota");
    expect(queues.counts()).toMatchObject({ waiting: 0, blocked: { owner_quota: 2, owner_commits: 0 } });
    queues.unblock("a");
    await untilIdle();
  });

  it("runs hooks, calls and dry runs before other work", async () => {
    const { queues, ran, push, untilIdle } = queuesOf();
    push("a1", { trigger: "event" });
    push("a1", { trigger: "event" });
    push("a1", { trigger: "hook", hook: "deploy" });
    queues.block("a", "owner_quota");
    await untilIdle();
    push("a1", { trigger: "event" });
    for (const trigger of ["hook", "configure", "dry-run"] as const) push(trigger === "hook" ? "a1" : `a-${trigger}`, { trigger });
    await untilIdle();
    expect(ran).toEqual(["a1 event 1", "a1 hook 3", "a1 hook 5", "a-configure configure 6", "a-dry-run dry-run 7"]);
  });

  it("runs a queued hook before other work when the owner is blocked while it is queued", async () => {
    const { queues, ran, push, untilIdle } = queuesOf();
    for (const trigger of ["event", "event", "hook"] as const) push("a1", { trigger });
    queues.block("a", "owner_quota");
    await untilIdle();
    expect(ran).toEqual(["a1 event 1", "a1 hook 3"]);
    queues.unblock("a");
    await untilIdle();
    expect(ran.at(-1)).toBe("a1 event 2");
  });

  it("keeps one tick of each source, whatever else is queued", async () => {
    const { queues, ran, settled, push, untilIdle } = queuesOf();
    queues.block("a", "owner_quota");
    push("a1", { trigger: "event" });
    for (let tick = 0; tick < 5; tick++) push("a1", { trigger: "timer" });
    expect(settled).toEqual(["3 finished", "4 finished", "5 finished", "6 finished"]);
    queues.unblock("a");
    await untilIdle();
    expect(ran).toEqual(["a1 event 1 after 4", "a1 timer 2"]);
  });

  it("refuses requests whose callers wait, before and after the block", async () => {
    const { queues, ran, settled, refused, push, untilIdle } = queuesOf();
    push("a1", { trigger: "event" });
    push("a1", { trigger: "http", answerTo: "answer.1" });
    queues.block("a", "owner_quota");
    push("a2", { trigger: "http", answerTo: "answer.2" });
    expect([refused, settled]).toEqual([
      ["a1 of a", "a2 of a"],
      ["2 finished", "3 finished"],
    ]);
    await untilIdle();
    queues.unblock("a");
    await untilIdle();
    expect([ran, queues.size]).toEqual([["a1 event 1"], 0]);
  });

  /** Method: random arrivals, blocks and ends. In the end each invocation has run once, in the order of its source, hooks apart. */
  it("loses and repeats no invocation, whenever it is blocked and unblocked", async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ source: fc.constantFrom("a1", "a2", "b1"), hook: fc.boolean() }) },
      fc.constantFrom("block" as const, "unblock" as const, "turn" as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { queues, ran, push, untilIdle } = queuesOf();
        const pushed: string[] = [];
        for (const each of steps) {
          if (each === "turn") await turn();
          else if (each === "block") queues.block("a", "owner_quota");
          else if (each === "unblock") queues.unblock("a");
          else {
            const trigger = each.hook ? "hook" : "event";
            push(each.source, { trigger });
            pushed.push(`${each.source} ${trigger} ${pushed.length + 1}`);
          }
        }
        queues.unblock("a");
        await untilIdle();
        expect(ran.toSorted()).toEqual(pushed.toSorted());
        expect(queues.size).toBe(0);
        for (const kind of ["a1 event", "a2 event", "b1 event", "a1 hook", "a2 hook", "b1 hook"]) {
          const of = (all: readonly string[]): string[] => all.filter((line) => line.startsWith(kind));
          expect(of(ran)).toEqual(of(pushed));
        }
      }),
    );
  });
});
