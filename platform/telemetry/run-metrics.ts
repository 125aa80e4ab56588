import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { RunMetrics } from "../../runner/ports.ts";
import type { QueueCounts } from "../../runner/schedule/ports.ts";

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300];
const none: QueueCounts = {
  running: 0,
  waiting: 0,
  heldBack: 0,
  blocked: { owner_quota: 0, owner_commits: 0 },
  fullSources: 0,
  fullOwners: 0,
};

export function createRunMetrics(registry: Registry, pool: string): RunMetrics {
  const registers = [registry];
  let look = (): QueueCounts => none;
  const runs = new Counter({
    name: "headwater_runs_total",
    help: "Runs that have ended in the sandbox, by outcome.",
    labelNames: ["pool", "outcome"],
    registers,
  });
  runs.inc({ pool, outcome: "returned" }, 0); // Zero rather than absent: rate() needs a first value.
  const duration = new Histogram({
    name: "headwater_run_duration_seconds",
    help: "Time of a run in the sandbox.",
    labelNames: ["pool"],
    buckets: seconds,
    registers,
  });
  const waited = new Histogram({
    name: "headwater_invocation_wait_seconds",
    help: "Time from storing an invocation to the start of its run, unless its owner's quota has held it back.",
    labelNames: ["pool"],
    buckets: seconds,
    registers,
  });
  // Finding the series of labels costs more than an observation.
  const [durations, waits] = [duration.labels({ pool }), waited.labels({ pool })];
  const returned = runs.labels({ pool, outcome: "returned" });
  const gauge = (name: string, help: string, of: (counts: QueueCounts) => number): void =>
    void new Gauge({
      name,
      help,
      labelNames: ["pool"],
      registers,
      collect() {
        this.set({ pool }, of(look()));
      },
    });
  gauge("headwater_runs_running", "Runs in progress in this runner.", ({ running }) => running);
  gauge("headwater_runs_waiting", "Invocations queued in this runner, except those that a quota holds back.", ({ waiting }) => waiting);
  parked(registry, pool, () => look());
  full(registry, pool, () => look());
  return {
    ran: (outcome, durationMs) => {
      if (outcome === "returned") returned.inc();
      else runs.inc({ pool, outcome });
      durations.observe(durationMs / 1_000);
    },
    waited: (ms) => waits.observe(ms / 1_000),
    counts: (given) => {
      look = given;
    },
  };
}

function parked(registry: Registry, pool: string, look: () => QueueCounts): void {
  const gauge: Gauge<"pool" | "reason"> = new Gauge({
    name: "headwater_runs_parked",
    help: "Sources that wait because their owner has reached its concurrent runs, its daily quota or its maximum of unprocessed commits.",
    labelNames: ["pool", "reason"],
    registers: [registry],
    collect() {
      const { heldBack, blocked } = look();
      gauge.set({ pool, reason: "owner_runs" }, heldBack);
      for (const [reason, sources] of Object.entries(blocked)) gauge.set({ pool, reason }, sources);
    },
  });
}

function full(registry: Registry, pool: string, look: () => QueueCounts): void {
  const gauge: Gauge<"pool" | "kind"> = new Gauge({
    name: "headwater_backlog_full",
    help: "Sources and owners whose backlog in this runner is full: their endpoints respond with 429.",
    labelNames: ["pool", "kind"],
    registers: [registry],
    collect() {
      const { fullSources, fullOwners } = look();
      gauge.set({ pool, kind: "source" }, fullSources);
      gauge.set({ pool, kind: "owner" }, fullOwners);
    },
  });
}
