import { describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { withSystem } from "../support/system/system.ts";
import { step, type Workflow } from "./support/workflow-steps.ts";

/** Controls and repetitions of workflow runs over REST, on a whole installation. */
const headwater = withSystem();
interface Run {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
  readonly repeats: string | null;
  readonly error: { readonly message: string; readonly code?: string } | null;
  readonly steps: readonly { readonly name: string; readonly return_value: unknown }[];
}
interface Repeated {
  readonly repeated: readonly { readonly run_id: string; readonly id: string | null }[];
  readonly refused: readonly Refusal[];
}
interface Refusal {
  readonly code: string;
  readonly error: string;
}

async function create(steps: readonly object[]): Promise<Workflow> {
  const { status, body, text } = await headwater.call<{ data: Workflow }>("POST", "/workflows", { name: "Controlled", steps });
  expect(status, text).toBe(200);
  return body.data;
}

const ask = async (path: string, body: object = {}) => {
  const { status, body: answer } = await headwater.call<{ data: Run } & Refusal>("POST", path, body);
  return { status, ...answer };
};
const runOf = async ({ id }: Workflow, run: string): Promise<Run> =>
  (await headwater.call<{ data: Run }>("GET", `/workflows/${id}/runs/${run}`)).body.data;
const untilRun = (workflow: Workflow, run: string, isWanted: (run: Run) => boolean): Promise<void> =>
  until(async () => {
    const found = (await runOf(workflow, run)) as Run | undefined; // None before its first commit.
    return found !== undefined && isWanted(found);
  }, "the run is as wanted");

describe("a run that waits", () => {
  it("is resumed with data, and canceled with a reason; then neither is possible", async () => {
    const workflow = await create([step("ask", "$.flow.suspend()"), step("after", "return steps.ask.$resume_data.body")]);
    const [first, second] = [await ask(`/workflows/${workflow.id}/runs`), await ask(`/workflows/${workflow.id}/runs`)];
    expect([first.data.status, second.data.status]).toEqual(["suspended", "suspended"]);
    const path = `/workflows/${workflow.id}/runs/${first.data.id}`;
    expect(await ask(`${path}/pause`)).toMatchObject({ status: 409, code: "run_suspended" });
    expect(await ask(`${path}/repeat`)).toMatchObject({ status: 409, code: "run_not_ended" });
    await ask(`${path}/resume`, { data: { approved: true } });
    await untilRun(workflow, first.data.id, ({ status }) => status === "succeeded");
    expect((await runOf(workflow, first.data.id)).steps.at(-1)?.return_value).toEqual({ approved: true });
    const canceled = await ask(`/workflows/${workflow.id}/runs/${second.data.id}/cancel`, { reason: "wrong customer" });
    expect(canceled).toMatchObject({ status: 200, data: { status: "canceled", reason: "wrong customer" } });
    for (const action of ["cancel", "pause", "resume"])
      expect(await ask(`${path}/${action}`)).toMatchObject({ status: 409, code: "run_ended" });
    expect(await ask(`/workflows/${workflow.id}/runs/r_unknown/cancel`)).toMatchObject({ status: 404 });
  });
});

describe("a run that executes steps", () => {
  it("is paused before the next one, goes on when it is resumed, and ends when it is canceled", async () => {
    const endless = { name: "again", while: "{{ true }}", max_iterations: 10_000, steps: [step("within", "return 1")] };
    const workflow = await create([endless]);
    const started = headwater.call<{ data: Run }>("POST", `/workflows/${workflow.id}/runs`, {});
    const runs = async () => (await headwater.call<{ data: readonly Run[] }>("GET", `/workflows/${workflow.id}/runs`)).body.data;
    await until(async () => (await runs()).length === 1, "its first step is recorded");
    const [{ id } = { id: "" }] = await runs();
    const path = `/workflows/${workflow.id}/runs/${id}`;
    expect(await ask(`${path}/resume`)).toMatchObject({ status: 409, code: "run_not_suspended" });
    await ask(`${path}/pause`, { reason: "look first" });
    await untilRun(workflow, id, ({ status }) => status === "suspended");
    expect((await runOf(workflow, id)).reason).toBe("look first");
    expect((await started).body.data.status).toBe("suspended");
    await ask(`${path}/resume`);
    await untilRun(workflow, id, ({ status }) => status === "running");
    await ask(`${path}/cancel`, { reason: "seen enough" });
    await untilRun(workflow, id, ({ status }) => status === "canceled");
    expect((await runOf(workflow, id)).reason).toBe("seen enough");
  });
});

describe("a run that failed", () => {
  const one = step("one", "return 41");
  const failing = step("two", "throw new Error('no')");
  const corrected = step("two", "return steps.one.$return_value + (steps.trigger.event.n ?? 0)");

  it("is repeated from the step that failed on the current version, from another step, and with another event", async () => {
    const workflow = await create([one, failing]);
    const failed = await ask(`/workflows/${workflow.id}/runs`, { event: { n: 1 } });
    expect(failed.data.status).toBe("failed");
    await headwater.call("PUT", `/workflows/${workflow.id}`, { steps: [one, corrected] });
    const path = `/workflows/${workflow.id}/runs/${failed.data.id}/repeat`;
    const ran = async (body: object) => {
      const { data } = await ask(path, body);
      expect([data.status, data.repeats]).toEqual(["succeeded", failed.data.id]);
      return (await runOf(workflow, data.id)).steps.map(({ name, return_value: value }) => [name, value]);
    };
    expect(await ran({})).toEqual([["two", 42]]);
    expect(await ran({ from: "one" })).toEqual([
      ["one", 41],
      ["two", 42],
    ]);
    expect(await ran({ event: { n: 9 } })).toEqual([
      ["one", 41],
      ["two", 50],
    ]);
    expect(await ask(path, { version: "same" })).toMatchObject({ status: 200, data: { status: "failed", error: { message: "no" } } });
    expect(await ask(path, { from: "three" })).toMatchObject({ status: 422, error: expect.stringContaining("one, two") });
  });

  it("is repeated with the files that the steps before have left, also again, or without them", async () => {
    const save = step("save", "await $.files.open('a/report.txt').write('first'); return 1");
    const read = (tail: string) =>
      step("read", `const text = await $.files.open('a/report.txt').toEncodedString(); await $.files.open('b.txt').write('lost'); ${tail}`);
    const workflow = await create([save, read("throw new Error('no')")]);
    const path = (run: string): string => `/workflows/${workflow.id}/runs/${run}/repeat`;
    const first = await ask(`/workflows/${workflow.id}/runs`, { event: {} });
    const second = await ask(path(first.data.id));
    expect([first.data.status, second.data.status]).toEqual(["failed", "failed"]);
    await headwater.call("PUT", `/workflows/${workflow.id}`, {
      steps: [save, read("const names = []; for await (const { name } of $.files.dir()) names.push(name); return [text, names]")],
    });
    const returnedBy = async (run: string, body: object = {}) => {
      const { data } = await ask(path(run), body);
      return (await runOf(workflow, data.id)).steps.map(({ return_value: value }) => value);
    };
    expect(await returnedBy(first.data.id)).toEqual([["first", ["a", "b.txt"]]]);
    expect(await returnedBy(second.data.id)).toEqual([["first", ["a", "b.txt"]]]);
    expect(await returnedBy(second.data.id, { without_files: true })).toEqual([["", ["a", "b.txt"]]]);
    expect(await returnedBy(second.data.id, { from: "save" })).toEqual([1, ["first", ["a", "b.txt"]]]);
  });

  it("is repeated again, with what the first run has exported; not behind a loop, whose results are not stored", async () => {
    const three = step("three", "if (steps.trigger.event.n !== 2) throw new Error('no'); return steps.one.$return_value");
    const workflow = await create([one, step("two", "return 2"), three]);
    const first = await ask(`/workflows/${workflow.id}/runs`, { event: { n: 1 } });
    const again = async (run: string, body: object = {}) => ask(`/workflows/${workflow.id}/runs/${run}/repeat`, body);
    const second = await again(first.data.id, { from: "two" });
    const third = await again(second.data.id);
    expect([second.data.status, third.data.status, third.data.repeats]).toEqual(["failed", "failed", second.data.id]);
    const fourth = await again(third.data.id, { event: { n: 2 }, from: "three" });
    expect((await runOf(workflow, fourth.data.id)).steps.map(({ name, return_value: value }) => [name, value])).toEqual([["three", 41]]);
    const fifth = await again(third.data.id, { from: "two", version: "same" });
    expect((await runOf(workflow, fifth.data.id)).steps.map(({ name }) => name)).toEqual(["two", "three"]);
    const loop = { name: "each", for_each: "{{ [1, 2] }}", as: "n", steps: [step("within", "return steps.n.item")] };
    const looping = await create([loop, step("after", "throw new Error('no')")]);
    const failed = await ask(`/workflows/${looping.id}/runs`);
    expect(failed.data.error?.message).toBe("no");
    const path = `/workflows/${looping.id}/runs/${failed.data.id}/repeat`;
    expect(await ask(path)).toMatchObject({ status: 409, code: "run_not_repeatable" });
    expect(await ask(path, { from: "each" })).toMatchObject({ status: 200, data: { status: "failed" } });
  });

  it("is repeated with all others that failed; those that cannot be are named", async () => {
    const workflow = await create([step("large", "$.export('big', 'x'.repeat(100_000))"), failing]);
    for (let n = 0; n < 3; n++) await ask(`/workflows/${workflow.id}/runs`, { event: { n } });
    const all = async (given: object) => {
      const { status, body, text } = await headwater.call<{ data: Repeated }>("POST", `/workflows/${workflow.id}/runs/repeat`, given);
      expect(status, text).toBe(200);
      return body.data;
    };
    expect((await all({})).refused.map(({ code }) => code)).toEqual(Array(3).fill("run_not_repeatable"));
    const dry = await all({ from: "first_step", dry_run: true });
    expect(dry.repeated.map(({ id }) => id)).toEqual([null, null, null]);
    await headwater.call("PUT", `/workflows/${workflow.id}`, { steps: [step("large", "return 1"), step("two", "return 2")] });
    const { repeated } = await all({ from: "first_step" });
    expect(repeated).toHaveLength(3);
    for (const { id } of repeated) await untilRun(workflow, id ?? "", ({ status }) => status === "succeeded");
    expect(await all({ since_ms: Date.now() + 60_000 })).toEqual({ repeated: [], refused: [] });
  });
});
