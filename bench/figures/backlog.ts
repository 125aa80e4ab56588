import { streams } from "../../domain/subjects.ts";
import type { Figure } from "../figure.ts";
import { Entries, inChunks, sourceIds } from "../harness/deploy.ts";
import { formatTimes, startEvents, type Events } from "../harness/load/events.ts";
import type { Received } from "../harness/measure/event-ledger.ts";
import { pause, until } from "../harness/load/runs.ts";
import { startSystem, type System } from "../harness/system.ts";

/**
 * Deliveries that wait for an endpoint that was down, once it is up: how many arrive per second, from the first to the last; and what they do to
 * another endpoint in the meantime. All go to one webhook; it is asked by itself when its rest is over, up to half a minute later,
 * without a redrive. Failed attempts are repeated after five seconds, so that the schedule of a day does not decide the figure.
 */
const [sources, quietMs, downMs] = [64, 8_000, 10_000] as const;
const waits = Array.from({ length: 30 }, () => "5s").join(",");
const healthy = { name: "healthy", listeners: 1, perCommit: 1, padding: 270, pace: { kind: "steady", perSecond: 100 } } as const;
const waiting = "waiting";

export async function run({ deliveries }: { readonly deliveries: number }): Promise<readonly Figure[]> {
  const env = { HEADWATER_LOG_LEVEL: "error", HEADWATER_DELIVERY_RETRY: waits };
  const system = await startSystem({ roles: ["delivery"], env });
  const events = await startEvents(system, 2);
  try {
    await subscribe(new Entries(system), events);
    await events.start({ ...healthy, sources: sourceIds(healthy.name, sources) });
    await pause(2_000);
    const quiet = await healthyDuring(events, () => pause(quietMs));
    const storedMs = await store(system, events, deliveries);
    const down = await healthyDuring(events, () => pause(downMs));
    const upAt = performance.timeOrigin + performance.now();
    await events.up();
    await events.arrived(waiting, 120_000 + deliveries * 10);
    const report = await events.report();
    const [drained, beside] = [report(waiting), report(healthy.name)];
    await events.stop(healthy.name);
    await events.arrived(healthy.name);
    const drainMs = drained.lastAt - drained.firstAt;
    const atMost = 1.1;
    return [
      {
        name: `${deliveries} deliveries that waited, drained`,
        value: (drained.received / drainMs) * 1_000,
        unit: "deliveries/s",
        goal: { of: "value", atLeast: 500 },
        note: `stored in ${(storedMs / 1_000).toFixed(1)} s; the first ${((drained.firstAt - upAt) / 1_000).toFixed(1)} s after the endpoint was up, the last ${(drainMs / 1_000).toFixed(1)} s later; ${drained.doubled} twice`,
      },
      {
        name: "another webhook, p95, while they drain",
        value: beside.p95,
        unit: "ms",
        baseline: quiet.p95,
        goal: { of: "ratio", atMost },
        note: `${formatTimes(beside)} against ${formatTimes(quiet)}`,
      },
      {
        name: "another webhook, p95, while they wait",
        value: down.p95,
        unit: "ms",
        baseline: quiet.p95,
        goal: { of: "ratio", atMost },
        note: formatTimes(down),
      },
    ];
  } finally {
    await events.end();
    await system.stop();
  }
}

async function subscribe(entries: Entries, { ports }: Events): Promise<void> {
  const urls = { [healthy.name]: `http://127.0.0.1:${ports[0]}/ok`, [waiting]: `http://127.0.0.1:${ports[1]}/down/` };
  for (const [name, url] of Object.entries(urls))
    await inChunks(sourceIds(name, sources), (id) => entries.subscribe(id, url, id.slice(3), `wh_${name}`));
  await pause(1_000); // Until the last entry is known.
}

/** Until each delivery is a message of its own. @returns how long that took */
async function store({ connection }: System, events: Events, deliveries: number): Promise<number> {
  const startedAt = performance.now();
  const pace = { kind: "once", events: deliveries } as const;
  await events.start({ name: waiting, sources: sourceIds(waiting, sources), listeners: 1, perCommit: 10, padding: 270, pace });
  const stored = async (): Promise<boolean> => (await connection.manager.streams.info(streams.deliveries)).state.messages >= deliveries;
  await until(stored, "each delivery is stored", 60_000 + deliveries * 5, 200);
  return performance.now() - startedAt;
}

async function healthyDuring(events: Events, during: () => Promise<void>): Promise<Received> {
  await events.report();
  await during();
  return (await events.report())(healthy.name);
}
