import type { Figure } from "../figure.ts";
import { Entries, inChunks, sourceIds } from "../harness/deploy.ts";
import { runOnce } from "../harness/load/runs.ts";
import { cpuBetween, total } from "../../test/support/process-tree.ts";
import { median } from "../harness/measure/statistics.ts";
import { startSystem, type System } from "../harness/system.ts";

/**
 * What a process for each owner costs (`HEADWATER_SANDBOX_OWNERS`), against owners who share processes: owners with one trivial source
 * each, run in turns, all of a round at once; rounds of the two alternate. With more owners than processes, each round ends and starts some.
 */
const megabyte = 2 ** 20;
const [processes, rounds] = [16, 5] as const;
const code = `export default { name: "Bench", props: { http: "$.interface.http" }, run(event) { this.$emit({ at: Date.now() }); } };`;
const counts = [8, 16, 24] as const;

interface Round {
  readonly perSecond: number;
  readonly cpuMs: number;
}

export async function run(): Promise<readonly Figure[]> {
  const roles = ["ingress", "runner", "builder"] as const;
  const shared = await startSystem({ roles });
  const separate = await startSystem({ roles, env: { HEADWATER_SANDBOX_OWNERS: String(processes) } });
  try {
    const figures: Figure[] = [];
    for (const owners of counts) figures.push(...(await compare(shared, separate, owners)));
    return figures;
  } finally {
    await Promise.all([shared.stop(), separate.stop()]);
  }
}

async function compare(shared: System, separate: System, owners: number): Promise<readonly Figure[]> {
  const ids = sourceIds(`of${owners}`, owners);
  for (const system of [shared, separate]) {
    const entries = new Entries(system);
    const build = await entries.build(code);
    await inChunks(ids, (id) => entries.deploy(id, build, 1, `u_${id}`));
  }
  const measured: { readonly shared: Round[]; readonly separate: Round[] } = { shared: [], separate: [] };
  for (let index = 0; index <= rounds; index++) {
    const [one, other] = [await round(shared, ids), await round(separate, ids)];
    if (index === 0) continue; // Cold.
    measured.shared.push(one);
    measured.separate.push(other);
  }
  const note = `${owners} owners, ${processes} processes, ${rounds} rounds`;
  const values = (of: readonly Round[], what: keyof Round): number => median(of.map((each) => each[what]));
  return [
    {
      name: `runs of ${owners} owners in turns, ${processes} processes of one owner each`,
      value: values(measured.separate, "perSecond"),
      baseline: values(measured.shared, "perSecond"),
      unit: "runs/s",
      note,
    },
    {
      name: `CPU of such a run, ${owners} owners`,
      value: values(measured.separate, "cpuMs"),
      baseline: values(measured.shared, "cpuMs"),
      unit: "CPU-ms",
      note,
    },
    {
      name: `memory of the sandbox, ${owners} owners`,
      value: (separate.memory().get("sandbox") ?? 0) / megabyte,
      baseline: (shared.memory().get("sandbox") ?? 0) / megabyte,
      unit: "MB PSS",
      note,
    },
  ];
}

/** Each owner's source runs four times. */
async function round(system: System, ids: readonly string[]): Promise<Round> {
  const turns = 4;
  const [startedAt, before] = [performance.now(), system.cpu()];
  for (let turn = 0; turn < turns; turn++) await runOnce(system.connection, ids);
  const runs = ids.length * turns;
  return { perSecond: (runs / (performance.now() - startedAt)) * 1_000, cpuMs: total(cpuBetween(before, system.cpu())) / runs };
}
