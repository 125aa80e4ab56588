import type { Figure } from "../figure.ts";
import { startChild } from "../harness/child.ts";
import { Entries, inChunks, sourceIds } from "../harness/deploy.ts";
import { startEvents, type Events } from "../harness/load/events.ts";
import { cpuBetween, formatParts, total } from "../../test/support/process-tree.ts";
import { startRoundTrips } from "../harness/load/round-trip-sources.ts";
import { pause } from "../harness/load/runs.ts";
import { median } from "../harness/measure/statistics.ts";
import { allRoles, startSystem, type System } from "../harness/system.ts";

/**
 * Time from an `$emit` to the webhook at 200 events per second, all roles running, 64 sources with a webhook each. And deliveries per
 * second of the delivery role when there is always more to deliver, against undici alone with as many requests under way to the same
 * endpoints: four endpoints with four sources each, 16 requests under way at each; commits of eight events of 300 bytes, since
 * what is measured is delivery. In rounds that alternate.
 */
const steady = { padding: 270, pace: { kind: "open", perSecond: 200 }, durationMs: 15_000 } as const;
const [endpoints, sourcesPerEndpoint, underWay, rounds, durationMs, bytes] = [4, 16, 16, 3, 5_000, 300] as const;

export async function run(): Promise<readonly Figure[]> {
  return [await emitToWebhook(), ...(await saturated())];
}

async function emitToWebhook(): Promise<Figure> {
  const system = await startSystem({ roles: allRoles });
  const trips = await startRoundTrips(system);
  try {
    await trips.load({ padding: steady.padding, pace: { kind: "open", perSecond: 100 }, durationMs: 4_000 }); // Warm isolates.
    const { emitToWebhook: times, completed, missing, doubled } = await trips.load(steady);
    return {
      name: "emit to webhook, p95, 200 events/s",
      value: times.p95,
      unit: "ms",
      goal: { of: "value", atMost: 10 },
      note: `p50/p95/p99 ${[times.p50, times.p95, times.p99].map((ms) => ms.toFixed(1)).join("/")} ms; ${completed} events, ${missing} missing, ${doubled} doubled`,
    };
  } finally {
    await trips.stop();
    await system.stop();
  }
}

async function saturated(): Promise<readonly Figure[]> {
  const system = await startSystem({ roles: ["delivery"] });
  const events = await startEvents(system, endpoints);
  try {
    const sources = sourceIds("s", endpoints * sourcesPerEndpoint);
    const entries = new Entries(system);
    const urls = events.ports.map((port) => `http://127.0.0.1:${port}/hook`);
    await inChunks(sources, (id, index) => entries.subscribe(id, `${urls[index % endpoints]}/${id}`));
    const rates: { readonly ours: number[]; readonly bare: number[] } = { ours: [], bare: [] };
    let parts = "";
    for (let round = 0; round <= rounds; round++) {
      const ours = await deliveriesPerSecond(system, events, sources);
      const child = startChild<{ perSecond: number }>("baseline/bare-posts", { urls, perUrl: underWay, bytes, durationMs });
      const bare = (await child.next()).perSecond;
      await child.stop();
      if (round === 0) continue; // Warm-up.
      rates.ours.push(ours.perSecond);
      rates.bare.push(bare);
      parts = ours.parts;
    }
    return [
      {
        name: "deliveries to webhooks, saturated",
        value: median(rates.ours),
        unit: "deliveries/s",
        baseline: median(rates.bare),
        goal: { of: "ratio", atLeast: 0.5 },
        note: `${endpoints} endpoints, ${underWay} under way at each; baseline: undici alone; rounds ${rates.ours.map(Math.round).join("/")} against ${rates.bare.map(Math.round).join("/")}; CPU-ms per delivery: ${parts}`,
      },
    ];
  } finally {
    await events.end();
    await system.stop();
  }
}

async function deliveriesPerSecond(
  system: System,
  events: Events,
  sources: readonly string[],
): Promise<{ readonly perSecond: number; readonly parts: string }> {
  await events.start({ sources, commitsPerSource: 3, eventsPerCommit: 8, padding: 270 });
  await pause(1_000);
  await events.report();
  const [before, startedAt] = [system.cpu(), performance.now()];
  await pause(durationMs);
  const { received, doubled, waiting } = await events.report();
  const [parts, elapsedMs] = [cpuBetween(before, system.cpu()), performance.now() - startedAt];
  await events.stop();
  if (doubled > 0) throw new Error(`${doubled} deliveries of ${received} came twice, ${waiting} were waiting`);
  return { perSecond: (received / elapsedMs) * 1_000, parts: `${(total(parts) / received).toFixed(3)}: ${formatParts(parts, received)}` };
}
