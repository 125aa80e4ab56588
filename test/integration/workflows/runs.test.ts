import { expect, it } from "vitest";
import type { Answer } from "../../../domain/invocation/invocation.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { partitionCount, poolRequestSubject, runSubject, streams } from "../../../domain/subjects.ts";
import { endMarker } from "../../../domain/workflow/run-commit.ts";
import { withJetStream, withPoolRequests } from "../jetstream/support.ts";
import { until } from "../../support/until.ts";
import { owner, returned, stepOf, threw, withWorkflows, workflowOf } from "./support.ts";

/** Real streams and runners; the code of steps is a function of the test. */
const nats = withJetStream({ partitions: partitionCount });
withPoolRequests(nats);
const { deploy, start, invoke, commits } = withWorkflows(nats);

/** No invocation is left; schedules may be. */
async function isEmpty(): Promise<boolean> {
  const { state } = await nats.connection.manager.streams.info(streams.invocations, { subjects_filter: "invoke.>" });
  return Object.keys(state.subjects ?? {}).length === 0;
}

const isIdle = async (): Promise<boolean> => (await nats.connection.manager.streams.info(streams.invocations)).state.messages === 0;
const untilEnded = (workflow: string, runs = 1): Promise<void> =>
  until(
    async () => (await commits(workflow)).filter(({ workflow: { status } }) => !["running", "suspended"].includes(status)).length >= runs,
    "all runs have ended",
  );

it("executes the steps of a workflow in order, each with the exports of the steps before, and commits after each", async () => {
  await deploy(workflowOf("p_three", ["one", "two", "three"]));
  await start("r_three", ({ name, steps }) =>
    returned({ name, seen: Object.keys(steps), event: steps["trigger"]?.["event"] }, { exports: { $summary: '"done"' } }),
  );
  await invoke({ source: "p_three", trigger: "http", event: { n: 1 } });
  await untilEnded("p_three");
  const all = await commits("p_three");
  expect(all.map(({ workflow }) => [workflow.number, workflow.status, workflow.step?.name, workflow.step?.outcome])).toEqual([
    [1, "running", "one", "succeeded"],
    [2, "running", "two", "succeeded"],
    [3, "succeeded", "three", "succeeded"],
  ]);
  expect(new Set(all.map(({ run }) => run.id)).size).toBe(1);
  expect(JSON.parse(all[2]?.workflow.step?.exports ?? "")).toEqual({
    $summary: "done",
    $return_value: { name: "three", seen: ["trigger", "one", "two"], event: { n: 1 } },
  });
});

it("acks the invocation of an ended run, and marks its history so that NATS forgets it", async () => {
  await deploy(workflowOf("p_end", ["one"]));
  await start("r_end", () => returned(1));
  await invoke({ source: "p_end", trigger: "http", event: {} });
  await untilEnded("p_end");
  await until(isEmpty, "the invocation is acked");
  const [commit] = await commits("p_end");
  const subject = `${runSubject(partitionOf("p_end"), owner, "p_end")}.${commit?.run.id}`;
  const last = async () => nats.connection.manager.direct.getMessage(streams.state, { last_by_subj: subject });
  await until(async () => (await last())?.string() === endMarker, "the end marker replaces the last commit in STATE");
  expect((await last())?.header.get("Nats-TTL")).toBe("600s");
});

it("continues behind the last committed step after its runner was killed, and counts the attempt of the step in flight", async () => {
  await deploy(workflowOf("p_crash", ["one", "two", "three"]));
  const [first, second]: [string[], string[]] = [[], []];
  const killed = await start("r_killed", ({ name }) => {
    first.push(name);
    return name === "two" ? new Promise(() => undefined) : returned(name);
  });
  await invoke({ source: "p_crash", trigger: "http", event: {} });
  await until(() => first.includes("two"), "the second step runs");
  await killed.stop(AbortSignal.abort());
  await start("r_next", ({ name, context }) => {
    second.push(`${name} ${String(context["attempt"])}`);
    return returned(name);
  });
  await untilEnded("p_crash");
  expect(first).toEqual(["one", "two"]);
  expect(second).toEqual(["two 2", "three 1"]);
});

it("suspends a run for a delay, and continues with the next step when its time has come", async () => {
  await deploy(workflowOf("p_delay", ["wait", "after"]));
  const at: number[] = [];
  await start("r_delay", ({ name }) => {
    at.push(Date.now());
    return returned(name, name === "wait" ? { flow: { kind: "delay", ms: 1_500 } } : {});
  });
  await invoke({ source: "p_delay", trigger: "http", event: {} });
  await untilEnded("p_delay");
  expect((await commits("p_delay")).map(({ workflow }) => workflow.status)).toEqual(["suspended", "succeeded"]);
  expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(1_000);
  await until(isIdle, "no wake-up is left");
});

it("sets the wake-up of a further suspension without one that may replace it", async () => {
  const asked: number[] = [];
  const sniffing = nats.connection.nats.subscribe(poolRequestSubject("*", "wake"), {
    callback: (_, message) => void asked.push(message.json<{ suspension: number }>().suspension),
  });
  await deploy(workflowOf("p_again", ["ask", "wait", "ask_again"]));
  await start("r_again", ({ name }) =>
    returned(name, { flow: name === "wait" ? { kind: "delay", ms: 1 } : { kind: "suspend", ms: 60_000 } }),
  );
  await invoke({ source: "p_again", trigger: "http", event: {} });
  const untilSuspended = (count: number) => until(() => asked.length >= count, `${count} wake-ups were set`);
  await untilSuspended(1);
  const run = (await commits("p_again"))[0]?.run.id ?? "";
  await invoke({ source: "p_again", trigger: "resume", resume: { run, suspension: 1, action: "resume" } });
  await untilSuspended(3);
  await invoke({ source: "p_again", trigger: "resume", resume: { run, suspension: 3, action: "resume" } });
  await untilEnded("p_again");
  await until(isIdle, "no wake-up is left");
  sniffing.unsubscribe();
  // The last one ends that of the third suspension, which was to last a minute.
  expect(asked).toEqual([1, 2, 3, 3]);
});

it("resumes a suspended run by its URL once, with the request in the exports of the step that suspended it", async () => {
  await deploy(workflowOf("p_resume", ["ask", "after"]));
  const seen: unknown[] = [];
  let urls: readonly (string | undefined)[] = [];
  await start("r_resume", ({ name, steps, request }) => {
    if (name === "ask") urls = [request.action?.resumeUrl, request.action?.cancelUrl];
    else seen.push(steps["ask"]?.["$resume_data"]);
    return returned(name, name === "ask" ? { flow: { kind: "suspend", ms: null } } : {});
  });
  await invoke({ source: "p_resume", trigger: "http", event: {} });
  await until(async () => (await commits("p_resume")).length === 1, "the run is suspended");
  const [commit] = await commits("p_resume");
  const run = commit?.run.id ?? "";
  expect(urls[0]).toMatch(new RegExp(`^https://hooks\\.example\\.com/p_resume/runs/${run}/1/resume/\\d+/[\\w-]{43}$`));
  const request = {
    method: "POST",
    path: "/",
    url: "https://hooks.example.com/",
    query: {},
    headers: {},
    client_ip: "::1",
    body: { ok: true },
  };
  for (const suspension of [2, 1, 1])
    await invoke({ source: "p_resume", trigger: "resume", resume: { run, suspension, action: "resume" }, event: request });
  await untilEnded("p_resume");
  await until(isIdle, "all resumes are acked, and no wake-up is left");
  expect(seen).toEqual([request]);
  expect((await commits("p_resume")).map(({ workflow }) => workflow.status)).toEqual(["suspended", "succeeded"]);
});

it("cancels a suspended run by its cancel URL, and one that nothing resumes in time", async () => {
  await deploy(workflowOf("p_cancel", ["ask", "after"]));
  const names: string[] = [];
  await start("r_cancel", ({ name, steps }) => {
    names.push(name);
    return returned(name, { flow: { kind: "suspend", ms: steps["trigger"]?.["event"] === 1 ? 500 : null } });
  });
  await invoke({ source: "p_cancel", trigger: "manual", run: "r_late", event: 1 });
  await invoke({ source: "p_cancel", trigger: "manual", run: "r_asked", event: 2 });
  await until(async () => (await commits("p_cancel")).length >= 2, "both runs are suspended");
  await invoke({ source: "p_cancel", trigger: "resume", resume: { run: "r_asked", suspension: 1, action: "cancel" } });
  await untilEnded("p_cancel", 2);
  const ended = (await commits("p_cancel")).filter(({ workflow }) => workflow.status === "canceled");
  expect(Object.fromEntries(ended.map(({ run, workflow }) => [run.id, workflow.reason]))).toEqual({
    r_late: "nothing resumed it in time",
    r_asked: "its cancel URL was requested",
  });
  expect(names).toEqual(["ask", "ask"]);
});

it("runs a step again by $.flow.rerun with its context, and fails it beyond the limit", async () => {
  await deploy(workflowOf("p_rerun", ["poll"]));
  const runs: unknown[] = [];
  await start("r_rerun", ({ context }) => {
    runs.push(context["run"]);
    return returned(null, { flow: { kind: "rerun", ms: 10, context: '{"page":2}', maxRetries: 2 } });
  });
  await invoke({ source: "p_rerun", trigger: "http", event: {} });
  await untilEnded("p_rerun");
  expect(runs).toEqual([{ runs: 1 }, { runs: 2, context: { page: 2 } }, { runs: 3, context: { page: 2 } }]);
  const last = (await commits("p_rerun")).at(-1);
  expect(last?.workflow.status).toBe("failed");
  expect(last?.error?.code).toBe("rerun_limit");
});

it("retries a failing step as often as it says, then fails the run with the error and the event of the trigger", async () => {
  await deploy(workflowOf("p_retry", [], { steps: [stepOf("p_retry", "flaky", { retries: 1 })] }));
  await start("r_retry", () => threw("no answer"));
  await invoke({ source: "p_retry", trigger: "http", event: { n: 1 } });
  await untilEnded("p_retry");
  const all = await commits("p_retry");
  expect(all.map(({ workflow, error }) => [workflow.step?.outcome, workflow.step?.attempt, error?.message])).toEqual([
    ["retried", 1, undefined],
    ["failed", 2, "no answer"],
  ]);
  expect(all.at(-1)?.run.received).toBe('{"n":1}');
});

it("continues after a failure if the step says so, with the error as an export", async () => {
  await deploy(workflowOf("p_go", [], { steps: [stepOf("p_go", "bad", { continueOnError: true }), stepOf("p_go", "next")] }));
  const seen: unknown[] = [];
  await start("r_go", ({ name, steps }) => {
    if (name === "next") seen.push(steps["bad"]?.["$error"]);
    return name === "bad" ? threw("broken") : returned(1);
  });
  await invoke({ source: "p_go", trigger: "http", event: {} });
  await untilEnded("p_go");
  expect(seen).toEqual([{ name: "Error", message: "broken" }]);
  expect((await commits("p_go")).map(({ workflow, error }) => [workflow.status, workflow.step?.outcome, error])).toEqual([
    ["running", "continued", null],
    ["succeeded", "succeeded", null],
  ]);
});

it("continues after a step whose result is too large to store, if the step says so, and fails the run otherwise", async () => {
  const big = "x".repeat(4_194_300);
  const steps = (workflow: string, continueOnError: boolean) => [
    stepOf(workflow, "fits"),
    stepOf(workflow, "big", { continueOnError }),
    stepOf(workflow, "next"),
  ];
  await deploy(workflowOf("p_big", [], { steps: steps("p_big", true) }));
  await deploy(workflowOf("p_toobig", [], { steps: steps("p_toobig", false) }));
  const seen: unknown[] = [];
  await start("r_big", ({ name, steps: earlier }) => {
    if (name === "next") seen.push(earlier["big"]?.["$error"]);
    return returned(name === "next" ? 1 : big);
  });
  for (const source of ["p_big", "p_toobig"]) await invoke({ source, trigger: "http", event: {} });
  await untilEnded("p_big");
  await untilEnded("p_toobig");
  const message = expect.stringMatching(/have 838\d{4} characters of JSON: a run may have 8388608; export less/) as string;
  const error = { name: "LimitError", code: "commit_too_large", message };
  expect(seen).toEqual([error]);
  const outcomes = async (workflow: string) =>
    (await commits(workflow)).map(({ workflow: { step }, error: failed }) => [step?.outcome, failed]);
  expect(await outcomes("p_big")).toEqual([
    ["succeeded", null],
    ["continued", null],
    ["succeeded", null],
  ]);
  expect(await outcomes("p_toobig")).toEqual([
    ["succeeded", null],
    ["failed", error],
  ]);
});

it("finishes a run on the version with which it began", async () => {
  await deploy(workflowOf("p_versions", ["wait", "old"]));
  const names: string[] = [];
  await start("r_versions", ({ name }) => {
    names.push(name);
    return returned(name, name === "wait" ? { flow: { kind: "suspend", ms: null } } : {});
  });
  await invoke({ source: "p_versions", trigger: "manual", run: "r_old", event: {} });
  await until(async () => (await commits("p_versions")).length === 1, "the run is suspended");
  await deploy(workflowOf("p_versions", ["wait", "new"], { id: "d_versions2", generation: 2 }));
  await invoke({ source: "p_versions", trigger: "resume", generation: 2, resume: { run: "r_old", suspension: 1, action: "resume" } });
  await untilEnded("p_versions");
  expect(names).toEqual(["wait", "old"]);
  expect((await commits("p_versions")).map(({ deployment }) => deployment)).toEqual(["d_versions1", "d_versions1"]);
});

it("runs an event once that NATS stored twice", async () => {
  await deploy(workflowOf("p_twice", ["one"]));
  let runs = 0;
  await start("r_twice", () => {
    runs++;
    return returned(1);
  });
  for (const _ of [1, 2]) await invoke({ source: "p_twice", trigger: "event", delivery: "AbC_-1234567", event: 1 });
  await until(isEmpty, "both invocations are acked");
  expect(runs).toBe(1);
});

it("runs side by side, and one at a time in order of arrival if the workflow is ordered", async () => {
  const settings = { concurrency: null, throttle: null, queueSize: null, ordered: true };
  await deploy(workflowOf("p_free", ["one"]));
  await deploy(workflowOf("p_ordered", ["one"], { settings }));
  const gate = Promise.withResolvers<void>();
  const [running, order]: [Record<string, number>, unknown[]] = [{}, []];
  let most = 0;
  await start("r_side", async ({ steps, request }) => {
    const workflow = request.source.split("/")[0] ?? "";
    running[workflow] = (running[workflow] ?? 0) + 1;
    if (workflow === "p_ordered") {
      most = Math.max(most, running[workflow]);
      order.push(steps["trigger"]?.["event"]);
    } else await gate.promise;
    await Promise.resolve();
    running[workflow]--;
    return returned(1);
  });
  for (let n = 1; n <= 6; n++) {
    await invoke({ source: "p_free", trigger: "http", event: n });
    await invoke({ source: "p_ordered", trigger: "http", event: n });
  }
  await until(() => running["p_free"] === 6 || order.length === 6, "the free runs are side by side");
  gate.resolve();
  await untilEnded("p_ordered", 6);
  await untilEnded("p_free", 6);
  expect(most).toBe(1);
  expect(order).toEqual([1, 2, 3, 4, 5, 6]);
});

it("answers the caller with what $.respond gave, then that the run has ended", async () => {
  await deploy(workflowOf("p_respond", ["one", "two"]));
  const answers: Answer[] = [];
  await start(
    "r_respond",
    ({ name }) => ({ ...returned(1), ...(name === "one" ? { response: { status: 201, headers: {}, body: "made" } } : {}) }),
    answers,
  );
  await invoke({ source: "p_respond", trigger: "http", event: {}, answerTo: "answer.t.r" });
  await untilEnded("p_respond");
  // The answer follows the commit.
  await until(() => answers.length === 2, "both answers");
  expect(answers.map(({ kind }) => kind)).toEqual(["response", "run"]);
  expect(answers[0]).toEqual({ kind: "response", response: { status: 201, headers: {}, body: "made" } });
});

it("carries out $.send with the commit that ends the run, events and other sends apart", async () => {
  await deploy(workflowOf("p_send", ["one", "two"]));
  const send = (kind: "emit" | "http", argument: unknown) => ({ kind, argument: JSON.stringify(argument), at: 5 });
  await start("r_send", ({ name }) =>
    returned(
      1,
      name === "one"
        ? { sends: [send("emit", { raw_event: { a: 1 }, name: "orders" }), send("http", { url: "https://example.com" })] }
        : {},
    ),
  );
  await invoke({ source: "p_send", trigger: "manual", run: "r_sends", event: {} });
  await untilEnded("p_send");
  const [first, last] = await commits("p_send");
  expect([first?.events, first?.workflow.sends]).toEqual([[], undefined]);
  expect(last?.events.map(({ channel, payload }) => [channel, payload])).toEqual([["orders", '{"a":1}']]);
  expect(last?.workflow.sends?.map(({ id, kind, step }) => [id, kind, step])).toEqual([["r_sends.s1", "http", "one"]]);
});

it("keeps an accepted invocation of a workflow that is switched off, and runs it when the workflow is active again", async () => {
  await deploy(workflowOf("p_off", ["one"], { active: false }));
  let runs = 0;
  await start("r_off", () => {
    runs++;
    return returned(1);
  });
  await invoke({ source: "p_off", trigger: "http", event: {} });
  // An invocation of another workflow that is stored later runs first.
  await deploy(workflowOf("p_on", ["one"]));
  await invoke({ source: "p_on", trigger: "http", event: {} });
  await untilEnded("p_on");
  expect(await commits("p_off")).toEqual([]);
  await deploy(workflowOf("p_off", ["one"]));
  await untilEnded("p_off");
  expect(runs).toBe(2);
});

it("drops the invocations of a deleted workflow, and a request to resume a run that is forgotten", async () => {
  await start("r_gone", () => returned(1));
  await deploy(workflowOf("p_known", ["one"]));
  await invoke({ source: "p_gone", trigger: "http", event: {} });
  await invoke({ source: "p_known", trigger: "resume", resume: { run: "r_forgotten", suspension: 1, action: "resume" } });
  await until(isEmpty, "both invocations are acked");
  expect(await commits("p_known")).toEqual([]);
});

it("arms the next tick of a chained timer before the run, which may last longer than the interval", async () => {
  const cron = { kind: "cron", cron: "* * * * *", timezone: "Europe/Berlin" } as const;
  await deploy(workflowOf("p_chain", ["slow"], { timers: { "timer-0": cron } }));
  const gate = Promise.withResolvers<void>();
  await start("r_chain", async () => {
    await gate.promise;
    return returned(1);
  });
  const at = Date.now() - 1_000;
  await invoke({ source: "p_chain", trigger: "timer", generation: 1, chain: "timer-0", at, event: { ...cron, interval_seconds: null } });
  const isArmed = async (): Promise<boolean> => {
    const { state } = await nats.connection.manager.streams.info(streams.invocations, { subjects_filter: "timer.p_chain.>" });
    return Object.keys(state.subjects ?? {}).length === 1;
  };
  await until(isArmed, "the next tick is scheduled");
  expect(await commits("p_chain")).toEqual([]);
  gate.resolve();
  await untilEnded("p_chain");
});
