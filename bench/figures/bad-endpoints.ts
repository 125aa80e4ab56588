import type { Figure } from "../figure.ts";
import { Entries, inChunks, sourceIds } from "../harness/deploy.ts";
import { formatTimes, startEvents, type EventGroup, type Events } from "../harness/load/events.ts";
import type { Received } from "../harness/measure/event-ledger.ts";
import { pause } from "../harness/load/runs.ts";
import { median } from "../harness/measure/statistics.ts";
import { startSystem } from "../harness/system.ts";

/**
 * What endpoints do to each other: the time from commit to webhook at a healthy one, p95, beside one without a listener, one that answers
 * after three seconds, and one that refuses for two seconds out of four, against the same without them. 200 events per second for
 * the healthy one, 20 for each of the others. A system of its own for each round, since retries outlive it.
 */
const [sources, rounds, quietMs, attackMs, settleMs] = [16, 3, 8_000, 15_000, 2_000] as const;
const healthy = { name: "healthy", listeners: 1, perCommit: 1, padding: 270, pace: { kind: "steady", perSecond: 200 } } as const;
const bad = { listeners: 1, perCommit: 1, padding: 270, pace: { kind: "steady", perSecond: 20 } } as const;

interface Round {
  readonly quiet: Received;
  readonly beside: Received;
}

export async function run(): Promise<readonly Figure[]> {
  const measured: Round[] = [];
  for (let round = 0; round < rounds; round++) measured.push(await measure());
  const last = measured.at(-1);
  return [
    {
      name: "a healthy webhook, p95, beside bad ones",
      value: median(measured.map(({ beside }) => beside.p95)),
      unit: "ms",
      baseline: median(measured.map(({ quiet }) => quiet.p95)),
      goal: { of: "ratio", atMost: 1.1 },
      note: `one dead, one slow, one flapping; p95 by round ${measured.map(({ beside, quiet }) => `${beside.p95.toFixed(1)} against ${quiet.p95.toFixed(1)}`).join(", ")}; last round ${last === undefined ? "" : `${formatTimes(last.beside)} against ${formatTimes(last.quiet)}`}`,
    },
  ];
}

async function measure(): Promise<Round> {
  const system = await startSystem({ roles: ["delivery"], env: { HEADWATER_LOG_LEVEL: "error" } });
  const events = await startEvents(system, 4);
  try {
    const groups = await subscribed(new Entries(system), events);
    await events.start({ ...healthy, sources: groups.healthy });
    await pause(settleMs);
    const quiet = await timesOver(events, quietMs);
    for (const group of groups.bad) await events.start(group);
    await pause(settleMs);
    const beside = await timesOver(events, attackMs);
    await events.stop(healthy.name);
    await events.arrived(healthy.name);
    return { quiet, beside };
  } finally {
    await events.end();
    await system.stop();
  }
}

async function timesOver(events: Events, ms: number): Promise<Received> {
  await events.report();
  await pause(ms);
  return (await events.report())(healthy.name);
}

async function subscribed(
  entries: Entries,
  { ports, closedPort }: Events,
): Promise<{ readonly healthy: readonly string[]; readonly bad: readonly EventGroup[] }> {
  const urls = {
    healthy: `http://127.0.0.1:${ports[0]}/ok`,
    dead: `http://127.0.0.1:${closedPort}/dead`,
    slow: `http://127.0.0.1:${ports[1]}/slow/3000`,
    flapping: `http://127.0.0.1:${ports[2]}/flapping/2000`,
  };
  // One webhook for each, as an endpoint of one address has: it hears all sources of its group.
  for (const [name, url] of Object.entries(urls))
    await inChunks(sourceIds(name, sources), (id) => entries.subscribe(id, url, id.slice(3), `wh_${name}`));
  return {
    healthy: sourceIds("healthy", sources),
    bad: ["dead", "slow", "flapping"].map((name) => ({ ...bad, name, sources: sourceIds(name, sources) })),
  };
}
