import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { createRunMetrics } from "../../platform/telemetry/run-metrics.ts";

it("exports runs by outcome, their duration and wait, and the current backlog", async () => {
  const registry = new Registry();
  const metrics = createRunMetrics(registry, "own");
  let waiting = 0;
  const blocked = { owner_quota: 4, owner_commits: 5 };
  metrics.counts(() => ({ running: 1, waiting, heldBack: 2, blocked, fullSources: 3, fullOwners: 9 }));
  metrics.ran("returned", 20);
  metrics.ran("cpu_limit", 10_000);
  metrics.waited(1_500);
  waiting = 7;
  const lines = (await registry.metrics()).split("\n");
  expect(lines).toEqual(
    expect.arrayContaining([
      'headwater_runs_total{pool="own",outcome="returned"} 1',
      'headwater_runs_total{pool="own",outcome="cpu_limit"} 1',
      'headwater_run_duration_seconds_count{pool="own"} 2',
      'headwater_run_duration_seconds_bucket{le="0.025",pool="own"} 1',
      'headwater_invocation_wait_seconds_sum{pool="own"} 1.5',
      'headwater_runs_running{pool="own"} 1',
      'headwater_runs_waiting{pool="own"} 7',
      'headwater_runs_parked{pool="own",reason="owner_runs"} 2',
      'headwater_runs_parked{pool="own",reason="owner_quota"} 4',
      'headwater_runs_parked{pool="own",reason="owner_commits"} 5',
      'headwater_backlog_full{pool="own",kind="source"} 3',
      'headwater_backlog_full{pool="own",kind="owner"} 9',
    ]),
  );
});
