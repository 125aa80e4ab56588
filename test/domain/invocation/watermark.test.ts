import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  isCommitted,
  type Positioned,
  raiseWatermarks,
  type QueuePosition,
  type Watermarks,
} from "../../../domain/invocation/watermark.ts";

const at = (seq: number, storedAt = seq, pool = "p1", index = 0): QueuePosition => ({ pool, seq, index, storedAt });
const event = (position: QueuePosition, movedFrom?: QueuePosition): Positioned => ({
  invocation: { trigger: "event", ...(movedFrom === undefined ? {} : { movedFrom }) },
  position,
});
const hook = (position: QueuePosition): Positioned => ({ invocation: { trigger: "hook" }, position });

describe("watermarks", () => {
  /** Oracle: the set of committed positions. Method: commits in order, each redelivered at any later time. */
  it("recognize exactly the invocations that were committed in order", () => {
    const position = fc.record({ seq: fc.integer({ min: 1, max: 20 }), index: fc.nat(3) });
    fc.assert(
      fc.property(fc.uniqueArray(position, { selector: ({ seq, index }) => seq * 10 + index }), (positions) => {
        const inOrder = positions.toSorted((a, b) => a.seq - b.seq || a.index - b.index);
        let marks: Watermarks = {};
        for (const [n, { seq, index }] of inOrder.entries()) {
          for (const [m, other] of inOrder.entries())
            expect(isCommitted(marks, event(at(other.seq, other.seq, "p1", other.index)))).toBe(m < n);
          marks = raiseWatermarks(marks, event(at(seq, seq, "p1", index)), 0);
        }
      }),
    );
  });

  it("keep hooks apart from other invocations, because hooks may run first", () => {
    const marks = raiseWatermarks(undefined, hook(at(9)), 0);
    expect([isCommitted(marks, hook(at(9))), isCommitted(marks, event(at(8)))]).toEqual([true, false]);
  });

  it("treat a message of a recreated stream as new, whatever its sequence", () => {
    const marks = raiseWatermarks(undefined, event(at(9, 1_000)), 1_000);
    expect(isCommitted(marks, event(at(2, 2_000)))).toBe(false);
    const recreated = raiseWatermarks(marks, event(at(2, 2_000)), 2_000);
    expect([isCommitted(recreated, event(at(2, 2_000))), isCommitted(recreated, event(at(3, 2_001)))]).toEqual([true, false]);
  });

  it("recognize invocations after the clock of NATS stepped back", () => {
    let marks = raiseWatermarks(undefined, event(at(9, 1_000)), 0);
    marks = raiseWatermarks(marks, event(at(10, 500)), 0);
    expect([isCommitted(marks, event(at(9, 1_000))), isCommitted(marks, event(at(11, 600)))]).toEqual([true, false]);
  });

  it("recognize invocations that were moved twice, or committed by the old pool before or during the move", () => {
    const moved = (seq: number, from: number): Positioned => event(at(seq, 20_000 + seq, "p2"), at(from));
    const before = raiseWatermarks(undefined, event(at(5)), 10_000);
    expect([4, 5, 6].map((from) => isCommitted(before, moved(30, from)))).toEqual([true, true, false]);
    const during = raiseWatermarks(undefined, event(at(5)), 21_000);
    expect([isCommitted(during, moved(30, 5)), isCommitted(during, moved(31, 6))]).toEqual([true, false]);
    const marks = raiseWatermarks(before, moved(31, 6), 100_000);
    expect([isCommitted(marks, moved(40, 6)), isCommitted(marks, moved(41, 7))]).toEqual([true, false]);
  });

  it("do not mark a moved invocation as committed when the source returns and runs later ones", () => {
    const moved = event(at(31, 31, "p2"), at(6));
    let marks = raiseWatermarks(undefined, event(at(5)), 10);
    marks = raiseWatermarks(marks, event(at(8)), 32);
    expect(isCommitted(marks, moved)).toBe(false);
  });

  it("stay at most twelve, however often a source moves", () => {
    let marks: Watermarks = {};
    for (let n = 1; n <= 100; n++) marks = raiseWatermarks(marks, event(at(n, n, `p${n}`)), n);
    expect(Object.keys(marks)).toHaveLength(12);
    expect(isCommitted(marks, event(at(100, 100, "p100")))).toBe(true);
  });
});
