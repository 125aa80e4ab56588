import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  stateAfterFailure,
  containsCommit,
  newQueueState,
  nextIndex,
  stateAfterDone,
  planBatch,
  type DeliveryBatch,
  type QueueState,
  type WaitingDeliveries,
} from "../../../domain/delivery/ordered-queue.ts";

const limits = { deliveries: 5, bytes: 100 };
const position = (seq: number) => ({ stream: "one", seq });

interface Stored {
  readonly seq: number;
  readonly batch: DeliveryBatch<string>;
}

/** Stores all deliveries in batches, at sequences with gaps. */
function store(commits: readonly (readonly number[])[]): readonly Stored[] {
  const waiting = commits.map((sizes, n) => ({ names: sizes.map((_, index) => `${n + 1}.${index}`), sizes: [...sizes], seq: n + 1 }));
  const stored: Stored[] = [];
  let upTo: ReturnType<typeof position> | undefined;
  let number = 0;
  while (waiting.length > 0) {
    const given: WaitingDeliveries[] = waiting.map(({ sizes, seq }) => ({ sizes, position: position(seq) }));
    const plan = planBatch(given, upTo, limits);
    const deliveries: string[] = [];
    for (const count of plan.counts) {
      const [first] = waiting;
      if (first === undefined) throw new Error("the plan takes more than waits");
      deliveries.push(...first.names.splice(0, count));
      first.sizes.splice(0, count);
      if (first.names.length === 0) waiting.shift();
    }
    upTo = plan.upTo as ReturnType<typeof position> | undefined; // They are positions of this test.
    number += deliveries.length;
    stored.push({ seq: 3 * stored.length + 2, batch: { deliveries, number, ...(upTo === undefined ? {} : { upTo }) } });
  }
  return stored;
}

const sizes = fc.array(fc.array(fc.integer({ min: 1, max: 150 }), { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 20 });

describe("planBatch", () => {
  /**
   * No delivery is lost, repeated or out of order. No batch exceeds the limits. `upTo` names a commit exactly when all of its
   * deliveries are stored.
   */
  it("keeps the order and the limits, and names the last complete commit", () => {
    fc.assert(
      fc.property(sizes, (commits) => {
        const stored = store(commits);
        const all = stored.flatMap(({ batch }) => batch.deliveries);
        expect(all).toEqual(commits.flatMap((given, n) => given.map((_, index) => `${n + 1}.${index}`)));
        let [previous, count] = [0, 0];
        for (const { batch } of stored) {
          const bytes = batch.deliveries.map((name) => sizeOf(name, commits)).reduce((sum, size) => sum + size, 0);
          expect(batch.deliveries.length === 1 || (batch.deliveries.length <= limits.deliveries && bytes <= limits.bytes)).toBe(true);
          count += batch.deliveries.length;
          const whole = wholeUpTo(count, commits);
          expect(batch.upTo?.seq ?? 0).toBe(whole);
          expect(whole).toBeGreaterThanOrEqual(previous);
          previous = whole;
          for (let seq = 1; seq <= commits.length; seq++) expect(containsCommit(batch, position(seq))).toBe(seq <= whole);
          expect(containsCommit(batch, { stream: "another", seq: 1 })).toBe(false);
        }
      }),
    );
  });
});

describe("the state of a queue", () => {
  /**
   * A crash loses all changes since the state was saved. Oracle: the index of each attempt is that of the previous attempt, the next
   * index, or, after a crash, a smaller one; never a larger one.
   */
  it("continues in order after any crash, and loses no delivery", () => {
    const step = fc.constantFrom("done", "done", "done", "fails", "save", "crash");
    fc.assert(
      fc.property(sizes, fc.array(step, { maxLength: 200 }), (commits, steps) => {
        const stored = store(commits);
        const names = stored.flatMap(({ batch }) => batch.deliveries);
        let state: QueueState = newQueueState("s");
        let saved = state;
        let last = -1;
        let crashed = false;
        const next = () => stored.find(({ seq }) => seq >= state.seq);
        for (const act of [...steps, ...names.map(() => "done" as const)]) {
          const head = next();
          if (act === "save") saved = state;
          else if (act === "crash") [state, crashed] = [saved, true];
          else if (head !== undefined) {
            const index = nextIndex(state, head.seq);
            const name = head.batch.deliveries[index];
            const now = names.indexOf(name ?? "");
            expect(now === last || now === last + 1 || (crashed && now <= last)).toBe(true);
            [last, crashed] = [now, false];
            expect(state.number).toBe(now);
            if (act === "done") state = stateAfterDone(state, head.seq, head.batch, index);
            else state = saved = stateAfterFailure(state, head.seq, head.batch, index, { delivery: name ?? "", attempt: 2, atMs: 0 });
          }
        }
        expect(next()).toBeUndefined();
        expect(state.number).toBe(names.length);
        expect(state.upTo).toEqual(position(commits.length));
      }),
    );
  });
});

function sizeOf(name: string, commits: readonly (readonly number[])[]): number {
  const [commit = 0, index = 0] = name.split(".").map(Number);
  return commits[commit - 1]?.[index] ?? 0;
}

/** Number of commits, from the first, whose deliveries are all among the first `count`. */
function wholeUpTo(count: number, commits: readonly (readonly number[])[]): number {
  let [whole, left] = [0, count];
  for (const { length } of commits) {
    if (left < length) return whole;
    left -= length;
    whole++;
  }
  return whole;
}
