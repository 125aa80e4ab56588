import type { Commit } from "../../domain/run/commit.ts";
import type { Figure } from "../figure.ts";
import { Entries } from "../harness/deploy.ts";
import { followRuns, invoke, pause, runOnce, until } from "../harness/load/runs.ts";
import { percentile } from "../harness/measure/statistics.ts";
import { startSystem, type System } from "../harness/system.ts";

/**
 * From storing an invocation of an evicted source to the first line of its `run`, in a runner process with nothing else to do. Evicted by
 * writing the deployment's entry again: the runner then drops its isolate and its copy of the entry, which is more than a source that was
 * merely crowded out has lost. The time of the first line is `Date.now()` in the guest, so each sample is up to 1 ms too short.
 */
const samples = 60;

const axios = `import axios from "axios";\nexport const client = axios.create();\n`;
/** `beside`: another source of the owner with the same code is warm, so that the isolate is there. */
const cases = [
  { label: "without imports", imports: "", beside: false, atMost: 10 },
  { label: "without imports, beside a warm one", imports: "", beside: true, atMost: 10 },
  { label: "with axios", imports: axios, beside: false, atMost: 60 },
  { label: "with axios, beside a warm one", imports: axios, beside: true, atMost: 30 },
] as const;

export async function run(): Promise<readonly Figure[]> {
  const system = await startSystem({ roles: ["ingress", "runner", "builder"] });
  try {
    const figures: Figure[] = [];
    for (const [index, each] of cases.entries()) figures.push(await measure(system, `dc_cold${index}`, each));
    return figures;
  } finally {
    await system.stop();
  }
}

async function measure(system: System, source: string, { label, imports, beside, atMost }: (typeof cases)[number]): Promise<Figure> {
  const entries = new Entries(system);
  const build = await entries.build(
    `${imports}export default { name: "Bench", props: { http: "$.interface.http" }, run(event) { this.$emit({ at: Date.now() }); } };`,
  );
  const commits: Commit[] = [];
  const owner = `u_${source.slice(3)}`;
  if (beside) {
    await entries.deploy(`${source}beside`, build, 1, owner);
    await runOnce(system.connection, [`${source}beside`]);
  }
  const following = await followRuns(system.connection, (commit) => commits.push(commit));
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    await entries.deploy(source, build, sample + 1, owner);
    await pause(100); // The runner hears of it, and has an isolate ready again as it has for a source that is called now and then.
    const storedAt = performance.timeOrigin + performance.now();
    await invoke(system.connection, source, [{ source, trigger: "manual", at: Math.round(storedAt), event: {}, generation: sample + 1 }]);
    await until(() => commits.length > sample, "an evicted source runs", 10_000, 2);
    times.push(startOf(commits[sample]) - storedAt);
  }
  await following.stop();
  // The first evaluates the bundle without a code cache.
  const warm = times.slice(1);
  return {
    name: `evicted source, invocation to run, p50, ${label}`,
    value: percentile(warm, 0.5),
    unit: "ms",
    goal: { of: "value", atMost },
    note: `${warm.length} samples through stream and runner, evicted by writing the entry again; p95 ${percentile(warm, 0.95).toFixed(1)} ms, the very first ${times[0]?.toFixed(1)} ms; bundle ${Math.round(build.bundleBytes / 1024)} KiB`,
  };
}

function startOf(commit: Commit | undefined): number {
  if (commit?.error) throw new Error(`the run failed: ${commit.error.message}`);
  return (JSON.parse(commit?.events[0]?.payload ?? "{}") as { at: number }).at; // The component above.
}
