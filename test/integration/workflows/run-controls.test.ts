import { describe, expect, it } from "vitest";
import { partitionCount, streams } from "../../../domain/subjects.ts";
import type { RunControl } from "../../../domain/workflow/run-control.ts";
import { withJetStream, withPoolRequests } from "../jetstream/support.ts";
import { until } from "../../support/until.ts";
import { returned, stepOf, threw, withWorkflows, workflowOf, type StepCode } from "./support.ts";

/** Real streams and runners; the code of steps is a function of the test. */
const nats = withJetStream({ partitions: partitionCount });
withPoolRequests(nats);
const { deploy, start, invoke, commits } = withWorkflows(nats);

const isIdle = async (): Promise<boolean> => (await nats.connection.manager.streams.info(streams.invocations)).state.messages === 0;
const statuses = async (workflow: string) => (await commits(workflow)).map(({ workflow: { status } }) => status);
const untilStatus = (workflow: string, status: string): Promise<void> =>
  until(async () => (await statuses(workflow)).includes(status as never), `it is ${status}`);
const control = (source: string, run: string, more: Omit<RunControl, "run">): Promise<void> =>
  invoke({ source, trigger: "control", control: { run, ...more } });
/** What waits in its queue behind the invocation that runs. */
const untilStored = (messages: number): Promise<void> =>
  until(async () => (await nats.connection.manager.streams.info(streams.invocations)).state.messages === messages, "it is stored");

/** Steps of which the first waits until `open` is called. */
function gated(seen: string[] = []): { readonly code: StepCode; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    open: resolve,
    code: async ({ name }) => {
      seen.push(name);
      if (name === "one") await promise;
      return returned(name);
    },
  };
}

describe("a run that executes a step", () => {
  it("ends before its next step when it is canceled, with the reason", async () => {
    await deploy(workflowOf("p_stop", ["one", "two"]));
    const seen: string[] = [];
    const { code, open } = gated(seen);
    await start("r_stop", code);
    await invoke({ source: "p_stop", trigger: "manual", run: "r_a", event: 1 });
    await until(() => seen.length === 1, "the first step runs");
    await control("p_stop", "r_a", { action: "pause" });
    await control("p_stop", "r_a", { action: "cancel", reason: "wrong customer" });
    await untilStored(3);
    open();
    await untilStatus("p_stop", "canceled");
    await until(isIdle, "all requests are acked");
    const all = await commits("p_stop");
    expect(all.map(({ workflow }) => [workflow.status, workflow.reason])).toEqual([
      ["running", undefined],
      ["canceled", "wrong customer"],
    ]);
    expect(seen).toEqual(["one"]);
  });

  it("waits before its next step while it is paused, also when its runner is replaced, and goes on once", async () => {
    await deploy(workflowOf("p_pause", ["one", "two"]));
    const seen: string[] = [];
    const { code, open } = gated(seen);
    const first = await start("r_first", code);
    await invoke({ source: "p_pause", trigger: "manual", run: "r_a", event: 1 });
    await until(() => seen.length === 1, "the first step runs");
    await control("p_pause", "r_a", { action: "pause", reason: "look first" });
    await untilStored(2);
    open();
    await untilStatus("p_pause", "suspended");
    expect((await commits("p_pause")).at(-1)?.workflow).toMatchObject({ reason: "look first", resumeAt: expect.any(Number) });
    await first.stop(AbortSignal.timeout(500));
    await start("r_second", code);
    // A URL of this number was given to the first step, which has not waited for it.
    await invoke({ source: "p_pause", trigger: "resume", resume: { run: "r_a", suspension: 1, action: "resume" } });
    for (let twice = 0; twice < 2; twice++) await control("p_pause", "r_a", { action: "resume", after: 2 });
    await untilStatus("p_pause", "succeeded");
    await until(isIdle, "all requests are acked, and no wake-up is left");
    expect(await statuses("p_pause")).toEqual(["running", "suspended", "succeeded"]);
    expect(seen).toEqual(["one", "two"]);
  });

  it("is not paused if it was resumed in the meantime", async () => {
    await deploy(workflowOf("p_both", ["one", "two"]));
    const seen: string[] = [];
    const { code, open } = gated(seen);
    await start("r_both", code);
    await invoke({ source: "p_both", trigger: "manual", run: "r_a", event: 1 });
    await until(() => seen.length === 1, "the first step runs");
    await control("p_both", "r_a", { action: "pause" });
    await control("p_both", "r_a", { action: "resume", after: 1 });
    await untilStored(3);
    open();
    await untilStatus("p_both", "succeeded");
    expect(await statuses("p_both")).toEqual(["running", "succeeded"]);
  });
});

describe("a suspended run", () => {
  const suspends: StepCode = ({ name, steps }) =>
    returned(name === "two" ? steps["one"]?.["$resume_data"] : name, name === "one" ? { flow: { kind: "suspend", ms: null } } : {});

  it("goes on with what the request gives, and is not paused", async () => {
    await deploy(workflowOf("p_data", ["one", "two"]));
    await start("r_data", suspends);
    await invoke({ source: "p_data", trigger: "manual", run: "r_a", event: 1 });
    await untilStatus("p_data", "suspended");
    await control("p_data", "r_a", { action: "pause" });
    await control("p_data", "r_a", { action: "resume", after: 1, data: { approved: true } });
    await untilStatus("p_data", "succeeded");
    const last = (await commits("p_data")).at(-1)?.workflow.step?.exports ?? "";
    expect(JSON.parse(last)).toEqual({ $return_value: { body: { approved: true } } });
    await until(isIdle, "no wake-up is left");
  });

  it("is resumed once by a request: a later suspension waits for its own", async () => {
    await deploy(workflowOf("p_once", ["one", "two", "three", "four"]));
    const seen: string[] = [];
    await start("r_once", ({ name }) => {
      seen.push(name);
      return returned(name, name === "one" || name === "three" ? { flow: { kind: "suspend", ms: null } } : {});
    });
    await invoke({ source: "p_once", trigger: "manual", run: "r_a", event: 1 });
    await untilStatus("p_once", "suspended");
    for (let twice = 0; twice < 2; twice++) await control("p_once", "r_a", { action: "resume", after: 1 });
    await until(async () => (await commits("p_once")).length === 3, "the second suspension");
    await untilStored(1); // Its wake-up.
    expect(await statuses("p_once")).toEqual(["suspended", "running", "suspended"]);
    await control("p_once", "r_a", { action: "resume", after: 3 });
    await untilStatus("p_once", "succeeded");
    expect(seen).toEqual(["one", "two", "three", "four"]);
    await until(isIdle, "no wake-up is left");
  });

  it("is canceled, also while its workflow is switched off; an ended or unknown run is left as it is", async () => {
    await deploy(workflowOf("p_off", ["one", "two"]));
    await start("r_off", suspends);
    await invoke({ source: "p_off", trigger: "manual", run: "r_a", event: 1 });
    await untilStatus("p_off", "suspended");
    await deploy(workflowOf("p_off", ["one", "two"], { active: false, generation: 2 }));
    await control("p_off", "r_a", { action: "cancel" });
    await untilStatus("p_off", "canceled");
    for (const action of ["cancel", "pause", "resume"] as const)
      for (const run of ["r_a", "r_unknown"]) await control("p_off", run, { action });
    await until(isIdle, "all are acked");
    expect(await statuses("p_off")).toEqual(["suspended", "canceled"]);
    expect((await commits("p_off")).at(-1)?.workflow.reason).toBe("it was canceled");
  });
});

describe("a run that repeats another one", () => {
  it("begins with the named step, reads what the steps before have exported there, and says which run it repeats", async () => {
    await deploy(workflowOf("p_again", ["one", "two", "three"]));
    const seen: unknown[] = [];
    await start("r_again", ({ name, steps }) => {
      seen.push([name, steps["one"], steps["three"]]);
      return returned(name);
    });
    const steps = { one: '{"$return_value":1}', three: '{"$return_value":3}' };
    await invoke({ source: "p_again", trigger: "manual", run: "r_b", event: 1, repeats: { run: "r_a", from: "two", steps } });
    await untilStatus("p_again", "succeeded");
    expect(seen).toEqual([
      ["two", { $return_value: 1 }, undefined],
      ["three", { $return_value: 1 }, undefined],
    ]);
    expect((await commits("p_again")).map(({ workflow }) => workflow.repeats)).toEqual(["r_a", undefined]);
  });

  it("begins with the outermost step that controls the named one", async () => {
    const control = { kind: "choice", parts: [{ name: "then", from: 2, to: 3 }], end: 3 } as const;
    const steps = [stepOf("p_within", "one"), stepOf("p_within", "if", { control }), stepOf("p_within", "then")];
    await deploy(workflowOf("p_within", [], { steps }));
    const seen: string[] = [];
    await start("r_within", ({ name }) => {
      seen.push(name);
      return returned(name === "if" ? 0 : name);
    });
    await invoke({ source: "p_within", trigger: "manual", run: "r_b", event: 1, repeats: { run: "r_a", from: "then", steps: {} } });
    await untilStatus("p_within", "succeeded");
    expect(seen).toEqual(["if", "then"]);
  });

  it("runs its old version; fails if that is forgotten, or has no such step", async () => {
    const old = workflowOf("p_old", ["one", "two"]);
    await deploy(old);
    await deploy(workflowOf("p_old", ["new"], { id: "d_new", generation: 2 }));
    const seen: string[] = [];
    await start("r_old", ({ name }) => {
      seen.push(name);
      return name === "two" ? threw("no") : returned(name);
    });
    const repeat = (run: string, deployment: string, from: string): Promise<void> =>
      invoke({ source: "p_old", trigger: "manual", run, event: 1, repeats: { run: "r_a", from, steps: {}, deployment } });
    await repeat("r_b", old.id, "two");
    await repeat("r_c", "d_gone", "two");
    await repeat("r_d", old.id, "new");
    await until(async () => (await statuses("p_old")).filter((status) => status === "failed").length === 3, "all have failed");
    const errors = (await commits("p_old")).map(({ run, error, deployment }) => [run.id, deployment, error?.code ?? error?.message]);
    expect(Object.fromEntries(errors.map(([run, ...more]) => [run, more]))).toEqual({
      r_b: [old.id, "no"],
      r_c: ["d_new", "version_forgotten"],
      r_d: [old.id, "step_not_found"],
    });
    expect(seen).toEqual(["two"]);
  });
});
