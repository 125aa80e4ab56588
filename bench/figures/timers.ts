import { encodePack } from "../../domain/invocation/invocation.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { defaultPool, invokeSubject, streams, timerSubject } from "../../domain/subjects.ts";
import { setTimer } from "../../platform/jetstream/schedules.ts";
import type { Figure } from "../figure.ts";
import { Entries, inChunks, sourceIds } from "../harness/deploy.ts";
import { cpuBetween, formatParts, total } from "../../test/support/process-tree.ts";
import { followRuns, pause, runOnce } from "../harness/load/runs.ts";
import { allRoles, startSystem, type System } from "../harness/system.ts";
import { countTicks } from "../harness/measure/tick-ledger.ts";

/**
 * Timers of one interval for some minutes, all roles running. Which ticks are due follows from the stream: the server sets an interval's
 * ticks on whole seconds after the second in which the schedule was stored. Late is the start of the run after that, as its commit says.
 */
const code = (component: number): string =>
  `export default { name: "Bench ${component}", props: { timer: "$.interface.timer" }, run() {} };`;
/** Time for the first ticks, and for late ones at the end, ms. */
const maxSettleMs = 20_000;
const megabyte = 2 ** 20;

export async function run(options: TimerOptions): Promise<readonly Figure[]> {
  const system = await startSystem({ roles: allRoles });
  try {
    return await measure(system, options);
  } finally {
    await system.stop();
  }
}

export interface TimerOptions {
  readonly seconds: number;
  /** Number of sources. */
  readonly timers: number;
  /** Seconds between two ticks. */
  readonly interval: number;
  /** Components and owners that the sources are spread over evenly. */
  readonly components: number;
  readonly owners: number;
}

async function measure(system: System, options: TimerOptions): Promise<readonly Figure[]> {
  const { connection } = system;
  const { seconds, timers, interval } = options;
  const intervalMs = interval * 1_000;
  const ids = sourceIds("t", timers);
  const startedAt = new Map<string, number[]>(ids.map((id) => [id, []]));
  await deploy(system, ids, options);
  let skipped = 0;
  const following = await followRuns(connection, ({ source, run, logs }) => {
    startedAt.get(source)?.push(run.startedAt);
    for (const { msg = "" } of logs) skipped += Number(/^(\d+) ticks? w(?:as|ere) skipped/.exec(msg)?.[1] ?? 0);
  });
  const phases = await phasesOf(system, ids);
  await pause(Math.min(2 * intervalMs, maxSettleMs));
  const fromMs = Date.now() + 1_000;
  const before = system.cpu();
  await pause(1_000 + seconds * 1_000);
  const parts = cpuBetween(before, system.cpu());
  const toMs = fromMs + seconds * 1_000;
  const memory = system.memory();
  await pause(Math.min(intervalMs, maxSettleMs)); // Late ones still count.
  await following.stop();
  const ticks = countTicks(
    ids.map((id) => ({ phaseMs: phases.get(id) ?? 0, startedAt: startedAt.get(id) ?? [] })),
    intervalMs,
    { fromMs, toMs },
  );
  const held = `memory ${Math.round(total(memory) / megabyte)} MB, of it sandbox ${Math.round((memory.get("sandbox") ?? 0) / megabyte)} MB`;
  const note = `${timers} sources of ${options.owners} owners and ${options.components} components at ${interval} s for ${seconds} s, ${ticks.expected} ticks; ${skipped} reported as skipped because their source still waited for its last; late p50 ${ticks.lateP50Ms.toFixed(0)}, p99 ${ticks.lateP99Ms.toFixed(0)}, most ${ticks.lateMaxMs.toFixed(0)} ms; CPU-ms per run ${(total(parts) / ticks.expected).toFixed(2)}: ${formatParts(parts, ticks.expected)}; ${held}`;
  return [
    { name: "timer ticks missed", value: ticks.missed, unit: "ticks", goal: { of: "value", atMost: 0 }, note },
    { name: "timer ticks doubled", value: ticks.doubled, unit: "ticks", goal: { of: "value", atMost: 0 } },
    { name: "timer ticks late, p99", value: ticks.lateP99Ms, unit: "ms", goal: { of: "value", atMost: timers > 2_000 ? 500 : 250 } },
  ];
}

async function deploy(system: System, ids: readonly string[], { interval, components, owners }: TimerOptions): Promise<void> {
  const entries = new Entries(system);
  const builds = await Promise.all(Array.from({ length: components }, (_, index) => entries.build(code(index))));
  await inChunks(ids, async (id, index) => {
    const build = builds[Math.floor(index / owners) % components];
    if (build !== undefined) await entries.deploy(id, build, 1, `u_bench${index % owners}`);
  });
  // Warm, or gone again if there is no room for all: that many isolates at once are another figure, and would move the schedules.
  await runOnce(system.connection, ids);
  // A moment apart, so that ticks fall on each second of the interval, as those of sources made by people do.
  const perSecond = ids.length / interval;
  const armedFrom = performance.now();
  await inChunks(
    ids,
    async (id, index) => {
      await pause(Math.max(0, (index / perSecond) * 1_000 - (performance.now() - armedFrom)));
      await setTimer(system.connection.publisher, {
        source: id,
        prop: "timer",
        schedule: { kind: "every", every: `${interval}s` },
        target: invokeSubject(defaultPool, partitionOf(id), id),
        body: encodePack([JSON.stringify({ source: id, trigger: "timer", event: { interval_seconds: interval } })]),
      });
    },
    100,
  );
}

/** A due tick of each: the server rounds the time at which it stored the schedule to a second. */
async function phasesOf({ connection }: System, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const phases = new Map<string, number>();
  await inChunks(ids, async (id) => {
    const schedule = await connection.manager.direct.getMessage(streams.invocations, {
      last_by_subj: timerSubject(id, "timer"),
    });
    if (schedule === null) throw new Error(`the schedule of ${id} is gone`);
    phases.set(id, Math.round(schedule.time.getTime() / 1_000) * 1_000);
  });
  return phases;
}
