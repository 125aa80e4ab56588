import type { Figure } from "../figure.ts";
import { Entries, owner } from "../harness/deploy.ts";
import { recordedUpTo } from "../harness/load/recorded.ts";
import { invoke, pause } from "../harness/load/runs.ts";
import { until } from "../../test/support/until.ts";
import { cpuBetween, formatParts, total } from "../../test/support/process-tree.ts";
import { median, percentile } from "../harness/measure/statistics.ts";
import { allRoles, startSystem, type System } from "../harness/system.ts";
import { controlCode } from "../../domain/workflow/control-code.ts";
import { deployWorkflow, followCommits, loadRuns, stepsInARow, subscribeWorkflow } from "../harness/workflows.ts";

/**
 * Runs of workflows, all roles as an embedded start has them, `sync_interval: always`; what the load takes is not counted.
 * - CPU time of all our processes per run of one and of five trivial steps, from the HTTP request to the record in Postgres.
 * - Memory of all processes for 10,000 suspended runs, and the time from a resume URL's request to the next step.
 * - CPU time of items of a loop and of branches, by that of a run of one step.
 * - Time from the commit of a source's event to the start of the first step.
 */
const trivial = `export default { name: "Trivial", type: "action", key: "trivial", version: "1.0.0", props: {}, run() { return 1; } };`;
const suspending = `export default { name: "Wait", type: "action", key: "wait", version: "1.0.0", props: {}, run({ $ }) { $.flow.suspend(); } };`;
const emitting = `export default { name: "Bench", props: { http: "$.interface.http" }, run(event) { this.$emit({ at: Date.now() }); } };`;

export async function run(): Promise<readonly Figure[]> {
  const system = await startSystem({ roles: allRoles });
  try {
    const entries = new Entries(system);
    const build = await entries.build(trivial);
    await deployWorkflow(system, "p_one", build, stepsInARow(1));
    await deployWorkflow(system, "p_five", build, stepsInARow(5));
    await deployWorkflow(system, "p_listener", build, stepsInARow(1));
    await deployWorkflow(system, "p_wait", await entries.build(suspending), stepsInARow(2));
    const control = await entries.build(controlCode);
    for (const [workflow, tree] of Object.entries(trees)) await deployWorkflow(system, workflow, build, tree, control);
    const one = await cpuPerRun(system, "p_one", 1, 1.2);
    return [
      one,
      await cpuPerRun(system, "p_five", 5, 3),
      ...(await shareOfRun(system, one.value)),
      await latency(system),
      await sourceToStep(system, entries),
      ...(await suspended(system)),
    ];
  } finally {
    await system.stop();
  }
}

const items = 1_000;
const loop = { name: "each", forEach: `{{ Array.from({ length: ${items} }, (_, item) => item) }}`, steps: stepsInARow(1) };
const trees = {
  p_inorder: [loop],
  p_sidebyside: [{ ...loop, concurrency: 10 }],
  p_branches: [{ name: "fork", parallel: Array.from({ length: 10 }, (_, branch) => [{ name: `branch${branch}` }]) }],
};

/** Of items and branches: their CPU time by that of a run of one step. */
async function shareOfRun(system: System, ofRun: number): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const [workflow, count, what] of [
    ["p_inorder", items, "an item of a loop of 1,000, in order"],
    ["p_sidebyside", items, "an item of a loop of 1,000, concurrency 10"],
    ["p_branches", 10, "a branch of ten"],
  ] as const) {
    await loadRuns(system, workflow, { inFlight: 2 }, 4_000);
    await recordedUpTo(system);
    const before = system.cpu();
    const { completed } = await loadRuns(system, workflow, { inFlight: count === items ? 2 : 32 }, 8_000);
    await recordedUpTo(system);
    const parts = cpuBetween(before, system.cpu());
    const value = total(parts) / (completed * count) / ofRun;
    const note = `${(completed * count).toFixed(0)} of them; CPU-ms of each: ${formatParts(parts, completed * count)}`;
    figures.push({ name: `CPU of ${what} ÷ that of a run of one step`, value, unit: "", goal: { of: "value", atMost: 0.7 }, note });
  }
  return figures;
}

async function cpuPerRun(system: System, workflow: string, steps: number, atMost: number): Promise<Figure> {
  await loadRuns(system, workflow, { inFlight: 64 }, 4_000); // Warm-up.
  await recordedUpTo(system);
  const before = system.cpu();
  const { completed, elapsedMs } = await loadRuns(system, workflow, { inFlight: 128 }, 8_000);
  await recordedUpTo(system);
  const parts = cpuBetween(before, system.cpu());
  const note = `${Math.round((completed / elapsedMs) * 1_000)} runs/s; CPU-ms per run: ${formatParts(parts, completed)}`;
  const name = `CPU per run of ${steps === 1 ? "one trivial step" : `${steps} trivial steps`}, saturated`;
  return { name, value: total(parts) / completed, unit: "CPU-ms", goal: { of: "value", atMost }, note };
}

async function latency(system: System): Promise<Figure> {
  const { latencies } = await loadRuns(system, "p_five", { perSecond: 20 }, 15_000);
  const note = `p95 ${percentile(latencies, 0.95).toFixed(1)} ms, ${latencies.length} runs`;
  return {
    name: "request to last commit of five steps, p50, at 20/s",
    value: median(latencies),
    unit: "ms",
    goal: { of: "value", atMost: 25 },
    note,
  };
}

/** Both times are those of this machine's clock: of the event's id, and of the start of the step. */
async function sourceToStep(system: System, entries: Entries): Promise<Figure> {
  const [source, perSecond, count] = ["dc_emitter", 200, 2_000];
  await entries.deploy(source, await entries.build(emitting));
  await subscribeWorkflow(system, source, "p_listener");
  await pause(1_000);
  const committedAt = new Map<string, number>();
  const latencies: number[] = [];
  const following = await followCommits(system, (commit) => {
    for (const { id, emitId } of commit.source === source ? commit.events : []) committedAt.set(emitId, Number(id.split("-")[0]));
    const { cause, step } = commit.source === "p_listener" ? commit.workflow : {};
    if (cause !== undefined && step !== undefined) latencies.push(step.startedAt - (committedAt.get(cause.emitId) ?? Number.NaN));
  });
  const startedAt = performance.now();
  for (let n = 0; n < count; n++) {
    await pause(Math.max(0, (n * 1_000) / perSecond - (performance.now() - startedAt)));
    void invoke(system.connection, source, [{ source, trigger: "manual", at: Date.now(), event: {} }]);
  }
  await until(() => latencies.length >= count, "each event has started a run");
  await following.stop();
  const measured = latencies.slice(count / 4); // The rest is warm-up.
  const note = `p50 ${median(measured).toFixed(1)} ms, ${measured.length} events`;
  return {
    name: "source event to first step, p95, at 200/s",
    value: percentile(measured, 0.95),
    unit: "ms",
    goal: { of: "value", atMost: 10 },
    note,
  };
}

const suspendedRuns = 10_000;

async function suspended(system: System): Promise<readonly Figure[]> {
  // The same number before, resumed and forgotten: buffers and heaps have their size then.
  await suspendAndResume(system, "warm", suspendedRuns / 2);
  await pause(20_000);
  const before = system.memory();
  const resume = await suspend(system, "kept", suspendedRuns);
  await recordedUpTo(system);
  await pause(20_000);
  const after = system.memory();
  const grown = new Map([...after].map(([part, bytes]) => [part, (bytes - (before.get(part) ?? 0)) / 2 ** 20]));
  const times = await resume(1_000);
  return [
    {
      name: `memory of ${suspendedRuns} suspended runs, all processes`,
      value: total(grown),
      unit: "MB",
      goal: { of: "value", atMost: 5 },
      note: `by part: ${formatParts(grown, 1, 1)}`,
    },
    {
      name: "resume to next step, p95",
      value: percentile(times, 0.95),
      unit: "ms",
      goal: { of: "value", atMost: 50 },
      note: `p50 ${median(times).toFixed(1)} ms`,
    },
  ];
}

async function suspendAndResume(system: System, prefix: string, count: number): Promise<void> {
  const resume = await suspend(system, prefix, count);
  await resume(count);
}

/** @returns a function that resumes so many of the runs, 50 at a time, and measures the time to the next step of each, ms */
async function suspend(system: System, prefix: string, count: number): Promise<(resumed: number) => Promise<readonly number[]>> {
  const { connection } = system;
  const waiting = new Set<string>();
  const startedAt = new Map<string, number>();
  const following = await followCommits(system, ({ source, run, workflow }) => {
    if (source !== "p_wait") return;
    if (workflow.status === "suspended" && workflow.number === 1) waiting.add(run.id);
    if (workflow.number === 2 && workflow.step !== undefined) startedAt.set(run.id, workflow.step.startedAt);
  });
  const runs = Array.from({ length: count }, (_, n) => `r_${prefix}${n}`);
  for (let start = 0; start < count; start += 200) {
    await invoke(
      connection,
      "p_wait",
      runs.slice(start, start + 200).map((run) => ({ source: "p_wait", trigger: "manual", run, at: Date.now(), event: { owner } })),
    );
    await until(() => waiting.size >= Math.min(count, start + 200), "the runs are suspended");
  }
  return async (resumed) => {
    const times: number[] = [];
    for (const run of runs.slice(0, resumed)) {
      const sentAt = performance.timeOrigin + performance.now();
      await invoke(connection, "p_wait", [{ source: "p_wait", trigger: "resume", resume: { run, suspension: 1, action: "resume" } }]);
      await until(() => startedAt.has(run), "the run goes on", { firstPauseMs: 1, maxPauseMs: 1 });
      times.push((startedAt.get(run) ?? 0) - sentAt);
    }
    await following.stop();
    return times;
  };
}
