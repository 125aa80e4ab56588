import type { Figure } from "../figure.ts";
import { Entries, inChunks } from "../harness/deploy.ts";
import { formatTimes, startEvents, type EventGroup } from "../harness/load/events.ts";
import { pause } from "../harness/load/runs.ts";
import { median } from "../harness/measure/statistics.ts";
import { startSystem } from "../harness/system.ts";

/**
 * One event to a thousand webhooks at four endpoints: from its commit until the last of them has it, the median of some events, each after a
 * pause. With more than 16 listeners each delivery becomes a message first, so this is what such an event takes to be safe and out.
 */
const [listeners, endpoints, times] = [1_000, 4, 7] as const;

export async function run(): Promise<readonly Figure[]> {
  const system = await startSystem({ roles: ["delivery"] });
  const events = await startEvents(system, endpoints);
  try {
    const entries = new Entries(system);
    const source = "dc_fan";
    const names = Array.from({ length: listeners }, (_, index) => `fan${index}`);
    await inChunks(names, (name, index) => entries.subscribe(source, `http://127.0.0.1:${events.ports[index % endpoints]}/${name}`, name));
    await pause(2_000); // Until the last entry is known.
    const group: EventGroup = { name: "fan", sources: [source], listeners, perCommit: 1, padding: 270, pace: { kind: "once", events: 1 } };
    const lasts: number[] = [];
    let shown = "";
    for (let time = 0; time <= times; time++) {
      await events.start(group);
      await events.arrived(group.name);
      const received = (await events.report())(group.name);
      if (received.doubled > 0) throw new Error(`${received.doubled} deliveries of one event came twice`);
      if (time > 0) lasts.push(received.most); // The first one opens connections and keys.
      shown = formatTimes(received);
      await pause(1_000);
    }
    return [
      {
        name: `one event to ${listeners} webhooks, the last`,
        value: median(lasts),
        unit: "ms",
        goal: { of: "value", atMost: 2_000 },
        note: `each event ${lasts.map((ms) => ms.toFixed(0)).join("/")} ms; deliveries of the last event ${shown}`,
      },
    ];
  } finally {
    await events.end();
    await system.stop();
  }
}
