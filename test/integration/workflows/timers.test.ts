import { describe, expect, it } from "vitest";
import type { Invocation } from "../../../domain/invocation/invocation.ts";
import { decodePack } from "../../../domain/invocation/invocation.ts";
import type { Overlap } from "../../../domain/schedule/timer-options.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { defaultPool, invokeSubject, partitionCount, streams, timerSubject } from "../../../domain/subjects.ts";
import { until } from "../../support/until.ts";
import { withJetStream, withPoolRequests } from "../jetstream/support.ts";
import { returned, withWorkflows, workflowOf, type StepCode } from "./support.ts";

/** Real streams and runners; ticks are sent by the test, in place of the next time of a timer that ticks once a year. */
const nats = withJetStream({ partitions: partitionCount });
withPoolRequests(nats);
const { deploy, start, invoke, commits } = withWorkflows(nats);

const year = 31_536_000;
const startMs = Date.now();

/** A workflow with one timer, whose first runs wait in step one until `open` is called. */
async function deployed(id: string, overlap: Overlap, isDelayed = false) {
  await deploy(workflowOf(id, ["one", "two"], { timers: { "timer-0": { kind: "interval", intervalSeconds: year, overlap } } }));
  const seen: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const code: StepCode = async ({ name, steps }) => {
    const timestamp = timeOf(steps);
    seen.push(`${name} ${yearOf(timestamp * 1_000)}`);
    if (name === "one" && yearOf(timestamp * 1_000) === 0) {
      if (isDelayed) return returned(null, { flow: { kind: "delay", ms: 100 * year } });
      await promise;
    }
    return returned(name);
  };
  return { seen, open: resolve, code };
}

type Steps = Parameters<StepCode>[0]["steps"];
/** The time of the tick, epoch seconds. */
const timeOf = ({ trigger = {} }: Steps): number => (trigger["event"] as { readonly timestamp: number }).timestamp;
const yearOf = (ms: number): number => Math.round((ms - startMs) / (year * 1_000));
const first = (source: string): Invocation => ({
  source,
  trigger: "timer",
  generation: 1,
  chain: "timer-0",
  at: startMs,
  event: { interval_seconds: year },
});
interface Armed {
  readonly link: Invocation;
  /** Greater each time a tick is armed, also the same one. */
  readonly seq: number;
}

/** The tick that is armed. */
async function findArmed(workflow: string): Promise<Armed | undefined> {
  const subject = timerSubject(workflow, "timer-0");
  const found = await nats.connection.manager.streams.getMessage(streams.invocations, { last_by_subj: subject }).catch(() => null);
  const [link] = found === null ? [] : decodePack(found.string());
  return found === null || link === undefined ? undefined : { link, seq: found.seq };
}
const armed = async (workflow: string): Promise<Invocation | undefined> => (await findArmed(workflow))?.link;
/** Sends a tick, which then waits: it is armed again. */
async function invokeWaiting(tick: Invocation): Promise<void> {
  const before = (await findArmed(tick.source))?.seq ?? 0;
  await invoke(tick);
  await until(async () => ((await findArmed(tick.source))?.seq ?? 0) > before, "the tick waits");
}
/** Invocations of the workflow that no runner has finished. */
async function queued(workflow: string): Promise<number> {
  const filter = invokeSubject(defaultPool, partitionOf(workflow), workflow);
  const { state } = await nats.connection.manager.streams.info(streams.invocations, { subjects_filter: filter });
  return state.subjects?.[filter] ?? 0;
}
async function untilArmed(workflow: string, years: number): Promise<Invocation> {
  let link: Invocation | undefined;
  const isArmed = async (): Promise<boolean> => {
    link = await armed(workflow);
    return link?.at !== undefined && yearOf(link.at) === years;
  };
  await until(isArmed, `the tick of year ${years} is armed`);
  if (link === undefined) throw new Error("nothing is armed");
  return link;
}
const untilEnded = (workflow: string, status: string, runs = 1): Promise<void> =>
  until(
    async () => (await commits(workflow)).filter(({ workflow: run }) => run.status === status).length === runs,
    `${runs} runs are ${status}`,
  );

describe("a tick that is due while the last run has not ended", () => {
  it("starts a run beside it if the timer allows that", async () => {
    const { seen, open, code } = await deployed("p_allow", "allow");
    await start("r_allow", code);
    await invoke(first("p_allow"));
    await invoke(await untilArmed("p_allow", 1));
    await until(() => seen.includes("two 1"), "the second run has ended");
    expect(seen).not.toContain("two 0");
    open();
    await untilEnded("p_allow", "succeeded", 2);
  });

  it("is skipped with its reason, also when a runner was replaced", async () => {
    const { seen, open, code } = await deployed("p_skip", "skip");
    const runner = await start("r_skip", code);
    await invoke(first("p_skip"));
    const second = await untilArmed("p_skip", 1);
    await until(() => seen.length === 1, "the first run has begun");
    await invoke(second);
    const third = await untilArmed("p_skip", 2);
    expect(third.skips).toEqual([{ dueAt: second.at, reason: "earlier_tick_unfinished" }]);
    open();
    await untilEnded("p_skip", "succeeded");
    await runner.stop(AbortSignal.timeout(500));
    await start("r_skip2", code);
    await invoke(third);
    await untilEnded("p_skip", "succeeded", 2);
    expect(seen).toEqual(["one 0", "two 0", "one 2", "two 2"]);
    const ticks = (await commits("p_skip")).map(({ run: { dueAt, skippedTicks } }) => [dueAt, skippedTicks]);
    expect(ticks).toEqual([
      [startMs, undefined],
      [undefined, undefined],
      [third.at, [second.at]],
      [undefined, undefined],
    ]);
  });

  it("is skipped while that run is suspended", async () => {
    const { seen, code } = await deployed("p_late", "skip", true);
    await start("r_late", code);
    await invoke(first("p_late"));
    await untilEnded("p_late", "suspended");
    await invoke(await untilArmed("p_late", 1));
    expect((await untilArmed("p_late", 2)).skips).toHaveLength(1);
    expect(seen).toEqual(["one 0"]);
  });

  it("waits for its end if the timer queues, and then runs", async () => {
    const { seen, open, code } = await deployed("p_queue", "queue");
    await start("r_queue", code);
    await invoke(first("p_queue"));
    const second = await untilArmed("p_queue", 1);
    await until(() => seen.length === 1, "the first run has begun");
    await invokeWaiting(second);
    expect(seen).toEqual(["one 0"]);
    open();
    await untilEnded("p_queue", "succeeded", 2);
    expect(seen).toEqual(["one 0", "two 0", "one 1", "two 1"]);
    await untilArmed("p_queue", 2);
  });

  it("cancels that run if the timer says so, and then runs", async () => {
    const { seen, open, code } = await deployed("p_cancel", "cancel");
    await start("r_cancel", code);
    await invoke(first("p_cancel"));
    const second = await untilArmed("p_cancel", 1);
    await until(() => seen.length === 1, "the first run has begun");
    await invokeWaiting(second);
    await until(async () => (await queued("p_cancel")) === 2, "the cancellation is queued behind the run");
    open();
    await untilEnded("p_cancel", "succeeded");
    expect((await commits("p_cancel")).find(({ workflow }) => workflow.status === "canceled")?.workflow.reason).toBe(
      "the next tick of its timer is due",
    );
    expect(seen).toEqual(["one 0", "one 1", "two 1"]);
  });
});

it("leaves the chain as it is when a tick far behind is repeated after a crash", async () => {
  const { seen, open, code } = await deployed("p_behind", "skip");
  open();
  await start("r_behind", code);
  await invoke(first("p_behind"));
  await untilEnded("p_behind", "succeeded");
  await invoke(await untilArmed("p_behind", 1));
  const third = await untilArmed("p_behind", 2);
  await untilEnded("p_behind", "succeeded", 2);
  await invoke(first("p_behind"));
  await until(async () => (await queued("p_behind")) === 0, "it is acked");
  expect(await armed("p_behind")).toEqual(third);
  expect(seen).toHaveLength(4);
});

describe("a backfill", () => {
  const hour = 3_600_000;
  const backfill = (source: string, inTurn: boolean): Invocation => ({
    source,
    trigger: "timer",
    generation: 1,
    chain: `backfill-${source.slice(2)}`,
    at: 10 * hour,
    event: { interval_seconds: 3_600 },
    backfill: { until: 15 * hour, inTurn },
  });

  it("runs each tick of the range once, in order, although its runner is replaced", async () => {
    await deploy(workflowOf("p_past", ["one"]));
    const seen: number[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const code: StepCode = ({ steps }) => {
      seen.push(timeOf(steps) / 3_600);
      if (seen.length === 2) resolve();
      return returned(null);
    };
    const runner = await start("r_past", code);
    await invoke(backfill("p_past", false));
    await promise;
    await runner.stop(AbortSignal.timeout(500));
    await start("r_past2", code);
    await untilEnded("p_past", "succeeded", 5);
    expect(seen).toEqual([10, 11, 12, 13, 14]);
    expect((await commits("p_past")).map(({ run: { dueAt } }) => dueAt)).toEqual(Array.from({ length: 5 }, () => undefined));
  });

  it("waits for a suspended run if the timer allows no two at once", async () => {
    await deploy(workflowOf("p_turn", ["one"]));
    const seen: number[] = [];
    await start("r_turn", ({ steps }) => {
      const timestamp = timeOf(steps);
      seen.push(timestamp / 3_600);
      return returned(null, timestamp === 10 * 3_600 ? { flow: { kind: "delay", ms: 1_500 } } : {});
    });
    await invoke(backfill("p_turn", true));
    await untilEnded("p_turn", "succeeded", 5);
    const statuses = (await commits("p_turn")).map(({ workflow: { status } }) => status);
    expect(statuses).toEqual(["suspended", ...Array.from({ length: 5 }, () => "succeeded")]);
    expect(seen).toEqual([10, 11, 12, 13, 14]);
  });
});
