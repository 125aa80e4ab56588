import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  failed,
  hasCommit,
  newQueueState,
  nextIn,
  passed,
  planPack,
  type DeliveryBatch,
  type QueueState,
  type ToStore,
} from "../../../domain/delivery/ordered-queue.ts";

const limits = { deliveries: 5, bytes: 100 };
const position = (seq: number) => ({ stream: "one", seq });

interface Stored {
  readonly seq: number;
  readonly pack: DeliveryBatch<string>;
}

/** What waits, as packs one after the other, at sequences with gaps. */
function store(commits: readonly (readonly number[])[]): readonly Stored[] {
  const waiting = commits.map((sizes, n) => ({ names: sizes.map((_, index) => `${n + 1}.${index}`), sizes: [...sizes], seq: n + 1 }));
  const stored: Stored[] = [];
  let upTo: ReturnType<typeof position> | undefined;
  let number = 0;
  while (waiting.length > 0) {
    const given: ToStore[] = waiting.map(({ sizes, seq }) => ({ sizes, position: position(seq) }));
    const plan = planPack(given, upTo, limits);
    const deliveries: string[] = [];
    for (const count of plan.counts) {
      const [first] = waiting;
      if (first === undefined) throw new Error("more than waits");
      deliveries.push(...first.names.splice(0, count));
      first.sizes.splice(0, count);
      if (first.names.length === 0) waiting.shift();
    }
    upTo = plan.upTo as ReturnType<typeof position> | undefined; // They are positions of this test.
    number += deliveries.length;
    stored.push({ seq: 3 * stored.length + 2, pack: { deliveries, number, ...(upTo === undefined ? {} : { upTo }) } });
  }
  return stored;
}

const sizes = fc.array(fc.array(fc.integer({ min: 1, max: 150 }), { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 20 });

describe("planPack", () => {
  /**
   * Nothing is left out, told twice or out of order, no pack is larger than it may be, and a pack tells of a commit exactly when
   * all of it is stored up to there.
   */
  it("keeps the order, within its limits, and knows which commits are whole", () => {
    fc.assert(
      fc.property(sizes, (commits) => {
        const stored = store(commits);
        const all = stored.flatMap(({ pack }) => pack.deliveries);
        expect(all).toEqual(commits.flatMap((given, n) => given.map((_, index) => `${n + 1}.${index}`)));
        let [told, count] = [0, 0];
        for (const { pack } of stored) {
          const bytes = pack.deliveries.map((name) => sizeOf(name, commits)).reduce((sum, size) => sum + size, 0);
          expect(pack.deliveries.length === 1 || (pack.deliveries.length <= limits.deliveries && bytes <= limits.bytes)).toBe(true);
          count += pack.deliveries.length;
          const whole = wholeUpTo(count, commits);
          expect(pack.upTo?.seq ?? 0).toBe(whole);
          expect(whole).toBeGreaterThanOrEqual(told);
          told = whole;
          for (let seq = 1; seq <= commits.length; seq++) expect(hasCommit(pack, position(seq))).toBe(seq <= whole);
          expect(hasCommit(pack, { stream: "another", seq: 1 })).toBe(false);
        }
      }),
    );
  });
});

describe("a line that is read", () => {
  /**
   * A crash forgets all since the state was last kept. Oracle: from one attempt to the next the place in the order is the same, the next
   * one, or, after a crash, any before; never one further on.
   */
  it("goes on in order after any crash, and loses nothing", () => {
    const step = fc.constantFrom("done", "done", "done", "fails", "keep", "crash");
    fc.assert(
      fc.property(sizes, fc.array(step, { maxLength: 200 }), (commits, steps) => {
        const stored = store(commits);
        const names = stored.flatMap(({ pack }) => pack.deliveries);
        let state: QueueState = newQueueState("s");
        let kept = state;
        let place = -1;
        let crashed = false;
        const next = () => stored.find(({ seq }) => seq >= state.seq);
        for (const act of [...steps, ...names.map(() => "done" as const)]) {
          const head = next();
          if (act === "keep") kept = state;
          else if (act === "crash") [state, crashed] = [kept, true];
          else if (head !== undefined) {
            const index = nextIn(state, head.seq);
            const name = head.pack.deliveries[index];
            const now = names.indexOf(name ?? "");
            expect(now === place || now === place + 1 || (crashed && now <= place)).toBe(true);
            [place, crashed] = [now, false];
            expect(state.number).toBe(now);
            if (act === "done") state = passed(state, head.seq, head.pack, index);
            else state = kept = failed(state, head.seq, head.pack, index, { delivery: name ?? "", attempt: 2, atMs: 0 });
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

/** How many commits from the first on are within that many deliveries. */
function wholeUpTo(count: number, commits: readonly (readonly number[])[]): number {
  let [whole, left] = [0, count];
  for (const { length } of commits) {
    if (left < length) return whole;
    left -= length;
    whole++;
  }
  return whole;
}
