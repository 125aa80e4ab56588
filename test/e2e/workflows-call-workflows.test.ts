import { describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { withSystem } from "../support/system/system.ts";
import { step, type Workflow } from "./support/workflow-steps.ts";

/** Steps that run other workflows, on a whole installation. */
const headwater = withSystem();
interface Run {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
  readonly error: { readonly message: string; readonly code?: string } | null;
  readonly steps: readonly { readonly name: string; readonly return_value: unknown; readonly exports: { readonly $run?: string } }[];
}

async function create(name: string, steps: readonly object[], active = true): Promise<Workflow> {
  const { status, body, text } = await headwater.call<{ data: Workflow }>("POST", "/workflows", { name, steps, active });
  expect(status, text).toBe(200);
  return body.data;
}

const start = async ({ id }: Workflow, event: unknown = {}): Promise<string> =>
  (await headwater.call<{ data: Run }>("POST", `/workflows/${id}/runs`, { event })).body.data.id;
/** The request waits for called runs, too. */
async function startWithoutWaiting(workflow: Workflow): Promise<string> {
  void headwater.call("POST", `/workflows/${workflow.id}/runs`, {});
  await until(async () => (await runsOf(workflow)).length === 1, "its first commit is recorded");
  return (await runsOf(workflow))[0]?.id ?? "";
}
const runOf = async ({ id }: Workflow, run: string): Promise<Run> =>
  (await headwater.call<{ data: Run }>("GET", `/workflows/${id}/runs/${run}`)).body.data;
const runsOf = async ({ id }: Workflow): Promise<readonly Run[]> =>
  (await headwater.call<{ data: readonly Run[] }>("GET", `/workflows/${id}/runs`)).body.data;

async function ended(workflow: Workflow, run: string): Promise<Run> {
  await until(
    async () => !["running", "suspended", undefined].includes(((await runOf(workflow, run)) as Run | undefined)?.status),
    "it ends",
  );
  return runOf(workflow, run);
}
const returned = ({ steps }: Run) => Object.fromEntries(steps.map(({ name, return_value: value }) => [name, value]));

describe("a step that runs another workflow", () => {
  it("gives it an event with expressions, waits for its end, and returns what its last step returned", async () => {
    const adder = await create("Adder", [step("add", "const { a, b } = steps.trigger.event; return { sum: a + b }")]);
    const caller = await create("Caller", [
      step("one", "return 40"),
      { name: "sum", workflow: "Adder", event: { a: "{{ steps.one.$return_value }}", b: 2 } },
      step("after", "return steps.sum.$return_value.sum"),
    ]);
    const run = await ended(caller, await start(caller));
    expect([run.status, returned(run)["after"]]).toEqual(["succeeded", 42]);
    const [called] = await runsOf(adder);
    expect(run.steps.filter(({ name }) => name === "sum").at(-1)?.exports.$run).toBe(called?.id);
    const { body } = await headwater.call<{ data: { steps: readonly object[] } }>("GET", `/workflows/${caller.id}`);
    expect(body.data.steps[1]).toMatchObject({ workflow: adder.id, event: { a: "{{ steps.one.$return_value }}", b: 2 } });
  });

  it("goes on at once if it does not wait", async () => {
    const slow = await create("Slow", [step("wait", "$.flow.suspend()")]);
    const caller = await create("Caller", [{ name: "begin", workflow: slow.id, wait: false }, step("after", "return steps.begin.$run")]);
    const run = await ended(caller, await start(caller));
    const id = String(returned(run)["after"]);
    await until(async () => ((await runOf(slow, id)) as Run | undefined)?.status === "suspended", "the called run waits");
  });

  it("fails if the called run fails, with its error: it is retried, or caught", async () => {
    const failing = await create("Failing", [step("fail", "throw new Error('out of stock')")]);
    const call = { name: "call", workflow: failing.id, event: null };
    const caller = await create("Caller", [call]);
    expect(await ended(caller, await start(caller))).toMatchObject({
      status: "failed",
      error: { code: "workflow_failed", message: expect.stringMatching(/the called run r_\w+ has failed: Error: out of stock/) },
    });
    const catching = await create("Catching", [
      { name: "attempt", try: [call], catch: [step("handled", "return steps.attempt.$error.code")] },
    ]);
    expect(returned(await ended(catching, await start(catching)))["handled"]).toBe("workflow_failed");
    const before = (await runsOf(failing)).length;
    const retrying = await create("Retrying", [{ ...call, retries: 1 }]);
    await ended(retrying, await start(retrying));
    expect((await runsOf(failing)).length).toBe(before + 2);
  });

  it("lets the caller of an HTTP trigger wait for the answer behind it", async () => {
    const echo = await create("Echo", [step("echo", "return { heard: steps.trigger.event.text }")]);
    const { body } = await headwater.call<{ data: { triggers: readonly { endpoint_url: string }[] } }>("POST", "/workflows", {
      name: "Answers",
      triggers: [{ type: "http" }],
      steps: [
        { name: "call", workflow: echo.id, event: { text: "{{ steps.trigger.event.body }}" } },
        step("answer", "$.respond({ status: 200, body: steps.call.$return_value })"),
      ],
    });
    const response = await fetch(body.data.triggers[0]?.endpoint_url ?? "", { method: "POST", body: "hello" });
    expect([response.status, await response.json()]).toEqual([200, { heard: "hello" }]);
  });

  it("calls a workflow for each item of a list, in order", async () => {
    const square = await create("Square", [step("square", "return steps.trigger.event.n ** 2")]);
    const caller = await create("Caller", [
      {
        name: "all",
        for_each: "{{ steps.trigger.event.numbers }}",
        steps: [{ name: "one", workflow: square.id, event: { n: "{{ steps.item.item }}" } }],
      },
      step("after", "return steps.all.$results"),
    ]);
    expect(returned(await ended(caller, await start(caller, { numbers: [1, 2, 3] })))["after"]).toEqual([1, 4, 9]);
  });
});

describe("a run that waits for another one", () => {
  it("does not go on by a URL that an earlier step has given out, and goes on with what the API gives", async () => {
    const waiting = await create("Waiting", [step("wait", "$.flow.suspend()")]);
    const before = step("before", "$.export('url', $.flow.suspend().resume_url); throw new Error('no')");
    const caller = await create("Caller", [
      { ...before, continue_on_error: true },
      { name: "call", workflow: waiting.id },
      step("after", "return steps.call.$return_value"),
    ]);
    const run = await startWithoutWaiting(caller);
    await until(async () => (await runsOf(waiting))[0]?.status === "suspended", "the called run waits");
    const { exports } = (await runOf(caller, run)).steps[0] ?? {};
    const answer = await fetch((exports as { readonly url?: string } | undefined)?.url ?? "", { method: "POST" });
    expect(answer.status).toBe(410);
    expect((await runOf(caller, run)).status).toBe("suspended");
    await headwater.call("POST", `/workflows/${caller.id}/runs/${run}/resume`, { data: { by: "hand" } });
    expect(returned(await ended(caller, run))["after"]).toEqual({ by: "hand" });
    expect((await runsOf(waiting))[0]?.status).toBe("suspended");
  });
});

describe("runs that belong together", () => {
  it("are canceled together", async () => {
    const waiting = await create("Waiting", [step("wait", "$.flow.suspend()")]);
    const caller = await create("Caller", [{ name: "call", workflow: waiting.id }]);
    const run = await startWithoutWaiting(caller);
    await until(async () => (await runsOf(waiting))[0]?.status === "suspended", "the called run waits");
    await headwater.call("POST", `/workflows/${caller.id}/runs/${run}/cancel`, { reason: "enough" });
    expect((await ended(caller, run)).status).toBe("canceled");
    const [called] = await runsOf(waiting);
    expect(await ended(waiting, called?.id ?? "")).toMatchObject({ status: "canceled", reason: expect.stringContaining(run) });
  });

  it("end their chain at the limit of deliveries, with an error that says so", async () => {
    const endless = await create("Endless", [step("first", "return 1")]);
    await headwater.call("PUT", `/workflows/${endless.id}`, { steps: [{ name: "again", workflow: "Endless", retries: 3 }] });
    // Of its own runs only the last hundred are stored.
    const outer = await create("Outer", [{ name: "call", workflow: endless.id }]);
    const run = await ended(outer, await start(outer));
    expect([run.status, run.error?.code, run.error?.message]).toEqual(["failed", "hop_limit", expect.stringContaining("100 deliveries")]);
  });

  it("wait while the called workflow is switched off", async () => {
    const off = await create("Off", [step("say", "return 'on'")], false);
    const caller = await create("Caller", [{ name: "call", workflow: off.id }, step("after", "return steps.call.$return_value")]);
    const run = await startWithoutWaiting(caller);
    await until(async () => (await runOf(caller, run)).status === "suspended", "it waits");
    await headwater.call("PUT", `/workflows/${off.id}`, { active: true });
    expect(returned(await ended(caller, run))["after"]).toBe("on");
  });
});

describe("a step with a workflow that cannot be called", () => {
  const refusal = async (call: object) => {
    const { status, body } = await headwater.call<{ code: string; error: string }>("POST", "/workflows", {
      name: "Refused",
      steps: [{ name: "call", ...call }],
    });
    return [status, body.code, body.error];
  };

  it("is refused with its name and what to do", async () => {
    expect(await refusal({ workflow: "p_unknown" })).toEqual([
      422,
      "invalid_step",
      expect.stringContaining("step 'call': workflow 'p_unknown': the owner has no such workflow"),
    ]);
    expect(await refusal({ workflow: "{{ steps.trigger.event.which }}" })).toEqual([
      422,
      "invalid_step",
      expect.stringContaining("no expressions"),
    ]);
    expect(await refusal({ workflow: "p_unknown", if: "{{ true }}" })).toEqual([422, "invalid_step", expect.stringContaining("both")]);
    expect(await refusal({ wait: false, if: "{{ true }}", then: [step("a", "")] })).toEqual([
      422,
      "invalid_step",
      expect.stringContaining("wait belongs to workflow"),
    ]);
  });
});
