import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { createIngressMetrics } from "../../platform/telemetry/ingress-metrics.ts";
import { measuredBacklogs } from "../../platform/telemetry/pool-metrics.ts";
import { createSandboxMetrics } from "../../platform/telemetry/sandbox-metrics.ts";

it("exports requests to endpoints by status, starting at zero", async () => {
  const registry = new Registry();
  const answered = createIngressMetrics(registry);
  expect(await registry.metrics()).toContain('headwater_endpoint_request_duration_seconds_count{status="200"} 0');
  answered({ status: 503, durationMs: 40 });
  expect(await registry.metrics()).toContain('headwater_endpoint_request_duration_seconds_sum{status="503"} 0.04');
});

it("exports the backlog of each pool that was read within the last minute", async () => {
  const registry = new Registry();
  let now = 1_000_000;
  const sizes = new Map([
    ["one", 7],
    ["other", 8],
  ]);
  const backlogs = measuredBacklogs(registry, { of: async (pool) => sizes.get(pool) }, () => now);
  expect([await backlogs.of("one"), await backlogs.of("other"), await backlogs.of("unknown")]).toEqual([7, 8, undefined]);
  now += 40_000;
  await backlogs.of("other");
  now += 40_000;
  const lines = (await registry.metrics()).split("\n").filter((line) => line.startsWith("headwater_pool_backlog{"));
  expect(lines).toEqual(['headwater_pool_backlog{pool="other"} 8']);
});

it("reads a runner's sandbox at each scrape, and exports evictions as a counter", async () => {
  const registry = new Registry();
  const stats = { children: 2, isolates: 30, sources: 30, residentBytes: 4_096, evictions: 5, startFailure: undefined, startFailures: 3 };
  createSandboxMetrics(registry, "own", () => stats);
  await registry.metrics();
  stats.evictions = 6;
  const text = await registry.metrics();
  expect(text).toContain('headwater_sandbox_children{pool="own"} 2');
  expect(text).toContain('headwater_sandbox_isolates{pool="own"} 30');
  expect(text).toContain('headwater_sandbox_resident_bytes{pool="own"} 4096');
  expect(text).toContain('headwater_sandbox_evictions_total{pool="own"} 6');
  expect(text).toContain('headwater_sandbox_start_failures_total{pool="own"} 3');
});
