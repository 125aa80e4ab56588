import { describe, expect, it } from "vitest";
import { Scheduler, schedulerLimits } from "../../../runner/schedule/scheduler.ts";

/**
 * The scheduler with a simulated clock and a simulated machine: runs that compute share the cores evenly, then each commit is written one
 * after the other. Measured is the time from the arrival of a neighbour's invocation to its commit.
 */
interface Load {
  /** CPU time of a run, ms. */
  readonly cpuMs: number;
  /** Time that it then waits for I/O, ms. */
  readonly waitMs: number;
  /** Time to write its commit, ms. */
  readonly commitMs: number;
}

interface SimulatedRun {
  readonly load: Load;
  readonly arrivedAt: number;
  leftMs: number;
  phase: "computing" | "waiting" | "committing";
  /** When waiting ends. */
  until: number;
  reported: boolean;
}

const cores = 2;
const stepMs = 0.25;
/** A child reports a run that waits for I/O after so long. */
const reportsAfterMs = 50;
const trivial: Load = { cpuMs: 2, waitMs: 0, commitMs: 3 };

class Simulation {
  now = 0;
  readonly scheduler = new Scheduler({ limits: schedulerLimits(cores, 100), now: () => this.now });
  readonly #queues = new Map<string, { readonly owner: string; readonly load: Load; readonly arrivals: number[] }>();
  readonly #runs = new Map<string, SimulatedRun>();
  readonly #commits: string[] = [];
  readonly latencies = new Map<string, number[]>();

  arrive(source: string, owner: string, load: Load): void {
    const queue = this.#queues.get(source) ?? { owner, load, arrivals: [] };
    this.#queues.set(source, queue);
    queue.arrivals.push(this.now);
    if (!this.#runs.has(source)) this.scheduler.ready(source, owner);
  }

  /** One neighbour with eight sources, of which one gets an invocation every 20 ms; the attackers' work arrives as it likes. */
  run(durationMs: number, attack: (simulation: Simulation) => void): void {
    for (const end = this.now + durationMs; this.now < end; this.now += stepMs) {
      const tick = Math.round(this.now / stepMs);
      if (tick % (20 / stepMs) === 0) this.arrive(`quiet${(tick / (20 / stepMs)) % 8}`, "quiet", trivial);
      attack(this);
      this.#start();
      this.#compute();
      this.#commit();
    }
  }

  waiting(source: string): number {
    return this.#queues.get(source)?.arrivals.length ?? 0;
  }

  #start(): void {
    for (let start = this.scheduler.next(); start !== undefined; start = this.scheduler.next()) {
      const queue = this.#queues.get(start.source);
      const arrivedAt = queue?.arrivals.shift();
      if (queue === undefined || arrivedAt === undefined) throw new Error(`${start.source} has nothing to run`);
      const { load } = queue;
      this.#runs.set(start.source, { load, arrivedAt, leftMs: load.cpuMs, phase: "computing", until: 0, reported: false });
    }
  }

  #compute(): void {
    const computing = [...this.#runs.values()].filter(({ phase }) => phase === "computing").length;
    const shareMs = stepMs * Math.min(1, cores / Math.max(1, computing));
    for (const [source, run] of this.#runs) {
      if (run.phase === "computing" && (run.leftMs -= shareMs) <= 0) {
        run.phase = "waiting";
        run.until = this.now + run.load.waitMs;
      }
      if (run.phase !== "waiting") continue;
      if (this.now >= run.until) {
        run.phase = "committing";
        run.leftMs = run.load.commitMs;
        this.scheduler.charge(this.#queues.get(source)?.owner ?? "", run.load.cpuMs);
        this.#commits.push(source);
      } else if (!run.reported && run.until - this.now < run.load.waitMs - reportsAfterMs) {
        run.reported = true;
        this.scheduler.waitsForIo(source);
      }
    }
  }

  #commit(): void {
    const [source = ""] = this.#commits;
    const run = this.#runs.get(source);
    const queue = this.#queues.get(source);
    if (run === undefined || queue === undefined || (run.leftMs -= stepMs) > 0) return;
    this.#commits.shift();
    this.#runs.delete(source);
    const latencies = this.latencies.get(queue.owner) ?? [];
    this.latencies.set(queue.owner, latencies);
    latencies.push(this.now - run.arrivedAt);
    this.scheduler.end(source);
    if (queue.arrivals.length > 0) this.scheduler.ready(source, queue.owner);
  }
}

function p95(latencies: readonly number[] = []): number {
  return latencies.toSorted((a, b) => a - b)[Math.floor(latencies.length * 0.95)] ?? Number.NaN;
}

/** As many sources of each attacker as there are, each with the next invocation waiting at all times. */
const attackOf =
  (owners: number, sources: number, load: Load) =>
  (simulation: Simulation): void => {
    for (let owner = 0; owner < owners; owner++)
      for (let n = 0; n < sources; n++) {
        const source = `attack${owner}/${n}`;
        if (simulation.waiting(source) === 0) simulation.arrive(source, `attacker${owner}`, load);
      }
  };

describe("a neighbour's p95", () => {
  const quiet = new Simulation();
  quiet.run(5_000, () => undefined);
  const quietMs = p95(quiet.latencies.get("quiet"));

  it.each([
    ["busy loops", 1, { cpuMs: 5_000, waitMs: 0, commitMs: 3 }],
    ["memory bombs", 1, { cpuMs: 400, waitMs: 0, commitMs: 3 }],
    ["floods of emits", 1, { cpuMs: 15, waitMs: 0, commitMs: 5 }],
    ["slow fetches", 1, { cpuMs: 1, waitMs: 2_000, commitMs: 3 }],
    ["slow fetches of two owners", 2, { cpuMs: 1, waitMs: 2_000, commitMs: 3 }],
  ])("is at most twice as high beside %s", (_name, owners, load) => {
    const simulation = new Simulation();
    simulation.run(1_000, () => undefined);
    simulation.run(10_000, attackOf(owners, 60, load));
    expect(p95(simulation.latencies.get("quiet"))).toBeLessThanOrEqual(2 * quietMs);
    expect(simulation.latencies.get("attacker0")?.length ?? 0).toBeGreaterThanOrEqual(2);
  });

  it("stays below a second beside one slow source with a backlog of 50,000", () => {
    const simulation = new Simulation();
    for (let n = 0; n < 50_000; n++) simulation.arrive("slow", "attacker", { cpuMs: 1, waitMs: 100, commitMs: 3 });
    simulation.run(20_000, () => undefined);
    const latencies = simulation.latencies.get("quiet") ?? [];
    expect(p95(latencies)).toBeLessThanOrEqual(2 * quietMs);
    expect(Math.max(...latencies)).toBeLessThan(1_000);
  });

  it("stays fair beside an owner that always has trivial runs queued", () => {
    const simulation = new Simulation();
    simulation.run(1_000, () => undefined);
    simulation.run(10_000, attackOf(1, 60, trivial));
    // Its runs in flight, eight at most, are all that one of the neighbour waits for.
    expect(p95(simulation.latencies.get("quiet"))).toBeLessThanOrEqual(quietMs + 9 * trivial.commitMs);
  });
});
