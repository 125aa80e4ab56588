import type { Figure } from "../figure.ts";
import { Entries, inChunks, sourceIds } from "../harness/deploy.ts";
import { startEvents, type Events } from "../harness/load/events.ts";
import { cpuBetween, formatParts, total, type Part } from "../harness/measure/process-tree.ts";
import { recordedUpTo } from "../harness/load/recorded.ts";
import { pause } from "../harness/load/runs.ts";
import { median } from "../harness/measure/statistics.ts";
import { startSystem, type System } from "../harness/system.ts";

/**
 * CPU time of a further listener of an event: an event with ten webhooks against an event with one, the difference by nine. The delivery role
 * as a process, nats-server and Postgres included, attempts recorded; 64 sources and 100 events per second in both cases, in
 * rounds that alternate.
 */
const [sources, many, endpoints, perSecond, durationMs, rounds] = [64, 10, 4, 100, 8_000, 3] as const;
const flushMs = 1_000;

export async function run(): Promise<readonly Figure[]> {
  const system = await startSystem({ roles: ["delivery"] });
  const events = await startEvents(system, endpoints);
  try {
    const groups = { one: await subscribed(system, events, "one", 1), many: await subscribed(system, events, "many", many) };
    const furthers: number[] = [];
    let notes = "";
    for (let round = 0; round <= rounds; round++) {
      const one = await cpuPerEvent(system, events, groups.one, "one", 1);
      const all = await cpuPerEvent(system, events, groups.many, "many", many);
      if (round === 0) continue; // Warm-up.
      furthers.push((total(all) - total(one)) / (many - 1));
      const further = new Map([...all].map(([part, ms]): [Part, number] => [part, (ms - (one.get(part) ?? 0)) / (many - 1)]));
      notes = `an event with one ${total(one).toFixed(3)}, with ${many} ${total(all).toFixed(3)}; per further listener ${formatParts(further, 1)}`;
    }
    return [
      {
        name: "CPU of a further listener of an event",
        value: median(furthers),
        unit: "CPU-ms",
        goal: { of: "value", atMost: 0.06 },
        note: `${perSecond} events/s; rounds ${furthers.map((ms) => ms.toFixed(3)).join("/")}; ${notes}`,
      },
    ];
  } finally {
    await events.end();
    await system.stop();
  }
}

async function subscribed(system: System, { ports }: Events, name: string, listeners: number): Promise<readonly string[]> {
  const entries = new Entries(system);
  const ids = sourceIds(name, sources);
  const pairs = ids.flatMap((id) => Array.from({ length: listeners }, (_, index) => [id, `${id.slice(3)}l${index}`] as const));
  await inChunks(pairs, ([id, webhook], index) =>
    entries.subscribe(id, `http://127.0.0.1:${ports[index % endpoints]}/${webhook}`, webhook),
  );
  await pause(1_000); // Until the last entry is known.
  return ids;
}

/** By part, all of it: what is recorded a moment later too. */
async function cpuPerEvent(
  system: System,
  events: Events,
  ids: readonly string[],
  name: string,
  listeners: number,
): Promise<ReadonlyMap<Part, number>> {
  const before = system.cpu();
  await events.start({ name, sources: ids, listeners, perCommit: 1, padding: 270, pace: { kind: "steady", perSecond } });
  await pause(durationMs);
  await events.stop(name);
  await events.arrived(name);
  await recordedUpTo(system);
  await pause(flushMs);
  const parts = cpuBetween(before, system.cpu());
  const { sent } = (await events.report())(name);
  return new Map([...parts].map(([part, ms]) => [part, (ms * listeners) / sent]));
}
