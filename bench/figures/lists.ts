import type { Figure } from "../figure.ts";
import { startChild } from "../harness/child.ts";
import type { Listed, ListOrders } from "../harness/load/list-load.ts";
import { eventsPerSource, startListed, type ListedSystem } from "../harness/load/listed.ts";
import { cpuBetween, cpuOf } from "../harness/measure/process-tree.ts";
import { median } from "../harness/measure/statistics.ts";

/**
 * What size costs lists. Two installations side by side, each an API role with a Postgres of its own: one owner has 100 sources and
 * 1,000 events in one, 100,000 and 10 million in the other. A page of 100 of the sources, and one of the 100 events of ten sources
 * (read again and again, as what people look at is), one request at a time; medians of rounds that alternate. And how many pages of
 * sources a CPU-second of API and Postgres answers, 16 requests under way, against express with one query for the same rows.
 * `BENCH_LIST_SOURCES` makes the large one smaller for a first look; each of its sources has 100 events.
 */
const [few, many] = [100, Number(process.env["BENCH_LIST_SOURCES"] ?? 100_000)];
const emitting = 10;
/** A server that has just started pays for its compilation with each request: the first rounds do not count. */
const [warmUps, rounds] = [3, 7];
const [durationMs, underWay] = [Number(process.env["BENCH_LIST_MS"] ?? 2_000), 16];

export async function run(): Promise<readonly Figure[]> {
  const small = await startListed(few, emitting);
  try {
    process.stderr.write(`writing ${many} sources and ${many * eventsPerSource} events …\n`);
    const large = await startListed(many, many);
    try {
      const sources = await compareSizes(small, large, () => ["/v1/users/me/sources?limit=100"]);
      const events = await compareSizes(small, large, ({ emitters }) =>
        emitters.slice(0, emitting).map((id) => `/v1/sources/${id}/event_summaries?limit=100`),
      );
      return [
        { name: `a page of 100 of ${many} sources, against 100 of ${few}`, ...sources },
        { name: `a page of 100 events among ${many * eventsPerSource}, against ${emitting * eventsPerSource}`, ...events },
        await perCpuSecond(small, 10),
        await perCpuSecond(small, 100),
      ];
    } finally {
      await large.system.stop();
    }
  } finally {
    await small.system.stop();
  }
}

const portOf = ({ system }: ListedSystem): number => Number(new URL(system.apiUrl).port);

async function load(orders: Omit<ListOrders, "durationMs">): Promise<Listed> {
  const child = startChild<Listed>("load/list-load", { ...orders, durationMs } satisfies ListOrders);
  const listed = await child.next();
  await child.stop();
  return listed;
}

async function compareSizes(
  small: ListedSystem,
  large: ListedSystem,
  pathsOf: (of: ListedSystem) => readonly string[],
): Promise<Omit<Figure, "name">> {
  const times: Readonly<Record<"small" | "large", number[]>> = { small: [], large: [] };
  for (let round = 0; round < warmUps + rounds; round++) {
    for (const [size, of] of [["small", small] as const, ["large", large] as const]) {
      const { medianMs } = await load({ port: portOf(of), keys: of.keys, paths: pathsOf(of), inFlight: 1 });
      if (round >= warmUps) times[size].push(medianMs);
    }
  }
  const formatMs = (values: readonly number[]): string => values.map((ms) => ms.toFixed(2)).join("/");
  return {
    value: median(times.large),
    unit: "ms",
    baseline: median(times.small),
    goal: { of: "ratio", atMost: 1.3 },
    note: `one request at a time; medians of the rounds ${formatMs(times.large)} against ${formatMs(times.small)}`,
  };
}

async function perCpuSecond(of: ListedSystem, limit: number): Promise<Figure> {
  const { system, namespace, keys } = of;
  const bare = startChild<{ port: number }>("baseline/bare-list", { url: system.databaseUrl, namespace });
  try {
    const targets = [
      ["ours", { port: portOf(of), keys, paths: [`/v1/users/me/sources?limit=${limit}`] }] as const,
      ["bare", { port: (await bare.next()).port, keys, paths: [`/sources?limit=${limit}`] }] as const,
    ];
    const rates: Readonly<Record<"ours" | "bare", number[]>> = { ours: [], bare: [] };
    const cpu = () => [...system.cpu(), ...cpuOf([bare.pid])];
    for (let round = 0; round < warmUps + rounds; round++) {
      for (const [name, target] of targets) {
        const before = cpu();
        const { perSecond } = await load({ ...target, inFlight: underWay });
        const used = cpuBetween(before, cpu());
        const spent = (used.get("postgres") ?? 0) + (used.get(name === "ours" ? "api" : "other") ?? 0);
        if (round >= warmUps) rates[name].push((perSecond * durationMs) / spent);
      }
    }
    return {
      name: `pages of ${limit} sources per second and core`,
      value: median(rates.ours),
      unit: "requests/CPU-s",
      baseline: median(rates.bare),
      goal: { of: "ratio", atLeast: 0.5 },
      note: `CPU of API and Postgres, ${underWay} under way; baseline: express and one query for the rows, without keys, limits, totals; rounds ${rates.ours.map(Math.round).join("/")} against ${rates.bare.map(Math.round).join("/")}`,
    };
  } finally {
    await bare.stop();
  }
}
