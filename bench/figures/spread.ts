import type { Figure } from "../figure.ts";
import { Entries, inChunks, sourceIds } from "../harness/deploy.ts";
import { committedRuns } from "../harness/load/committed-runs.ts";
import { cpuBetween, formatParts, total } from "../harness/measure/process-tree.ts";
import { median } from "../harness/measure/statistics.ts";
import { startSystem, type System } from "../harness/system.ts";

/**
 * What a pool loses by spreading: runs per CPU-second of all processes with four runners, against one, in rounds that alternate. 64 sources
 * busy, one emit each, work queued beforehand in messages of eight; `sync_interval: always`. Runs per core, and not per second, because all
 * runners share the cores of this machine.
 */
const [sources, rounds, durationMs, perMessage] = [64, 3, 3_000, 8] as const;
const code = `export default { name: "Bench", props: { http: "$.interface.http" }, run(event) { this.$emit({ id: event.body.id, at: Date.now() }); } };`;

export async function run(): Promise<readonly Figure[]> {
  await using started = new AsyncDisposableStack();
  const [one, four] = [await startPool(started, 1), await startPool(started, 4)];
  const rates = { one: new Array<number>(), four: new Array<number>() };
  let parts = { one: "", four: "" };
  for (let round = 0; round <= rounds; round++) {
    const [alone, spread] = [await runsPerCpuSecond(one), await runsPerCpuSecond(four)];
    parts = { one: alone.parts, four: spread.parts };
    if (round === 0) continue; // Warm-up.
    rates.one.push(alone.value);
    rates.four.push(spread.value);
  }
  return [
    {
      name: "runs committed per CPU-second with four runners",
      value: median(rates.four),
      unit: "runs",
      baseline: median(rates.one),
      goal: { of: "ratio", atLeast: 0.85 },
      note: `baseline: one runner; CPU-ms per run: ${parts.four} against ${parts.one}`,
    },
  ];
}

interface Pool {
  readonly system: System;
  readonly ids: readonly string[];
}

/** @param started stops it at the end */
async function startPool(started: AsyncDisposableStack, runners: number): Promise<Pool> {
  const system = started.adopt(await startSystem({ roles: ["ingress", "runner", "builder"], runners }), (each) => each.stop());
  const ids = sourceIds("n", sources);
  const entries = new Entries(system);
  const build = await entries.build(code);
  await inChunks(ids, (id) => entries.deploy(id, build));
  return { system, ids };
}

async function runsPerCpuSecond({ system, ids }: Pool): Promise<{ readonly value: number; readonly parts: string }> {
  const { runs, before, after } = await committedRuns(system, ids, { perMessage, durationMs });
  const used = cpuBetween(before, after);
  return { value: (runs / total(used)) * 1_000, parts: formatParts(used, runs) };
}
