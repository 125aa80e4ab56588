import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { partitionOf } from "../../domain/partition.ts";
import { Overflow, type AsideGate } from "../../runner/overflow.ts";
import { Shares } from "../../runner/shares.ts";

const limits = { waiting: 4, waitingBytes: 1_000_000, outstanding: 8, partitionOutstanding: 20 };
const usual = { isKept: false, goesBefore: false, isParked: false };
const entry = (seq: number, { source = "dc_a", owner = "u_a" } = {}) => ({ source, owner, bytes: 100, position: { seq, index: 0 } });
/** In the partition of `dc_a`. */
const beside = (name: string): string =>
  Array.from({ length: 500 }, (_, n) => `dc_${name}${n}`).find((id) => partitionOf(id) === partitionOf("dc_a")) ?? "";

/** What lies aside, by source in the order in which it was laid there. */
function withAsides() {
  const aside = new Map<string, number[]>();
  const gate: AsideGate & { room: boolean } = {
    size: 0,
    room: true,
    holds: (source: string): boolean => (aside.get(source)?.length ?? 0) > 0,
    hasRoom: (): boolean => gate.room,
    wake: () => undefined,
  };
  const shares = new Shares(limits);
  const overflow = new Overflow(shares, limits, gate);
  const place = (seq: number, of: Parameters<typeof entry>[1] = {}, standing = usual): string => {
    const shared = entry(seq, of);
    const where = overflow.place(shared, standing, 0);
    if (where === "aside") aside.set(shared.source, [...(aside.get(shared.source) ?? []), seq]);
    return where;
  };
  return { aside, gate, shares, overflow, place };
}

describe("where an invocation waits", () => {
  it("is here as far as the share goes, back in the stream up to the mark, and aside beyond it", () => {
    const { place } = withAsides();
    const places = Array.from({ length: 12 }, (_, n) => place(n + 1));
    expect(places).toEqual([...Array(4).fill("here"), ...Array(4).fill("back"), ...Array(4).fill("aside")]);
    expect(place(13, { source: beside("b"), owner: "u_b" })).toBe("here");
  });

  it("is aside for whoever is beyond a share while half of the partition's window is in use", () => {
    const { place } = withAsides();
    const owners = Array.from({ length: 5 }, (_, n) => ({ source: beside(`o${n}x`), owner: `u_${n}` }));
    for (const [at, of] of owners.entries()) for (let n = 0; n < 4; n++) place(10 * at + n, of);
    expect(place(90, owners[0])).toBe("aside");
  });

  it("is behind what lies aside, but for what goes before all that waits, and what came again", () => {
    const { place, aside, overflow, shares } = withAsides();
    for (let seq = 1; seq <= 9; seq++) place(seq);
    for (let seq = 1; seq <= 4; seq++) shares.release(entry(seq));
    expect(place(10)).toBe("aside");
    expect(place(11, {}, { ...usual, goesBefore: true })).toBe("here");
    expect(place(12, {}, { ...usual, isKept: true })).toBe("here");
    expect(overflow.roomFor("dc_a", "u_a", true)).toBe(0);
    for (let seq = 5; seq <= 6; seq++) expect(place(seq)).toBe("here");
    for (let seq = 7; seq <= 8; seq++) expect(place(seq)).toBe("back");
    expect(aside.get("dc_a")).toEqual([9, 10]);
  });

  it("takes up no more than leaves half of the share to others, and one of whoever has nothing here", () => {
    const { overflow, place } = withAsides();
    expect(overflow.roomFor("dc_a", "u_a", false)).toBe(2);
    for (let seq = 1; seq <= 3; seq++) place(seq);
    expect(overflow.roomFor("dc_a", "u_a", true)).toBe(0);
    expect(overflow.roomFor(beside("b"), "u_a", false)).toBe(1);
  });

  /** Method: whatever is given back since there is no room aside comes again in any order; the oracle is the order of arrival. */
  it("keeps the order of a source when it cannot be laid aside at once", () => {
    fc.assert(
      fc.property(fc.array(fc.record({ room: fc.boolean(), pick: fc.nat() }), { maxLength: 80 }), (steps) => {
        const { aside, gate, place, overflow } = withAsides();
        for (let seq = 1; seq <= 9; seq++) place(seq);
        const late: number[] = [];
        let next = 10;
        for (const { room, pick } of steps) {
          gate.room = room;
          const [seq = next++] = pick % 2 === 0 ? late.splice(pick % Math.max(1, late.length), 1) : [];
          if (place(seq) === "aside") continue;
          late.push(seq);
          expect(overflow.leave(entry(seq), 0)).toBeGreaterThan(0);
        }
        gate.room = true;
        for (let rounds = 0; late.length > 0 && rounds < 100; rounds++)
          for (const seq of late.splice(0)) if (place(seq) !== "aside") late.push(seq);
        expect(aside.get("dc_a")).toEqual(Array.from({ length: next - 9 }, (_, n) => n + 9));
      }),
    );
  });
});
