import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { partitionOf } from "../../domain/partition.ts";
import { Shares } from "../../runner/shares.ts";

const entry = (seq: number, { source = "dc_a", owner = "u_a", bytes = 100, index = 0 } = {}) => ({
  source,
  owner,
  bytes,
  position: { seq, index },
});
const limits = { waiting: 4, waitingBytes: 1_000_000 };

describe("shares of what waits in a runner", () => {
  /**
   * Method: a flood is delivered, given back, delivered again when it is due and run one after the other; whatever the pace, all of it
   * is taken in, in order, and never more than the share at once.
   */
  it("take in all of a flood in the end, in order", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 5, max: 400 }),
        fc.integer({ min: 1, max: 6 }),
        (count, paceMs, waiting) => {
          const shares = new Shares({ ...limits, waiting });
          let due = Array.from({ length: count }, (_, seq) => ({ seq, at: 0 }));
          const held: number[] = [];
          const ran: number[] = [];
          for (let now = 0; ran.length < count && now < 200_000; now += paceMs) {
            const arriving = due.filter(({ at }) => at <= now);
            due = due.filter(({ at }) => at > now);
            for (const { seq } of arriving) {
              if (shares.admit(entry(seq), now)) held.push(seq);
              else due.push({ seq, at: now + shares.leave(entry(seq), now, held.length, 0) });
            }
            expect(held.length).toBeLessThanOrEqual(waiting);
            const next = held.shift();
            if (next === undefined) continue;
            shares.release(entry(next));
            shares.ran("dc_a", paceMs);
            ran.push(next);
          }
          expect(ran).toEqual(Array.from({ length: count }, (_, seq) => seq));
          expect(shares.givenBack).toBe(0);
        },
      ),
      { numRuns: 25 },
    );
  });

  it("are each owner's own, of each partition", () => {
    const shares = new Shares(limits);
    for (let seq = 1; seq <= 4; seq++) expect(shares.admit(entry(seq), 0)).toBe(true);
    expect(shares.admit(entry(5), 0)).toBe(false);
    expect(shares.admit(entry(6, { source: "dc_b", owner: "u_b" }), 0)).toBe(true);
    const elsewhere = Array.from({ length: 40 }, (_, n) => `dc_${n}`).find((id) => partitionOf(id) !== partitionOf("dc_a"));
    expect(shares.admit(entry(7, { source: elsewhere ?? "" }), 0)).toBe(true);
  });

  it("are counted in bytes as well, and there is always room for one", () => {
    const shares = new Shares({ waiting: 100, waitingBytes: 1_000 });
    expect(shares.admit(entry(1, { bytes: 5_000 }), 0)).toBe(true);
    expect(shares.admit(entry(2, { bytes: 1 }), 0)).toBe(false);
    shares.release(entry(1, { bytes: 5_000 }));
    expect(shares.admit(entry(2, { bytes: 1 }), 0)).toBe(true);
  });

  it("have what arrives behind something given back go the same way, so that it does not overtake", () => {
    const shares = new Shares({ ...limits, waiting: 1 });
    shares.admit(entry(1), 0);
    shares.admit(entry(2), 0);
    shares.release(entry(1));
    expect(shares.admit(entry(3), 0)).toBe(false);
    expect(shares.admit(entry(2), 500)).toBe(true);
  });

  it("do not wait for what went to another runner", () => {
    const shares = new Shares({ ...limits, waiting: 1 });
    shares.admit(entry(1), 0);
    shares.admit(entry(2), 0);
    shares.release(entry(1));
    // However long what else is in its message takes.
    expect(shares.sweep(1_000_000)).toEqual([]);
    shares.leave(entry(2), 0, 0, 0);
    expect(shares.sweep(1_000)).toEqual([]);
    expect(shares.sweep(120_000)).toEqual([{ source: "dc_a", owner: "u_a" }]);
    expect(shares.admit(entry(3), 120_000)).toBe(true);
  });

  it("spread what comes again over the time that its turn takes, a minute at most", () => {
    const shares = new Shares({ ...limits, waiting: 1 });
    shares.admit(entry(0), 0);
    const delays = Array.from({ length: 10_000 }, (_, n) => {
      expect(shares.admit(entry(n + 1), 0)).toBe(false);
      return shares.leave(entry(n + 1), 0, 0, 0);
    });
    expect(delays.toSorted((a, b) => a - b)).toEqual(delays);
    expect(new Set(delays).size).toBeGreaterThan(1_000);
    expect(Math.max(...delays)).toBeLessThan(60_000);
  });
});
