import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Scheduler, type SchedulerLimits, type Start } from "../../../runner/schedule/scheduler.ts";

const roomy: SchedulerLimits = { cores: 100, maxRuns: 1_000, maxOwnerRuns: 1_000 };
const limitsOf = fc.record({
  cores: fc.integer({ min: 1, max: 4 }),
  maxRuns: fc.integer({ min: 1, max: 8 }),
  maxOwnerRuns: fc.integer({ min: 1, max: 6 }),
});

/** What happens to a runner: a source becomes ready, a run ends at some cost or waits for I/O, an owner is blocked, time passes. */
const happening = fc.oneof(
  fc.record({ kind: fc.constant("ready" as const), owner: fc.nat(3), source: fc.nat(3), isUrgent: fc.boolean() }),
  fc.record({ kind: fc.constant("end" as const), pick: fc.nat(), cost: fc.integer({ min: 0, max: 5_000 }) }),
  fc.record({ kind: fc.constant("waitsForIo" as const), pick: fc.nat() }),
  fc.record({ kind: fc.constantFrom("block" as const, "unblock" as const), owner: fc.nat(3) }),
  fc.record({ kind: fc.constant("pass" as const), ms: fc.nat(20_000) }),
);

interface ReadySource {
  readonly owner: string;
  readonly isUrgent: boolean;
}

/** The scheduler, beside a simple record of the calls that it received. */
class Watched {
  readonly scheduler: Scheduler;
  readonly limits: SchedulerLimits;
  readonly ready = new Map<string, ReadySource>();
  readonly running = new Map<string, { owner: string; isComputing: boolean }>();
  readonly blocked = new Set<string>();
  now = 0;

  constructor(limits: SchedulerLimits) {
    this.limits = limits;
    this.scheduler = new Scheduler({ limits, now: () => this.now });
  }

  act(event: typeof happening extends fc.Arbitrary<infer T> ? T : never): void {
    switch (event.kind) {
      case "ready":
        return this.becomeReady(`${event.owner}/${event.source}`, String(event.owner), event.isUrgent);
      case "end":
        return this.end(event.pick, event.cost);
      case "waitsForIo": {
        const [source, run] = [...this.running][event.pick % Math.max(1, this.running.size)] ?? [];
        if (source === undefined || run === undefined) return;
        run.isComputing = false;
        return this.scheduler.waitsForIo(source);
      }
      case "block":
        this.blocked.add(String(event.owner));
        return this.scheduler.block(String(event.owner), "owner_quota");
      case "unblock":
        this.blocked.delete(String(event.owner));
        return this.scheduler.unblock(String(event.owner));
      case "pass":
        this.now += event.ms;
    }
  }

  becomeReady(source: string, owner: string, isUrgent = false): void {
    if (this.running.has(source)) return;
    this.ready.set(source, { owner, isUrgent: isUrgent || this.ready.get(source)?.isUrgent === true });
    this.scheduler.ready(source, owner, isUrgent);
  }

  end(pick: number, cost: number): void {
    const [source, run] = [...this.running][pick % Math.max(1, this.running.size)] ?? [];
    if (source === undefined || run === undefined) return;
    this.scheduler.charge(run.owner, cost);
    this.running.delete(source);
    this.scheduler.end(source);
  }

  startAll(): readonly Start[] {
    const starts: Start[] = [];
    for (let start = this.scheduler.next(); start !== undefined; start = this.scheduler.next()) {
      const ready = this.ready.get(start.source);
      expect(ready?.owner).toBe(start.owner);
      if (this.blocked.has(start.owner)) expect(ready?.isUrgent).toBe(true);
      this.ready.delete(start.source);
      this.running.set(start.source, { owner: start.owner, isComputing: true });
      starts.push(start);
    }
    return starts;
  }

  count(owner: string, isComputing?: boolean): number {
    return [...this.running.values()].filter((run) => run.owner === owner && (isComputing === undefined || run.isComputing)).length;
  }

  /** Whether a ready source may run under the rules that do not depend on measured costs. */
  get couldStart(): boolean {
    if (this.running.size >= this.limits.maxRuns) return false;
    const mayRun = [...this.ready.values()].filter(({ owner, isUrgent }) => isUrgent || !this.blocked.has(owner));
    return mayRun.some(({ owner }) => this.count(owner) === 0);
  }
}

function startAll(scheduler: Scheduler): number {
  let started = 0;
  while (scheduler.next() !== undefined) started++;
  return started;
}

const schedulerOf = (limits: Partial<SchedulerLimits> = {}, weightOf?: (owner: string) => number): Scheduler =>
  new Scheduler({ limits: { ...roomy, ...limits }, now: () => 0, ...(weightOf === undefined ? {} : { weightOf }) });

describe("the scheduler", () => {
  /** Method: random events within random limits. After each, no limit is exceeded, and every owner with startable work has a run. */
  it("exceeds no limit, and starts a run of each owner while there is room", () => {
    fc.assert(
      fc.property(limitsOf, fc.array(happening, { maxLength: 60 }), (limits, events) => {
        const watched = new Watched(limits);
        for (const event of events) {
          watched.act(event);
          watched.startAll();
          expect(watched.couldStart).toBe(false);
          expect(watched.running.size).toBeLessThanOrEqual(limits.maxRuns);
          for (const owner of ["0", "1", "2", "3"]) expect(watched.count(owner)).toBeLessThanOrEqual(limits.maxOwnerRuns);
          expect(watched.scheduler.running).toBe(watched.running.size);
        }
      }),
    );
  });

  /** Method: as before, then all runs end, all owners are unblocked and nothing more arrives. */
  it("eventually starts every run", () => {
    fc.assert(
      fc.property(limitsOf, fc.array(happening, { maxLength: 60 }), (limits, events) => {
        const watched = new Watched(limits);
        for (const event of events) {
          watched.act(event);
          watched.startAll();
        }
        for (const owner of [0, 1, 2, 3]) watched.act({ kind: "unblock", owner });
        for (watched.startAll(); watched.running.size > 0; watched.startAll()) watched.end(0, 1);
        expect(watched.ready.size).toBe(0);
      }),
    );
  });

  it("starts an owner's first run soon, whatever the runs of another owner cost", () => {
    fc.assert(
      fc.property(limitsOf, fc.array(fc.integer({ min: 0, max: 100_000 }), { minLength: 1, maxLength: 20 }), (limits, costs) => {
        const watched = new Watched(limits);
        for (let flood = 0; flood < 10; flood++) watched.becomeReady(`flood/${flood}`, "flood");
        watched.startAll();
        watched.becomeReady("other/1", "other");
        for (let ends = 0; watched.ready.has("other/1"); ends++) {
          expect(ends).toBeLessThan(2);
          for (let flood = 0; flood < 10; flood++) watched.becomeReady(`flood/${flood}`, "flood");
          watched.end(0, costs[ends % costs.length] ?? 0);
          watched.startAll();
        }
      }),
    );
  });

  it("starts a run of the owner with the least measured cost", () => {
    const scheduler = schedulerOf({ maxRuns: 1 });
    for (const source of ["a1", "a2", "a3"]) scheduler.ready(source, "a");
    scheduler.next();
    scheduler.ready("b1", "b");
    scheduler.charge("a", 500);
    scheduler.end("a1");
    expect(scheduler.next()).toEqual({ source: "b1", owner: "b" });
  });

  it("alternates between an owner of 10,000 sources and an owner of ten", () => {
    const scheduler = schedulerOf({ maxRuns: 1 });
    for (let n = 0; n < 10_000; n++) scheduler.ready(`a${n}`, "a");
    for (let n = 0; n < 10; n++) scheduler.ready(`b${n}`, "b");
    const owners = Array.from({ length: 20 }, () => {
      const start = scheduler.next();
      scheduler.end(start?.source ?? "");
      return start?.owner;
    });
    expect(owners.filter((owner) => owner === "b")).toHaveLength(10);
  });

  it("gives twice the time to an owner of twice the weight", () => {
    const scheduler = schedulerOf({ maxRuns: 1 }, (owner) => (owner === "big" ? 2 : 1));
    const runs = { big: 0, small: 0 };
    for (let n = 0; n < 300; n++) {
      for (const owner of ["big", "small"]) scheduler.ready(`${owner}${n}`, owner);
      const start = scheduler.next();
      if (start === undefined) throw new Error("nothing starts");
      runs[start.owner === "big" ? "big" : "small"]++;
      scheduler.charge(start.owner, 10);
      scheduler.end(start.source);
    }
    expect(runs.big / runs.small).toBeCloseTo(2, 1);
  });

  it("starts urgent sources of an owner first, then the others in order", () => {
    const scheduler = schedulerOf({ maxRuns: 1 });
    for (const source of ["x", "c", "a"]) scheduler.ready(source, "o");
    scheduler.ready("hook", "o", true);
    const ran = Array.from({ length: 4 }, () => {
      const start = scheduler.next();
      scheduler.end(start?.source ?? "");
      return start?.source;
    });
    expect(ran).toEqual(["hook", "x", "c", "a"]);
  });

  it("lets an owner that is alone use its maximum of runs, and fewer beside others", () => {
    let now = 0;
    const scheduler = new Scheduler({ limits: { cores: 2, maxRuns: 50, maxOwnerRuns: 20 }, now: () => now });
    for (let n = 0; n < 60; n++) scheduler.ready(`a${n}`, "a");
    expect(startAll(scheduler)).toBe(20);
    scheduler.ready("b1", "b");
    for (let n = 0; n < 20; n++) scheduler.end(`a${n}`);
    expect(startAll(scheduler)).toBe(1 + 2);
    scheduler.end("b1");
    now = 20_000;
    for (let n = 20; n < 22; n++) scheduler.end(`a${n}`);
    expect(startAll(scheduler)).toBe(20);
  });

  it("leaves room for owners that arrive later, however many runs wait for I/O", () => {
    const scheduler = schedulerOf({ maxRuns: 100, maxOwnerRuns: 40 });
    const runsOf = (owner: string): number => {
      let started = 0;
      for (let n = 0; n < 100; n++) scheduler.ready(`${owner}${n}`, owner);
      for (let start = scheduler.next(); start !== undefined; start = scheduler.next()) {
        started++;
        scheduler.waitsForIo(start.source);
      }
      return started;
    };
    expect(["a", "b", "c", "d"].map(runsOf)).toEqual([40, 30, 15, 8]);
    for (const source of ["a0", "a1"]) scheduler.end(source);
    expect(scheduler.next()?.owner).toBe("d");
  });

  it("lets fewer runs of an owner compute beside others the more they cost", () => {
    const scheduler = schedulerOf({ cores: 2 });
    let n = 0;
    const computing = (costMs: number, runs: number): number => {
      for (let run = 0; run < runs; run++) {
        scheduler.ready(`a${++n}`, "a");
        scheduler.next();
        scheduler.charge("a", costMs);
        scheduler.end(`a${n}`);
      }
      scheduler.ready("b1", "b");
      const sources = Array.from({ length: 10 }, () => `a${++n}`);
      for (const source of sources) scheduler.ready(source, "a");
      const started = startAll(scheduler) - 1;
      for (const source of sources) {
        scheduler.withdraw(source, "a");
        scheduler.end(source);
      }
      scheduler.end("b1");
      return started;
    };
    expect([computing(0, 0), computing(0.5, 100), computing(8, 100), computing(40, 100), computing(0.5, 100)]).toEqual([2, 8, 4, 1, 8]);
    // One run that computes for seconds changes the average, but not for long.
    expect([computing(5_000, 1), computing(0.5, 60)]).toEqual([1, 8]);
  });

  it("lets long runs of an owner compute on at most half of the cores", () => {
    const scheduler = schedulerOf({ cores: 8 });
    scheduler.ready("b", "b");
    for (let n = 0; n < 20; n++) {
      scheduler.ready(`a${n}`, "a");
      scheduler.charge("a", 5_000);
    }
    expect(startAll(scheduler)).toBe(1 + 4);
  });

  it("shares the cost in flight among many owners", () => {
    const scheduler = schedulerOf({ cores: 2 });
    for (let run = 0; run < 100; run++)
      for (let owner = 0; owner < 96; owner++) {
        scheduler.ready(`${owner}`, `u${owner}`);
        scheduler.next();
        scheduler.charge(`u${owner}`, 1);
        scheduler.end(`${owner}`);
      }
    for (let n = 0; n < 20; n++) for (let owner = 0; owner < 96; owner++) scheduler.ready(`${owner}/${n}`, `u${owner}`);
    expect(startAll(scheduler)).toBe(96);
  });

  it("keeps the expected cost of an idle owner's runs", () => {
    const scheduler = schedulerOf({ cores: 2 });
    scheduler.ready("a1", "a");
    scheduler.next();
    scheduler.charge("a", 500);
    scheduler.end("a1");
    // Others run as long in the meantime, so that the owner is not behind any more.
    for (let n = 0; n < 600; n++) {
      scheduler.ready("b1", "b");
      scheduler.next();
      scheduler.charge("b", 5);
      scheduler.end("b1");
    }
    for (let n = 0; n < 5; n++) scheduler.ready(`a${n}`, "a");
    expect(startAll(scheduler)).toBe(1);
  });

  it("starts one more run of a contended owner when a run waits for I/O", () => {
    const scheduler = schedulerOf({ cores: 2 });
    scheduler.ready("b1", "b");
    for (let n = 0; n < 6; n++) scheduler.ready(`a${n}`, "a");
    expect(startAll(scheduler)).toBe(1 + 2);
    scheduler.waitsForIo("a0");
    expect(scheduler.next()?.source).toBe("a2");
    scheduler.waitsForIo("a0");
    expect(scheduler.next()).toBeUndefined();
  });

  it("counts the sources that wait because of their owner's other runs, and because their owner is blocked", () => {
    const scheduler = schedulerOf({ maxOwnerRuns: 1 });
    for (const source of ["a1", "a2", "a3"]) scheduler.ready(source, "a");
    scheduler.ready("b1", "b");
    scheduler.block("c", "owner_quota");
    scheduler.block("d", "owner_commits");
    for (const source of ["c1", "d1", "d2"]) scheduler.ready(source, source.slice(0, 1));
    startAll(scheduler);
    expect([scheduler.running, scheduler.heldBack()]).toEqual([2, 2]);
    expect([scheduler.blocked("owner_quota"), scheduler.blocked("owner_commits")]).toEqual([1, 2]);
  });
});
