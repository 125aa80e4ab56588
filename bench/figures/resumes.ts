import type { Figure } from "../figure.ts";
import { Entries, owner } from "../harness/deploy.ts";
import { recordedUpTo } from "../harness/load/recorded.ts";
import { invoke } from "../harness/load/runs.ts";
import { cpuBetween, formatParts } from "../../test/support/process-tree.ts";
import { until } from "../../test/support/until.ts";
import { allRoles, startSystem, type System } from "../harness/system.ts";
import { deployWorkflow, followCommits, stepsInARow } from "../harness/workflows.ts";

/**
 * Suspended runs of a workflow that all go on at once, all roles as an embedded start has them, `sync_interval: always`: time until each has ended, when
 * their delay is over at the same moment, and when each is resumed by a request.
 */
const suspendedRuns = 10_000;
/** Runs whose invocations are sent together. */
const batch = 200;
/** From the first invocation to the end of the delay: more than it takes to suspend all of them. */
const delayMs = 90_000;
const delaying = `export default { name: "Wait", type: "action", key: "wait", version: "1.0.0", props: {}, run({ steps, $ }) {
  const { at } = steps.trigger.event; if (at === undefined) $.flow.suspend(); else $.flow.delay(Math.max(1, at - Date.now())); } };`;

export async function run(): Promise<readonly Figure[]> {
  const system = await startSystem({ roles: allRoles });
  try {
    const entries = new Entries(system);
    await deployWorkflow(system, "p_delay", await entries.build(delaying), stepsInARow(1));
    return [await byTime(system), await byRequest(system)];
  } finally {
    await system.stop();
  }
}

async function byTime(system: System): Promise<Figure> {
  const at = Date.now() + delayMs;
  const { ended, stop } = await suspend(system, "delayed", { owner, at });
  const [early, before] = [at - Date.now(), system.cpu()];
  await ended();
  const value = (Date.now() - at) / 1_000;
  await recordedUpTo(system);
  const cpu = formatParts(cpuBetween(before, system.cpu()), suspendedRuns);
  await stop();
  return figure(
    "whose delay ends at the same moment",
    value,
    `all were suspended ${(early / 1_000).toFixed(0)} s before; CPU-ms of each: ${cpu}`,
  );
}

async function byRequest(system: System): Promise<Figure> {
  const { runs, ended, stop } = await suspend(system, "asked", { owner });
  const [startedAt, before] = [performance.now(), system.cpu()];
  for (let start = 0; start < runs.length; start += batch) {
    const resumes = runs.slice(start, start + batch).map((run) => ({
      source: "p_delay",
      trigger: "resume" as const,
      resume: { run, suspension: 1, action: "resume" as const },
    }));
    await invoke(system.connection, "p_delay", resumes);
  }
  await ended();
  const value = (performance.now() - startedAt) / 1_000;
  await recordedUpTo(system);
  const cpu = formatParts(cpuBetween(before, system.cpu()), suspendedRuns);
  await stop();
  return figure("that are resumed by requests", value, `${Math.round(suspendedRuns / value)} runs/s; CPU-ms of each: ${cpu}`);
}

const figure = (which: string, value: number, note: string): Figure => ({
  name: `end of ${suspendedRuns} suspended runs ${which}`,
  value,
  unit: "s",
  goal: { of: "value", atMost: 10 },
  note,
});

interface Suspended {
  readonly runs: readonly string[];
  ended(): Promise<void>;
  stop(): Promise<void>;
}

async function suspend(system: System, prefix: string, event: object): Promise<Suspended> {
  const [waiting, over] = [new Set<string>(), new Set<string>()];
  const following = await followCommits(system, ({ source, run, workflow }) => {
    if (source !== "p_delay") return;
    if (workflow.status === "suspended") waiting.add(run.id);
    else over.add(run.id);
  });
  const runs = Array.from({ length: suspendedRuns }, (_, n) => `r_${prefix}${n}`);
  for (let start = 0; start < runs.length; start += batch) {
    const invocations = runs
      .slice(start, start + batch)
      .map((run) => ({ source: "p_delay", trigger: "manual" as const, run, at: Date.now(), event }));
    await invoke(system.connection, "p_delay", invocations);
    await until(() => waiting.size >= start + batch, "the runs are suspended");
  }
  await recordedUpTo(system);
  return { runs, ended: () => until(() => over.size >= suspendedRuns, "the runs have ended"), stop: () => following.stop() };
}
