import { startChild } from "../harness/child.ts";
import type { Accepted, AcceptOrders } from "../harness/load/accept-load.ts";
import { Entries, inChunks, sourceIds } from "../harness/deploy.ts";
import { median } from "../harness/measure/statistics.ts";
import { startSystem, type System } from "../harness/system.ts";
import type { Figure } from "../figure.ts";

/**
 * Requests accepted and durable per second by the ingress role, against a bare node:http server that publishes each with the client's
 * own `publish`. Both, and the load, are processes of their own; both store with `sync_interval: always` before they answer; 64
 * keep-alive connections, 64 sources, bodies of 300 bytes. Nothing runs what was accepted: queues are purged between rounds.
 * Rounds alternate, so that a change of the machine's mood meets both; the medians are compared. The first round of each is warm-up.
 */
const [inFlight, sources, rounds, durationMs] = [64, 64, 7, 1_500] as const;
const body = JSON.stringify({ message: "hello", pad: "x".repeat(270) });

export async function run(): Promise<readonly Figure[]> {
  const system = await startSystem({
    roles: ["ingress"],
    env: { HEADWATER_BACKLOG_PER_SOURCE: "10000000", HEADWATER_BACKLOG_PER_OWNER: "10000000" },
  });
  const bare = startChild<{ port: number }>("baseline/bare-http", { nats: system.nats });
  try {
    const ids = sourceIds("n", sources);
    const entries = new Entries(system);
    await inChunks(ids, (id) => entries.endpoint(id, `u_${id}`));
    const targets = {
      ours: { port: system.ingressPort, paths: ids.map((id) => `/${id}`) },
      bare: { port: (await bare.next()).port, paths: ids.map((_, index) => `/k${index}`) },
    };
    return [await compare(system, targets)];
  } finally {
    await bare.stop();
    await system.stop();
  }
}

type Targets = Readonly<Record<"ours" | "bare", Pick<AcceptOrders, "port" | "paths">>>;

async function compare(system: System, targets: Targets): Promise<Figure> {
  const rates: Readonly<Record<keyof Targets, number[]>> = { ours: [], bare: [] };
  const refused: Record<string, number> = {};
  for (let round = 0; round <= rounds; round++) {
    for (const name of ["ours", "bare"] as const) {
      const load = startChild<Accepted>("load/accept-load", {
        ...targets[name],
        body,
        inFlight,
        durationMs,
      } satisfies AcceptOrders);
      const accepted = await load.next();
      await load.stop();
      if (round > 0) rates[name].push(accepted.perSecond);
      for (const [status, times] of Object.entries(accepted.refused))
        refused[`${name} ${status}`] = (refused[`${name} ${status}`] ?? 0) + times;
      await system.connection.manager.streams.purge("INVOCATIONS");
    }
  }
  const problems = Object.keys(refused).length === 0 ? "" : `; refused: ${JSON.stringify(refused)}`;
  return {
    name: "HTTP requests accepted and durable",
    value: median(rates.ours),
    unit: "requests/s",
    baseline: median(rates.bare),
    goal: { of: "ratio", atLeast: 2 },
    note: `sync always, ${inFlight} in flight, ${sources} sources, 300 B; baseline: node:http and one js.publish each; rounds ${rates.ours.map(Math.round).join("/")} against ${rates.bare.map(Math.round).join("/")}${problems}`,
  };
}
