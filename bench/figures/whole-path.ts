import { performance } from "node:perf_hooks";
import type { Figure } from "../figure.ts";
import { cpuBetween, formatParts, total } from "../../test/support/process-tree.ts";
import { recordedUpTo } from "../harness/load/recorded.ts";
import type { Load } from "../harness/measure/round-trip-ledger.ts";
import { startRoundTrips, type RoundTripSources } from "../harness/load/round-trip-sources.ts";
import { allRoles, startSystem, type System } from "../harness/system.ts";

/**
 * CPU time of all our processes (nats-server and Postgres included, load and webhook endpoint not) per run: an HTTP request that is stored,
 * run in an isolate, committed with one emit, delivered to one webhook, and recorded in Postgres. All roles, as an embedded start
 * has them; `sync_interval: always`; 64 sources with a webhook each, bodies of 300 bytes. Time from the emit to the webhook beside it.
 */
const padding = 270;

interface Case {
  readonly label: string;
  readonly pace: Load["pace"];
  readonly durationMs: number;
  readonly atMost: number;
}

const cases: readonly Case[] = [
  { label: "saturated", pace: { kind: "closed", inFlight: 256 }, durationMs: 8_000, atMost: 0.7 },
  { label: "at 1,000/s", pace: { kind: "open", perSecond: 1_000 }, durationMs: 8_000, atMost: 1.5 },
  { label: "at 200/s", pace: { kind: "open", perSecond: 200 }, durationMs: 10_000, atMost: 2.5 },
];

export async function run(): Promise<readonly Figure[]> {
  const system = await startSystem({ roles: allRoles });
  const trips = await startRoundTrips(system);
  try {
    await trips.load({ padding, pace: { kind: "closed", inFlight: 64 }, durationMs: 3_000 });
    const figures: Figure[] = [];
    for (const each of cases) figures.push(...(await measure(system, trips, each)));
    return figures;
  } finally {
    await trips.stop();
    await system.stop();
  }
}

async function measure(system: System, trips: RoundTripSources, { label, pace, durationMs, atMost }: Case): Promise<readonly Figure[]> {
  await recordedUpTo(system);
  const [before, startedAt] = [system.cpu(), performance.now()];
  const result = await trips.load({ padding, pace, durationMs });
  await recordedUpTo(system);
  const [parts, elapsedMs] = [cpuBetween(before, system.cpu()), performance.now() - startedAt];
  const perSecond = (result.completed / result.elapsedMs) * 1_000;
  const sustained = pace.kind === "closed" || perSecond > pace.perSecond * 0.97;
  const problems = [
    sustained ? [] : [`NOT SUSTAINED: only ${Math.round(perSecond)}/s`],
    result.missing + result.doubled === 0 ? [] : [`${result.missing} missing, ${result.doubled} doubled`],
    Object.keys(result.refused).length === 0 ? [] : [`refused ${JSON.stringify(result.refused)}`],
  ].flat();
  const { p50, p95, p99 } = result.emitToWebhook;
  const timed = `emit to webhook p50/p95/p99 ${[p50, p95, p99].map((ms) => ms.toFixed(1)).join("/")} ms, request to webhook p95 ${result.requestToWebhook.p95.toFixed(1)} ms, request to answer p95 ${result.requestToAnswer.p95.toFixed(1)} ms`;
  const note = [
    `${Math.round(perSecond)} runs/s over ${(elapsedMs / 1_000).toFixed(1)} s`,
    ...problems,
    timed,
    `CPU-ms per run: ${formatParts(parts, result.completed)}`,
  ].join("; ");
  const cpu: Figure = {
    name: `CPU per run, whole path, ${label}`,
    value: sustained ? total(parts) / result.completed : Number.NaN,
    unit: "CPU-ms",
    goal: { of: "value", atMost },
    note,
  };
  if (pace.kind === "closed") return [cpu, { name: "runs through the whole path, saturated", value: perSecond, unit: "runs/s" }];
  return pace.perSecond === 200
    ? [cpu, { name: "emit to webhook, p95, at 200/s", value: p95, unit: "ms", goal: { of: "value", atMost: 15 } }]
    : [cpu];
}
