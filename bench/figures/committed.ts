import type { Figure } from "../figure.ts";
import { startChild } from "../harness/child.ts";
import { Entries, inChunks, sourceIds } from "../harness/deploy.ts";
import { committedRuns } from "../harness/load/committed-runs.ts";
import { cpuBetween, formatParts } from "../../test/support/process-tree.ts";
import { median } from "../harness/measure/statistics.ts";
import { startSystem, type System } from "../harness/system.ts";

/**
 * Runs in isolates committed per second by the runner role, 64 sources busy, one emit each, against raw publishes with an expected
 * sequence per second: the same stream, 64 under way, bodies as large as a commit, our own (lean) publisher; `sync_interval: always`.
 * The work is put into the queue beforehand, in messages of eight as a busy ingress packs them, and then alone in its message.
 */
const [sources, rounds, durationMs, packed] = [64, 3, 3_000, 8] as const;
const code = `export default { name: "Bench", props: { http: "$.interface.http" }, run(event) { this.$emit({ id: event.body.id, at: Date.now() }); } };`;

export async function run(): Promise<readonly Figure[]> {
  const system = await startSystem({ roles: ["ingress", "runner", "builder"] });
  try {
    const ids = sourceIds("n", sources);
    const entries = new Entries(system);
    const build = await entries.build(code);
    await inChunks(ids, (id) => entries.deploy(id, build));
    const figure = await compare(system, ids, packed);
    return [figure, warm(figure), await compare(system, ids, 1)];
  } finally {
    await system.stop();
  }
}

/** The same by itself: from the queue through a child and a warm isolate to the commit, all included but delivery. */
const warm = ({ value, unit }: Figure): Figure => ({
  name: "warm runs of a trivial source, all but delivery",
  value,
  unit,
  goal: { of: "value", atLeast: 3_000 },
  note: "on two cores; what else the machine does counts against it",
});

async function compare(system: System, ids: readonly string[], perMessage: number): Promise<Figure> {
  const rates: { readonly runs: number[]; readonly raw: number[] } = { runs: [], raw: [] };
  let bytes = 0;
  let parts = "";
  for (let round = 0; round <= rounds; round++) {
    const ours = await committedRuns(system, ids, { perMessage, durationMs });
    bytes = ours.bytes;
    parts = formatParts(cpuBetween(ours.before, ours.after), ours.runs);
    const baseline = startChild<{ perSecond: number }>("baseline/raw-commits", {
      nats: system.nats,
      inFlight: sources,
      bytes,
      durationMs,
    });
    const raw = (await baseline.next()).perSecond;
    await baseline.stop();
    if (round === 0) continue; // Warm-up.
    rates.runs.push(ours.perSecond);
    rates.raw.push(raw);
  }
  return {
    name: `runs in isolates committed, ${perMessage === 1 ? "one per message" : `packs of ${perMessage}`}`,
    value: median(rates.runs),
    unit: "runs/s",
    baseline: median(rates.raw),
    ...(perMessage === 1 ? {} : { goal: { of: "ratio", atLeast: 0.5 } }),
    note: `sync always, ${sources} sources, one emit each; baseline: ${sources} CAS publishes of ${bytes} B under way; rounds ${rates.runs.map(Math.round).join("/")} against ${rates.raw.map(Math.round).join("/")}; CPU-ms per run: ${parts}`,
  };
}
