import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decideScale,
  stabilisationMs,
  stepDownMs,
  requiredReplicas,
  type ScaleMemory,
  type ScaleSpec,
} from "../../../operator/runner-pool/scaling.ts";

const usual: ScaleSpec = { minReplicas: 1, maxReplicas: 4, backlogPerReplica: 1_000 };
const sleepy: ScaleSpec = { ...usual, minReplicas: 0 };
const spec = fc
  .record({ min: fc.nat(5), more: fc.nat(8), backlogPerReplica: fc.integer({ min: 1, max: 5_000 }) })
  .map(({ min, more, backlogPerReplica }): ScaleSpec => ({ minReplicas: min, maxReplicas: Math.max(1, min + more), backlogPerReplica }));
const share = fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined });
const load = fc.record({ backlog: fc.nat(50_000), memoryShare: share, cpuShare: share });

describe("the number of runners", () => {
  const decide = (of: ScaleSpec, current: number, backlog: number | undefined, memoryShare?: number, cpuShare?: number) =>
    decideScale(of, { current, reporting: current, backlog, memoryShare, cpuShare, now: 0 }, {}).replicas;

  it.each([
    ["a sleeping pool sleeps on without a backlog", sleepy, 0, 0, undefined, 0],
    ["one event wakes it", sleepy, 0, 1, undefined, 1],
    ["a large backlog wakes several at once", sleepy, 0, 2_500, undefined, 3],
    ["a backlog beyond all bounds gets the most there may be", usual, 1, 1_000_000, undefined, 4],
    ["a share of a runner more is a whole runner", usual, 1, 1_001, undefined, 2],
    ["full memory asks for one more", usual, 1, 10, 0.8, 2],
    ["memory alone does not keep the last runner awake", sleepy, 0, 0, 0.7, 0],
    ["a raised minimum counts at once", { ...usual, minReplicas: 3 }, 1, 0, undefined, 3],
    ["a lowered maximum counts at once", { ...usual, maxReplicas: 2 }, 4, 100_000, undefined, 2],
    ["a pinned number outweighs the load", { ...usual, replicas: 7 }, 1, 0, undefined, 7],
    ["a number pinned to nothing outweighs the load", { ...usual, replicas: 0 }, 2, 5_000, undefined, 0],
    ["an unknown backlog changes nothing", usual, 3, undefined, undefined, 3],
    ["less to do does not end a runner at once", usual, 4, 0, undefined, 4],
  ])("%s", (_, of, current, backlog, memoryShare, replicas) => {
    expect(decide(of, current, backlog, memoryShare)).toBe(replicas);
  });

  it.each([
    ["busy CPUs ask for one more", usual, 1, 0.9, 2, "cpu"],
    ["CPUs at their target ask for none", usual, 2, 0.85, 2, "cpu"],
    ["CPU alone does not keep the last runner awake", sleepy, 0, 0.5, 0, "backlog"],
    ["busy CPUs ask for no more than the maximum", usual, 4, 1, 4, "bounds"],
  ] as const)("%s", (_, of, current, cpuShare, replicas, why) => {
    expect(decideScale(of, { current, reporting: current, backlog: 0, memoryShare: undefined, cpuShare, now: 0 }, {})).toMatchObject({
      replicas,
      why,
    });
  });

  it("adds no runner for the load of the others while requested ones start", () => {
    const input = { current: 2, reporting: 1, backlog: 0, memoryShare: 1, cpuShare: 1, now: 0 };
    expect(decideScale(usual, input, {})).toMatchObject({ replicas: 2 });
    expect(decideScale(usual, { ...input, reporting: 2 }, {})).toMatchObject({ replicas: 3 });
  });

  it("decreases by one after five quiet minutes, then by one each minute", () => {
    const seen = simulate(usual, 4, 900, () => 0);
    const falls = seen.flatMap((replicas, second) => (second > 0 && replicas < (seen[second - 1] ?? 0) ? [{ second, replicas }] : []));
    expect(falls).toEqual([
      { second: stabilisationMs / 1_000, replicas: 3 },
      { second: (stabilisationMs + stepDownMs) / 1_000, replicas: 2 },
      { second: (stabilisationMs + 2 * stepDownMs) / 1_000, replicas: 1 },
    ]);
  });

  it("stays within its bounds at any load", () => {
    fc.assert(
      fc.property(spec, load, fc.nat(20), (of, { backlog, memoryShare, cpuShare }, current) => {
        const { replicas } = decideScale(of, { current, reporting: current, backlog, memoryShare, cpuShare, now: 1_000 }, { lowSince: 0 });
        const inside = replicas >= of.minReplicas && replicas <= of.maxReplicas;
        expect(inside).toBe(true);
      }),
    );
  });

  it("never decreases when backlog or memory grow", () => {
    fc.assert(
      fc.property(
        spec,
        load,
        fc.nat(50_000),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.nat(20),
        (of, { backlog, memoryShare = 0, cpuShare = 0 }, more, fuller, current) => {
          const less = requiredReplicas(of, { reporting: current, backlog, memoryShare, cpuShare });
          const most = requiredReplicas(of, {
            reporting: current,
            backlog: backlog + more,
            memoryShare: Math.max(memoryShare, fuller),
            cpuShare: Math.max(cpuShare, fuller),
          });
          expect(most.replicas).toBeGreaterThanOrEqual(less.replicas);
        },
      ),
    );
  });

  it("does not decrease within five minutes of an increase, however the load changes", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5_000), { minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 90 }), (levels, seconds) => {
        const seen = simulate(sleepy, 0, 1_800, (second) => levels[Math.floor(second / seconds) % levels.length] ?? 0);
        let roseAt = Number.NEGATIVE_INFINITY;
        let fellAt = Number.NEGATIVE_INFINITY;
        for (const [second, replicas] of seen.entries()) {
          const before = seen[second - 1] ?? replicas;
          if (replicas > before) roseAt = second;
          if (replicas >= before) continue;
          expect(before - replicas).toBe(1);
          expect(second - roseAt).toBeGreaterThanOrEqual(stabilisationMs / 1_000);
          expect(second - fellAt).toBeGreaterThanOrEqual(stepDownMs / 1_000);
          fellAt = second;
        }
      }),
      { numRuns: 50 },
    );
  });
});

/** Replicas second by second under a load. */
function simulate(of: ScaleSpec, initial: number, seconds: number, backlogAt: (second: number) => number): readonly number[] {
  let [current, memory] = [initial, {} as ScaleMemory];
  return Array.from({ length: seconds }, (_, second) => {
    const decision = decideScale(
      of,
      { current, reporting: current, backlog: backlogAt(second), memoryShare: undefined, cpuShare: undefined, now: second * 1_000 },
      memory,
    );
    [current, memory] = [decision.replicas, decision.memory];
    return current;
  });
}
