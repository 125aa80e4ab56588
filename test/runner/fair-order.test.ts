import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FairOrder, type RunLimits, type Turn } from "../../runner/fair-order.ts";

const roomy: RunLimits = {
  runs: 1_000,
  ownerRuns: 1_000,
  freshRuns: 1_000,
  ownerPresentRuns: 1_000,
  ownerPresentMs: 1_000_000,
  ownerCostlyRuns: 1_000,
};
const limitsOf = fc.record({
  runs: fc.integer({ min: 1, max: 6 }),
  ownerRuns: fc.integer({ min: 1, max: 4 }),
  freshRuns: fc.integer({ min: 1, max: 5 }),
  ownerPresentRuns: fc.integer({ min: 1, max: 3 }),
  ownerPresentMs: fc.integer({ min: 0, max: 100 }),
  ownerCostlyRuns: fc.integer({ min: 1, max: 2 }),
});

/** What happens to a runner: a source gets work, a run ends at some cost, a run grows old or waits for somebody else, time passes. */
const happening = fc.oneof(
  fc.record({ kind: fc.constant("wait" as const), owner: fc.nat(3), source: fc.nat(3) }),
  fc.record({ kind: fc.constant("end" as const), pick: fc.nat(), cost: fc.integer({ min: 0, max: 5_000 }) }),
  fc.record({ kind: fc.constant("grow" as const), pick: fc.nat() }),
  fc.record({ kind: fc.constant("pause" as const), pick: fc.nat() }),
  fc.record({ kind: fc.constant("pass" as const), ms: fc.nat(20_000) }),
);

/** The scheduler beside the plainest account of what it was told. */
class Watched {
  readonly order: FairOrder;
  readonly limits: RunLimits;
  readonly ready = new Map<string, string>();
  readonly running = new Map<string, { owner: string; fresh: boolean; present: boolean }>();
  readonly seen = new Map<string, number>();
  now = 0;

  constructor(limits: RunLimits, weightOf?: (owner: string) => number) {
    this.limits = limits;
    this.order = new FairOrder(limits, weightOf);
  }

  wait(source: string, owner: string): void {
    if (this.ready.has(source) || this.running.has(source)) return;
    this.ready.set(source, owner);
    this.seen.set(owner, this.now);
    this.order.wait(source, owner, this.now);
  }

  end(pick: number, cost: number): void {
    const run = [...this.running][pick % Math.max(1, this.running.size)];
    if (run === undefined) return;
    const [source, { owner }] = run;
    this.order.charge(owner, cost);
    this.running.delete(source);
    this.seen.set(owner, this.now);
    this.order.end(source, this.now);
  }

  grow(pick: number): void {
    const [source, run] = [...this.running][pick % Math.max(1, this.running.size)] ?? [];
    if (source === undefined || run === undefined) return;
    run.fresh = false;
    this.order.grow(source);
  }

  pause(pick: number): void {
    const [source, run] = [...this.running][pick % Math.max(1, this.running.size)] ?? [];
    if (source === undefined || run === undefined) return;
    run.fresh = false;
    run.present = false;
    this.order.pause(source);
  }

  startAll(): readonly Turn[] {
    const turns: Turn[] = [];
    for (let turn = this.order.next(this.now); turn !== undefined; turn = this.order.next(this.now)) {
      expect(this.ready.get(turn.source)).toBe(turn.owner);
      this.ready.delete(turn.source);
      this.running.set(turn.source, { owner: turn.owner, fresh: true, present: true });
      this.seen.set(turn.owner, this.now);
      turns.push(turn);
    }
    return turns;
  }

  get fresh(): number {
    return [...this.running.values()].filter(({ fresh }) => fresh).length;
  }

  count(owner: string, presentOnly: boolean): number {
    return [...this.running.values()].filter((run) => run.owner === owner && (!presentOnly || run.present)).length;
  }

  hasNeighbours(owner: string): boolean {
    return [...this.seen].some(([other, at]) => other !== owner && this.now - at < 10_000);
  }

  /** Whether a ready source could run without a limit being passed, whatever runs of its owner cost. */
  get couldRun(): boolean {
    const { runs, freshRuns, ownerRuns, ownerPresentRuns, ownerCostlyRuns } = this.limits;
    if (this.running.size >= runs || this.fresh >= freshRuns) return false;
    const always = Math.min(ownerPresentRuns, ownerCostlyRuns);
    return [...new Set(this.ready.values())].some(
      (owner) => this.count(owner, false) < ownerRuns && (!this.hasNeighbours(owner) || this.count(owner, true) < always),
    );
  }
}

function act(watched: Watched, event: typeof happening extends fc.Arbitrary<infer T> ? T : never): void {
  switch (event.kind) {
    case "wait":
      return watched.wait(`${event.owner}/${event.source}`, String(event.owner));
    case "end":
      return watched.end(event.pick, event.cost);
    case "grow":
      return watched.grow(event.pick);
    case "pause":
      return watched.pause(event.pick);
    case "pass":
      watched.now += event.ms;
  }
}

function startAll(order: FairOrder, now: number): number {
  let started = 0;
  while (order.next(now) !== undefined) started++;
  return started;
}

describe("the fair order of runs", () => {
  /** Method: random events in random limits; after each, no limit is passed, each source runs once at most. */
  it("never passes a limit", () => {
    fc.assert(
      fc.property(limitsOf, fc.array(happening, { maxLength: 60 }), (limits, events) => {
        const watched = new Watched(limits);
        for (const event of events) {
          act(watched, event);
          const started = watched.startAll();
          for (const { owner } of started)
            if (watched.hasNeighbours(owner)) expect(watched.count(owner, true)).toBeLessThanOrEqual(limits.ownerPresentRuns);
          expect(watched.running.size).toBeLessThanOrEqual(limits.runs);
          expect(watched.fresh).toBeLessThanOrEqual(limits.freshRuns);
          for (const owner of watched.seen.keys()) expect(watched.count(owner, false)).toBeLessThanOrEqual(limits.ownerRuns);
          expect(watched.order.running).toBe(watched.running.size);
        }
      }),
    );
  });

  /** Time stands still here: an owner that is alone again is noticed at its next event, not by the clock. */
  it("leaves nothing waiting that could run", () => {
    const still = happening.filter(({ kind }) => kind !== "pass");
    fc.assert(
      fc.property(limitsOf, fc.array(still, { maxLength: 60 }), (limits, events) => {
        const watched = new Watched(limits);
        for (const event of events) {
          act(watched, event);
          watched.startAll();
          expect(watched.couldRun).toBe(false);
        }
      }),
    );
  });

  it("lets nothing wait for ever, whatever others cost", () => {
    fc.assert(
      fc.property(limitsOf, fc.array(fc.integer({ min: 0, max: 100_000 }), { minLength: 1, maxLength: 20 }), (limits, costs) => {
        const watched = new Watched(limits);
        watched.wait("victim/1", "victim");
        let turns = 0;
        for (let n = 0; watched.ready.get("victim/1") !== undefined && n < 400; n++) {
          for (let flood = 0; flood < 4; flood++) watched.wait(`flood/${flood}`, "flood");
          watched.startAll();
          watched.end(0, costs[n % costs.length] ?? 0);
          turns++;
        }
        expect(turns).toBeLessThan(400);
      }),
    );
  });

  it("gives the next place to the owner that was given least", () => {
    const order = new FairOrder({ ...roomy, runs: 1 });
    for (const source of ["a1", "a2", "a3"]) order.wait(source, "a", 0);
    order.next(0);
    order.wait("b1", "b", 0);
    order.charge("a", 500);
    order.end("a1", 0);
    expect(order.next(0)).toEqual({ source: "b1", owner: "b" });
  });

  it("serves 10,000 waiting sources of one owner and ten of another in turns", () => {
    const order = new FairOrder({ ...roomy, runs: 1 });
    for (let n = 0; n < 10_000; n++) order.wait(`a${n}`, "a", 0);
    for (let n = 0; n < 10; n++) order.wait(`b${n}`, "b", 0);
    const owners = Array.from({ length: 20 }, () => {
      const turn = order.next(0);
      order.end(turn?.source ?? "", 0);
      return turn?.owner;
    });
    expect(owners.filter((owner) => owner === "b")).toHaveLength(10);
  });

  it("gives twice as much to an owner of twice the weight", () => {
    const order = new FairOrder({ ...roomy, runs: 1 }, (owner) => (owner === "big" ? 2 : 1));
    const given = { big: 0, small: 0 };
    for (let n = 0; n < 300; n++) {
      for (const owner of ["big", "small"]) order.wait(`${owner}${n}`, owner, 0);
      const turn = order.next(0);
      if (turn === undefined) throw new Error("nothing runs");
      given[turn.owner === "big" ? "big" : "small"]++;
      order.charge(turn.owner, 10);
      order.end(turn.source, 0);
    }
    expect(given.big / given.small).toBeCloseTo(2, 1);
  });

  it("keeps the sources of an owner in order", () => {
    const order = new FairOrder({ ...roomy, runs: 1 });
    const sources = ["x", "c", "a", "b"];
    for (const source of sources) order.wait(source, "o", 0);
    const ran = sources.map(() => {
      const turn = order.next(0);
      order.end(turn?.source ?? "", 0);
      return turn?.source;
    });
    expect(ran).toEqual(sources);
  });

  it("lets an owner that is alone run as much as there is room for, and less beside a neighbour", () => {
    const order = new FairOrder({ ...roomy, runs: 50, ownerRuns: 40, freshRuns: 20, ownerPresentRuns: 4 });
    const start = (now: number): number => startAll(order, now);
    for (let n = 0; n < 60; n++) order.wait(`a${n}`, "a", 0);
    expect(start(0)).toBe(20);
    order.wait("b1", "b", 1);
    for (let n = 0; n < 20; n++) order.end(`a${n}`, 1);
    expect(start(1)).toBe(1 + 4);
    order.end("b1", 2);
    for (let n = 20; n < 24; n++) order.end(`a${n}`, 20_000);
    expect(start(20_000)).toBe(20);
  });

  it("lets fewer runs of an owner begin beside a neighbour, the more its runs cost", () => {
    const order = new FairOrder({ ...roomy, ownerPresentRuns: 8, ownerPresentMs: 20, ownerCostlyRuns: 2 });
    let n = 0;
    const fill = (costMs: number, runs: number): number => {
      for (let run = 0; run < runs; run++) {
        order.wait(`a${++n}`, "a", 0);
        order.next(0);
        order.charge("a", costMs);
        order.end(`a${n}`, 0);
      }
      order.wait("b1", "b", 0);
      const sources = Array.from({ length: 10 }, () => `a${++n}`);
      for (const source of sources) order.wait(source, "a", 0);
      const started = startAll(order, 0) - 1;
      for (const source of sources) {
        order.leave(source, "a");
        order.end(source, 0);
      }
      order.end("b1", 0);
      return started;
    };
    expect([fill(0, 0), fill(0.5, 100), fill(4, 100), fill(40, 100), fill(0.5, 100)]).toEqual([2, 8, 4, 2, 8]);
    // Of those that compute for seconds one is enough to know, and after some that do not it is forgotten.
    expect([fill(5_000, 1), fill(0.5, 60)]).toEqual([2, 8]);
  });

  it("remembers what the runs of an owner cost while it rests", () => {
    const order = new FairOrder({ ...roomy, ownerPresentMs: 20, ownerCostlyRuns: 1 });
    order.wait("a1", "a", 0);
    order.next(0);
    order.charge("a", 500);
    order.end("a1", 0);
    // Others are given as much meanwhile, so that there is no debt to remember.
    for (let n = 0; n < 600; n++) {
      order.wait("b1", "b", 1);
      order.next(1);
      order.charge("b", 5);
      order.end("b1", 1);
    }
    for (let n = 0; n < 5; n++) order.wait(`a${n}`, "a", 2);
    expect(startAll(order, 2)).toBe(1);
  });

  it("counts no run that waits for somebody else, and one that only lasts", () => {
    const order = new FairOrder({ ...roomy, ownerPresentRuns: 2, freshRuns: 3 });
    order.wait("b1", "b", 0);
    for (let n = 0; n < 6; n++) order.wait(`a${n}`, "a", 0);
    expect(startAll(order, 0)).toBe(3);
    order.grow("a0");
    expect(order.next(0)).toBeUndefined();
    order.pause("a0");
    expect(order.next(0)?.source).toBe("a2");
    order.pause("a0"); // Again: it counts once.
    expect(order.next(0)).toBeUndefined();
  });

  it("knows which sources wait because of their owner alone", () => {
    const order = new FairOrder({ ...roomy, ownerRuns: 1 });
    for (const source of ["a1", "a2", "a3"]) order.wait(source, "a", 0);
    order.wait("b1", "b", 0);
    while (order.next(0) !== undefined);
    expect([order.running, order.heldBack(0)]).toEqual([2, 2]);
  });
});
