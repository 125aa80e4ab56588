import { describe, expect, it } from "vitest";
import { emptyState, type Commit } from "../../domain/commit.ts";
import { History, type HistoryPorts } from "../../runner/history.ts";
import type { Progress } from "../../runner/progress.ts";
import { deployment } from "./deployment.ts";

const { source, owner, id } = deployment;
const commit: Commit = {
  source,
  owner,
  deployment: id,
  run: { id: "r_1", trigger: "manual", generation: 1, startedAt: 1, durationMs: 1, cpuMs: 1, result: null },
  events: [],
  logs: [],
  error: null,
  state: { ...emptyState, answered: [[5, 0]] },
};

/** A history as it is found: somebody answered message 5, and nobody knows whether that was acked. */
async function found(progress?: HistoryPorts["progress"]) {
  let now = 0;
  const open = new Set<number>();
  const histories = {
    last: () => Promise.resolve({ commit: JSON.stringify(commit), sequence: 1 }),
    append: () => Promise.resolve({ outcome: "refused" } as const),
  };
  const history = new History(source, owner, {
    histories,
    clock: { now: () => now },
    isOpen: (seq) => open.has(seq),
    ...(progress === undefined ? {} : { progress }),
  });
  await history.load();
  return { history, open, at: (ms: number) => ((now = ms), history.unsettled()) };
}

describe("what a history remembers as answered", () => {
  it("is forgotten when it would have come again by now", async () => {
    const { at } = await found();
    expect(at(60_000)).toEqual([[5, 0]]);
    expect(at(70_000)).toEqual([]);
  });

  it("is not forgotten while it is here, however long it waits, nor before it comes again", async () => {
    const { history, open, at } = await found();
    open.add(5);
    expect(at(500_000)).toEqual([[5, 0]]);
    history.expect(5);
    open.delete(5);
    expect(at(560_000)).toEqual([[5, 0]]);
    expect(at(570_000)).toEqual([]);
  });

  it("is not forgotten before all is acked that was handed out when it was found, since another runner may hold it", async () => {
    let told: Progress | undefined;
    const { at } = await found(() => told);
    expect(at(70_000)).toEqual([[5, 0]]);
    told = { askedAt: 0, handedOut: 5, settled: 5 }; // Before it was found.
    expect(at(71_000)).toEqual([[5, 0]]);
    told = { askedAt: 1, handedOut: 9, settled: 4 };
    expect(at(72_000)).toEqual([[5, 0]]);
    told = { askedAt: 2, handedOut: 30, settled: 8 };
    expect(at(300_000)).toEqual([[5, 0]]);
    told = { askedAt: 3, handedOut: 40, settled: 9 };
    expect(at(301_000)).toEqual([]);
  });

  it("is forgotten soon after it was acked here, whatever else is not", async () => {
    const { history, at } = await found(() => ({ askedAt: 1, handedOut: 9, settled: 1 }));
    history.settle(5);
    expect(at(3_000)).toEqual([]);
  });

  it("is forgotten soon after it was acked", async () => {
    const { history, at } = await found();
    history.settle(5);
    expect(at(3_000)).toEqual([]);
  });

  it("is not forgotten soon after an ack that the server may have forgotten, nor while that is away", async () => {
    const { history, at } = await found();
    history.settle(5);
    history.interrupt();
    history.settle(5); // It went nowhere.
    expect(at(500_000)).toEqual([[5, 0]]);
    history.resume();
    expect(at(560_000)).toEqual([[5, 0]]);
    expect(at(570_000)).toEqual([]);
  });
});
