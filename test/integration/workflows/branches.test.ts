import { describe, expect, it } from "vitest";
import { LimitExceeded } from "../../../domain/errors.ts";
import type { Invocation } from "../../../domain/invocation/invocation.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { defaultPool, partitionCount, runnerConsumer, streams } from "../../../domain/subjects.ts";
import type { WorkflowCommit } from "../../../domain/run/commit.ts";
import type { CommitStore } from "../../../runner/commit/ports.ts";
import type { Execution } from "../../../runner/sandbox/port.ts";
import { calledRun } from "../../../domain/workflow/call.ts";
import { suspensionsOf } from "../../../runner/workflow/branches.ts";
import { withJetStream, withPoolRequests } from "../jetstream/support.ts";
import { until } from "../../support/until.ts";
import { endedBy, returned, threw, treeOf, withWorkflows, type Node, type StepCode } from "./support.ts";

/** Branches of a run, on real streams; the code of steps is a function of the test. */
const nats = withJetStream({ partitions: partitionCount });
withPoolRequests(nats);
const { deploy, start, invoke, commits } = withWorkflows(nats);

const lastOf = async (workflow: string) => (await commits(workflow)).at(-1);
const statusOf = async (workflow: string) => (await lastOf(workflow))?.workflow.status;
async function untilStatus(workflow: string, ...statuses: readonly string[]): Promise<readonly string[]> {
  await until(async () => statuses.includes((await statusOf(workflow)) ?? ""), `the run is ${statuses.join(" or ")}`);
  return (await commits(workflow)).flatMap((commit) => {
    const steps = endedBy(commit).map(({ name, outcome }) => `${name} ${outcome}`);
    return steps.length === 0 ? [commit.workflow.status] : steps;
  });
}
const untilEnded = (workflow: string) => untilStatus(workflow, "succeeded", "failed", "exited", "canceled");
/** A runner of this process has all invocations of the workflow. */
async function untilDelivered(workflow: string): Promise<void> {
  const { manager } = nats.connection;
  const consumer = runnerConsumer(defaultPool, partitionOf(workflow));
  await until(async () => (await manager.consumers.info(streams.invocations, consumer)).num_pending === 0, "all were delivered");
  await new Promise((resolve) => setImmediate(resolve));
}
const begin = (source: string): Promise<void> => invoke({ source, trigger: "http", event: {} });
const parallel = (...names: readonly (readonly string[])[]): Node => ({
  name: "fork",
  parallel: names.map((list) => list.map((name) => ({ name }))),
});

/**
 * Code and commits of a run of branches `b0`, `b1` …: while the first one is committed, all others end.
 * @param append instead of that of the store
 */
function endWhileCommitted(branches: number, append: (store: CommitStore) => CommitStore["append"] = ({ append: own }) => own) {
  const [isCommitted, haveEnded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const executed: string[] = [];
  const code: StepCode = async ({ name }) => {
    if (name.startsWith("b") && name !== "b0") await isCommitted.promise;
    executed.push(name);
    if (executed.filter((each) => each.startsWith("b")).length === branches) setTimeout(haveEnded.resolve, 50);
    return { ...returned(name), logs: [{ k: "console.log", ts: 1, msg: name }] } as Execution;
  };
  const change = (store: CommitStore): CommitStore => ({
    ...store,
    append: async (owner, history, text, ...expected) => {
      if (namesOf(JSON.parse(text) as WorkflowCommit)[0] === "b0") {
        isCommitted.resolve();
        await haveEnded.promise;
      }
      return append(store)(owner, history, text, ...expected);
    },
  });
  return { executed, code, change };
}
const namesOf = (commit: WorkflowCommit): readonly string[] => endedBy(commit).map(({ name }) => name);

describe("branches of a run", () => {
  it("share a commit when they end while another one is stored: ten branches need one more than the slowest", async () => {
    const names = Array.from({ length: 10 }, (_, number) => `b${number}`);
    await deploy(treeOf("p_shared", [parallel(...names.map((name) => [name])), { name: "last" }]));
    const { executed, code, change } = endWhileCommitted(names.length);
    await start("r_shared", code, [], change);
    await begin("p_shared");
    await untilEnded("p_shared");
    const stored = await commits("p_shared");
    expect(stored.map((commit) => namesOf(commit).length)).toEqual([1, 1, 9, 1]);
    expect(stored.map(({ workflow: { number } }) => number)).toEqual([1, 2, 11, 12]);
    const [fork, first, others, last] = stored.map(namesOf);
    expect([fork, first, others?.toSorted(), last]).toEqual([["fork"], ["b0"], names.slice(1), ["last"]]);
    expect(stored[2]?.logs.map(({ msg }) => msg)).toEqual(others);
    expect(executed).toHaveLength(names.length + 2);
  });

  it("are committed alone if they are too large together", async () => {
    await deploy(treeOf("p_toolarge", [parallel(["b0"], ["b1"], ["b2"])]));
    const refused: number[] = [];
    const { executed, code, change } = endWhileCommitted(3, ({ append }) => async (owner, history, text, ...expected) => {
      const { before = [] } = (JSON.parse(text) as WorkflowCommit).workflow;
      if (before.length === 0) return append(owner, history, text, ...expected);
      refused.push(before.length);
      throw new LimitExceeded("more than a message has");
    });
    await start("r_toolarge", code, [], change);
    await begin("p_toolarge");
    await untilEnded("p_toolarge");
    const stored = (await commits("p_toolarge")).map(namesOf);
    expect([stored.flat().toSorted(), executed.toSorted(), refused]).toEqual([["b0", "b1", "b2", "fork"], ["b0", "b1", "b2", "fork"], [1]]);
    expect((await lastOf("p_toolarge"))?.workflow.status).toBe("succeeded");
  });

  it("run side by side, read nothing of one another, and are all read behind them", async () => {
    await deploy(treeOf("p_side", [{ name: "first" }, parallel(["a1", "a2"], ["b1"], ["c1"]), { name: "last" }]));
    const { promise: allBegan, resolve } = Promise.withResolvers<void>();
    const began = new Set<string>();
    const read: Record<string, readonly string[]> = {};
    await start("r_side", async ({ name, steps }) => {
      read[name] = Object.keys(steps).filter((each) => each !== "trigger");
      if (began.add(name).size === 5) resolve();
      if (name.endsWith("1")) await allBegan;
      return returned(name);
    });
    await begin("p_side");
    const done = await untilEnded("p_side");
    expect(done.slice(0, 2)).toEqual(["first succeeded", "fork succeeded"]);
    expect(done.slice(2).toSorted()).toEqual(["a1 succeeded", "a2 succeeded", "b1 succeeded", "c1 succeeded", "last succeeded"]);
    expect(done.at(-1)).toBe("last succeeded");
    expect(read).toMatchObject({ a1: ["first", "fork"], a2: ["first", "fork", "a1"], b1: ["first", "fork"], c1: ["first", "fork"] });
    expect(read["last"]?.toSorted()).toEqual(["a1", "a2", "b1", "c1", "first", "fork"]);
  });

  it("are as many items of a list as may be under way, with results in the order of the items", async () => {
    await deploy(treeOf("p_items", [{ name: "each", forEach: "{{ 1 }}", concurrency: 2, steps: [{ name: "act" }] }, { name: "last" }]));
    let [now, most, seen] = [0, 0, undefined as unknown];
    await start("r_items", async ({ name, steps }) => {
      if (name === "last") seen = steps["each"];
      if (name !== "act") return returned([30, 1, 20, 2, 10]);
      most = Math.max(most, ++now);
      const item = Number(steps["item"]?.["item"]);
      await new Promise((done) => setTimeout(done, item));
      now--;
      return returned(item * 2);
    });
    await begin("p_items");
    await untilEnded("p_items");
    expect([most, seen]).toEqual([2, { $results: [60, 2, 40, 4, 20] }]);
  });

  it("wait each for itself: a delay goes on while others run, and a request resumes its own", async () => {
    await deploy(treeOf("p_waits", [parallel(["pause", "late"], ["ask", "asked"], ["busy"]), { name: "last" }]));
    const { promise: isLate, resolve } = Promise.withResolvers<void>();
    const requests: Record<string, unknown> = {};
    await start("r_waits", async ({ name, steps }) => {
      if (name === "pause") return returned(1, { flow: { kind: "delay", ms: 1 } });
      if (name === "ask") return returned(2, { flow: { kind: "suspend", ms: 60_000 } });
      if (name === "busy") await isLate;
      if (name === "late") resolve();
      if (name === "asked") requests["asked"] = steps["ask"]?.["$resume_data"];
      return returned(name);
    });
    await begin("p_waits");
    await untilStatus("p_waits", "suspended");
    const suspended = await lastOf("p_waits");
    const [waiting, ...others] = suspensionsOf(suspended?.state ?? { suspension: null });
    expect([waiting?.kind, others, suspended?.workflow.resumeAt]).toEqual(["suspend", [], waiting?.until]);
    const resume = { run: suspended?.run.id ?? "", suspension: waiting?.number ?? 0, action: "resume" } as const;
    await invoke({ source: "p_waits", trigger: "resume", event: { body: "yes", headers: {} }, resume } as Invocation);
    expect((await untilEnded("p_waits")).at(-1)).toBe("last succeeded");
    expect(requests["asked"]).toMatchObject({ body: "yes" });
  });

  it("are all woken, though a run has one wake-up at a time", async () => {
    await deploy(treeOf("p_woken", [parallel(["late", "a2"], ["soon", "b2"], ["later", "c2"]), { name: "last" }]));
    const delays: Readonly<Record<string, number>> = { late: 1_500, soon: 1, later: 2_500 };
    const order: string[] = [];
    await start("r_woken", ({ name }) => {
      order.push(name);
      const ms = delays[name];
      return returned(name, ms === undefined ? {} : { flow: { kind: "delay", ms } });
    });
    await begin("p_woken");
    expect((await untilEnded("p_woken")).at(-1)).toBe("last succeeded");
    expect(order.slice(-4)).toEqual(["b2", "a2", "c2", "last"]);
  });

  it("end with the first that fails: others end their step, and nothing else begins", async () => {
    await deploy(treeOf("p_fails", [parallel(["bad"], ["good", "never"]), { name: "after" }]));
    const executed: string[] = [];
    const { promise: hasFailed, resolve } = Promise.withResolvers<void>();
    await start("r_fails", async ({ name }) => {
      executed.push(name);
      if (name === "bad") {
        setTimeout(resolve, 50);
        return threw("no luck");
      }
      if (name === "good") await hasFailed;
      return returned(name);
    });
    await begin("p_fails");
    expect(await untilEnded("p_fails")).toEqual(["fork succeeded", "bad failed", "good succeeded", "failed"]);
    expect(executed).toEqual(["fork", "bad", "good"]);
    const last = await lastOf("p_fails");
    expect([last?.error?.message, last?.workflow.failedStep?.name]).toEqual(["no luck", "bad"]);
  });

  it("are caught together, and fail one by one in a loop that continues", async () => {
    const loop: Node = { name: "each", forEach: "{{ 1 }}", concurrency: 3, onError: "continue", steps: [{ name: "act" }] };
    await deploy(
      treeOf("p_caught", [{ name: "guard", try: [parallel(["bad"], ["good"])], catch: [{ name: "handle" }] }, loop, { name: "last" }]),
    );
    let seen: unknown;
    const { promise: hasFailed, resolve } = Promise.withResolvers<void>();
    await start("r_caught", async ({ name, steps }) => {
      if (name === "bad") setTimeout(resolve, 50);
      // It is still under way when the other one has failed.
      if (name === "good") await hasFailed;
      if (name === "last") seen = { guard: steps["guard"], each: steps["each"] };
      if (name === "bad" || (name === "act" && steps["item"]?.["item"] === 2)) return threw("no luck");
      return returned(name === "each" ? [1, 2, 3] : name);
    });
    await begin("p_caught");
    const done = await untilEnded("p_caught");
    expect(done.slice(0, 5)).toEqual(["guard succeeded", "fork succeeded", "bad continued", "good succeeded", "handle succeeded"]);
    expect(done.at(-1)).toBe("last succeeded");
    const $error = expect.objectContaining({ message: "no luck" }) as unknown;
    expect(seen).toEqual({ guard: { $error }, each: { $results: ["act", { $error }, "act"] } });
  });

  it("do not keep a run waiting whose failure is caught while another one waits", async () => {
    const inner: Node = { name: "inner", parallel: [[{ name: "bad" }], [{ name: "ask" }]] };
    const loop: Node = { name: "each", forEach: "{{ 1 }}", concurrency: 2, steps: [{ name: "act" }, { name: "held" }] };
    const guard: Node = { name: "guard", try: [inner], catch: [{ name: "handle" }] };
    await deploy(treeOf("p_beside", [{ name: "fork", parallel: [[guard], [loop]] }, { name: "last" }]));
    const { promise: isAsked, resolve } = Promise.withResolvers<void>();
    await start("r_beside", async ({ name, steps }) => {
      const item = steps["item"]?.["item"];
      if (name === "ask") setTimeout(resolve, 50);
      if (name === "bad") {
        await isAsked;
        return threw("no luck");
      }
      const waits = name === "ask" || (name === "act" && item === 1);
      return returned(name === "each" ? [1, 2, 3] : name, waits ? { flow: { kind: "suspend", ms: 60_000 } } : {});
    });
    await begin("p_beside");
    // Items two and three go on while the first one waits.
    const held = async () => (await commits("p_beside")).flatMap(namesOf).filter((name) => name === "held").length;
    await until(async () => (await held()) === 2 && (await statusOf("p_beside")) === "suspended", "two items have ended");
    const last = await lastOf("p_beside");
    const [waiting, ...others] = suspensionsOf(last?.state ?? { suspension: null });
    expect([waiting?.kind, others]).toEqual(["suspend", []]);
    const resume = { run: last?.run.id ?? "", suspension: waiting?.number ?? 0, action: "resume" } as const;
    await invoke({ source: "p_beside", trigger: "resume", event: null, resume });
    expect((await untilEnded("p_beside")).at(-1)).toBe("last succeeded");
  });

  it("begin nothing more when the run is canceled, and end what they have begun before it", async () => {
    await deploy(treeOf("p_stop", [{ name: "each", forEach: "{{ 1 }}", concurrency: 50, steps: [{ name: "act" }, { name: "more" }] }]));
    const executed: string[] = [];
    const { promise: isAsked, resolve } = Promise.withResolvers<void>();
    await start("r_stop", async ({ name }) => {
      executed.push(name);
      if (name === "act") await isAsked;
      return returned(name === "each" ? Array.from({ length: 30 }, (_, item) => item) : name);
    });
    await begin("p_stop");
    await until(() => executed.includes("act"), "items have begun");
    const run = (await lastOf("p_stop"))?.run.id ?? "";
    await invoke({ source: "p_stop", trigger: "control", event: null, control: { run, action: "cancel" } });
    await untilDelivered("p_stop");
    resolve();
    const done = await untilEnded("p_stop");
    expect([done.at(-1), executed.includes("more")]).toEqual(["canceled", false]);
    expect(done.filter((text) => text === "act succeeded")).toHaveLength(executed.length - 1);
  });

  it("end the run when one exits it", async () => {
    await deploy(treeOf("p_exit", [parallel(["out"], ["ask"]), { name: "never" }]));
    await start("r_exit", ({ name }) =>
      name === "out"
        ? returned(null, { flow: { kind: "exit", reason: "enough" } })
        : returned(null, name === "ask" ? { flow: { kind: "suspend", ms: null } } : {}),
    );
    await begin("p_exit");
    const done = await untilEnded("p_exit");
    expect([done.at(-1), (await lastOf("p_exit"))?.workflow.reason]).toEqual(["exited", "enough"]);
  });

  it("are retried, and called workflows return to their own branch", async () => {
    const call = (name: string): Node => ({ name, workflow: "p_other", wait: true });
    const tree: Node[] = [{ name: "fork", parallel: [[call("one")], [call("two")], [{ name: "flaky", retries: 1 }]] }, { name: "last" }];
    await deploy(treeOf("p_calls", tree));
    let [failures, seen] = [0, undefined as unknown];
    await start("r_calls", ({ name, steps }) => {
      if (name === "last") seen = steps;
      return name === "flaky" && failures++ === 0 ? threw("not yet") : returned(name);
    });
    await begin("p_calls");
    await until(async () => (await lastOf("p_calls"))?.workflow.status === "suspended" && failures === 2, "both wait");
    const last = await lastOf("p_calls");
    const calls = (await commits("p_calls")).flatMap(({ workflow: { call: made } }) => made ?? []);
    expect(calls.map(({ workflow }) => workflow)).toEqual(["p_other", "p_other"]);
    for (const { called, number } of suspensionsOf(last?.state ?? { suspension: null }).toReversed()) {
      const value = { run: called?.run ?? "", status: "succeeded", value: JSON.stringify(called?.run) } as const;
      const resume = { run: last?.run.id ?? "", suspension: number, action: "resume" } as const;
      await invoke({ source: "p_calls", trigger: "resume", event: null, resume, returned: value });
    }
    expect((await untilEnded("p_calls")).at(-1)).toBe("last succeeded");
    const steps = (await commits("p_calls"))
      .filter(({ workflow: { call: made } }) => made !== undefined)
      .map(({ workflow: { step } }) => step?.name);
    const runs = Object.fromEntries(steps.map((name, index) => [name ?? "", { $return_value: calledRun(calls[index]?.id ?? "") }]));
    expect(seen).toMatchObject({ ...runs, flaky: { $return_value: "flaky" } });
  });

  it("are canceled together, with the runs for which they wait", async () => {
    const call = (name: string): Node => ({ name, workflow: "p_other", wait: true });
    await deploy(treeOf("p_cancel", [{ name: "fork", parallel: [[call("one")], [call("two")], [{ name: "ask" }]] }]));
    await start("r_cancel", ({ name }) => returned(name, name === "ask" ? { flow: { kind: "suspend", ms: null } } : {}));
    await begin("p_cancel");
    await untilStatus("p_cancel", "suspended");
    const run = (await lastOf("p_cancel"))?.run.id ?? "";
    await invoke({ source: "p_cancel", trigger: "control", event: null, control: { run, action: "cancel" } });
    expect((await untilEnded("p_cancel")).at(-1)).toBe("canceled");
    expect((await lastOf("p_cancel"))?.workflow.cancels).toEqual(
      ["p_other", "p_other"].map((workflow) => ({ workflow, run: expect.any(String) as string })),
    );
  });

  it("stay where they are while the run is paused, also when the time of one has come", async () => {
    await deploy(treeOf("p_pause", [parallel(["wait", "a2"], ["busy", "b2"])]));
    const executed: string[] = [];
    const { promise: isAsked, resolve } = Promise.withResolvers<void>();
    await start("r_pause", async ({ name }) => {
      executed.push(name);
      if (name === "busy") await isAsked;
      return returned(name, name === "wait" ? { flow: { kind: "suspend", ms: 60_000 } } : {});
    });
    await begin("p_pause");
    await until(() => executed.includes("busy") && executed.includes("wait"), "both have begun");
    await until(async () => (await commits("p_pause")).length >= 2, "one waits");
    const first = await lastOf("p_pause");
    const run = first?.run.id ?? "";
    await invoke({ source: "p_pause", trigger: "control", event: null, control: { run, action: "pause" } });
    resolve();
    await untilStatus("p_pause", "suspended");
    const waiting = suspensionsOf((await lastOf("p_pause"))?.state ?? { suspension: null });
    expect(waiting.map(({ kind }) => kind)).toEqual(["pause", "suspend"]);
    const resume = { run, suspension: waiting[1]?.number ?? 0, action: "resume" } as const;
    await invoke({ source: "p_pause", trigger: "resume", event: null, resume });
    await until(async () => suspensionsOf((await lastOf("p_pause"))?.state ?? { suspension: null }).length === 1, "only the pause is left");
    expect([await statusOf("p_pause"), executed.toSorted()]).toEqual(["suspended", ["busy", "fork", "wait"]]);
    const after = (await lastOf("p_pause"))?.workflow.number ?? 0;
    await invoke({ source: "p_pause", trigger: "control", event: null, control: { run, action: "resume", after } });
    expect((await untilEnded("p_pause")).at(-1)).toBe("succeeded");
    expect(executed.toSorted()).toEqual(["a2", "b2", "busy", "fork", "wait"]);
  });
});
