import { beforeAll, describe, expect, test } from "vitest";
import { emptyState } from "../../../domain/run/commit.ts";
import type { CommittedStep, WorkflowProgress } from "../../../domain/workflow/run-commit.ts";
import { committedStep, workflowCommit } from "../../domain/run/workflow-commits.ts";
import { ada, withApi } from "./support.ts";

/** What a repetition of a run reads from the history, and what it sends to the runner. */
const api = withApi();
const names = ["first", "second", "third"];
let [seq, id] = [0, ""];

beforeAll(async () => {
  const step = (name: string) => ({ name, component_code: `name: ${name}; type: action` });
  id = (await api.ask("POST", "/v1/workflows", { body: { name: "Repeated", steps: names.map(step) } })).body.data.id;
});

/** Records a run that has failed, a commit for each of its steps. @param startedAt by default long ago */
async function recordRun(
  run: string,
  steps: readonly Partial<CommittedStep>[],
  more: Partial<WorkflowProgress> = {},
  startedAt = workflowCommit().run.startedAt,
): Promise<void> {
  const described = { ...workflowCommit().run, id: run, trigger: "manual", startedAt } as const;
  const commits = steps.length === 0 ? [undefined] : steps;
  for (const [index, step] of commits.entries()) {
    const isLast = index === commits.length - 1;
    const progress = {
      status: isLast ? ("failed" as const) : ("running" as const),
      number: index + 1,
      stepCount: names.length,
      startedAt,
      ...(index === 0 ? { event: '{"n":1}', ...more } : {}),
      ...(step === undefined ? {} : { step: committedStep({ startedAt, ...step }) }),
    };
    const error = isLast ? { name: "Error", message: "no" } : null;
    const whole = workflowCommit({ source: id, owner: ada.id, run: described, error, workflow: progress });
    const { step: _, ...withoutStep } = whole.workflow;
    const commit = { ...whole, workflow: step === undefined ? withoutStep : whole.workflow, state: emptyState };
    await api.history.recordCommits("REPEATED", [{ seq: ++seq, commit }]);
  }
}

const exported = (name: string, value: unknown): Partial<CommittedStep> => ({
  name,
  index: names.indexOf(name),
  exports: JSON.stringify({ $return_value: value }),
});
const failed = (name: string): Partial<CommittedStep> => ({ ...exported(name, null), outcome: "failed" });
const repeat = async (run: string, body: object) => {
  const { status, body: answer } = await api.ask("POST", `/v1/workflows/${id}/runs/${run}/repeat`, { body });
  return { status, code: answer.code, error: answer.error, sent: api.ran.at(-1)?.repeats };
};

describe("a run that is repeated", () => {
  test("sends what the steps before have exported, in the last attempt of each, and the name of the step that failed", async () => {
    const again = { ...exported("second", 2), attempt: 2 };
    await recordRun("r_first", [exported("first", 1), { ...failed("second"), outcome: "retried" }, again, failed("third")]);
    expect(await repeat("r_first", {})).toMatchObject({
      status: 202,
      sent: { run: "r_first", from: "third", steps: { first: '{"$return_value":1}', second: '{"$return_value":2}' } },
    });
    expect(api.ran.at(-1)?.event).toEqual({ n: 1 });
  });

  test("sends those of the run that it repeats for steps that it has not run, however it failed", async () => {
    await recordRun("r_a", [exported("first", "a"), failed("second")]);
    await recordRun("r_b", [exported("second", "b"), failed("third")], { repeats: "r_a" });
    await recordRun("r_c", [], { repeats: "r_b" });
    const steps = { first: '{"$return_value":"a"}', second: '{"$return_value":"b"}' };
    expect(await repeat("r_b", {})).toMatchObject({ status: 202, sent: { run: "r_b", from: "third", steps } });
    expect(await repeat("r_c", { from: "third" })).toMatchObject({ status: 202, sent: { run: "r_c", from: "third", steps } });
    expect(await repeat("r_c", { from: "first" })).toMatchObject({ status: 202, sent: { from: "first", steps: {} } });
  });

  test.each([
    ["whose exports are too large", [{ ...exported("first", "x".repeat(70_000)) }, failed("second")], {}, "step 'first'"],
    ["whose repeated run is deleted", [exported("second", 1), failed("third")], { repeats: "r_deleted" }, "r_deleted"],
    ["that began with a step that is gone", [exported("gone", 1), failed("third")], { repeats: "r_a" }, "'gone'"],
    ["whose event is too large", [failed("first")], { event: JSON.stringify("x".repeat(70_000)) }, "give `event`"],
  ])("%s is refused, and says what to do", async (title, steps, more, says) => {
    const run = `r_${title.replaceAll(/\W/g, "")}`;
    await recordRun(run, steps, more);
    const before = api.ran.length;
    expect(await repeat(run, {})).toMatchObject({ status: 409, code: "run_not_repeatable", error: expect.stringContaining(says) });
    expect(api.ran).toHaveLength(before);
  });
});

describe("files of a run that is repeated", () => {
  const [a, b, c, d] = ["a", "b", "c", "d"].map((letter) => `${letter.repeat(32)}-10`) as [string, string, string, string]; // Four.
  const filesOf = async (run: string, body: object = {}) => (await repeat(run, body)).sent?.files;

  test("are those that the steps before have left, whatever later ones did", async () => {
    const first = { ...exported("first", 1), files: { before: [], after: [a] } };
    const second = { ...exported("second", 2), files: { before: [a], after: [a, b] } };
    await recordRun("r_files", [first, second, { ...failed("third"), files: { before: [a, b] } }], {}, Date.now());
    expect(await filesOf("r_files")).toEqual({ run: "r_files", layers: [a, b] });
    expect(await filesOf("r_files", { from: "second" })).toEqual({ run: "r_files", layers: [a] });
    expect(await filesOf("r_files", { from: "first" })).toBeUndefined();
    expect(await filesOf("r_files", { without_files: true })).toBeUndefined();
    await recordRun("r_bare", [exported("first", 1), failed("second")], {}, Date.now());
    expect(await filesOf("r_bare")).toBeUndefined();
  });

  test("are those with which a repetition began, and earlier those of the run that it repeats", async () => {
    const first = { ...exported("first", 1), files: { before: [], after: [a] } };
    await recordRun("r_f1", [first, { ...failed("second"), files: { before: [a] } }], {}, Date.now());
    const second = { ...exported("second", 2), files: { before: [c], after: [c, d] } };
    await recordRun("r_f2", [second, { ...failed("third"), files: { before: [c, d] } }], { repeats: "r_f1" }, Date.now());
    expect(await filesOf("r_f2")).toEqual({ run: "r_f2", layers: [c, d] });
    expect(await filesOf("r_f2", { from: "second" })).toEqual({ run: "r_f2", layers: [c] });
    // It did not begin: its files may not have been copied.
    await recordRun("r_f3", [], { repeats: "r_f1" }, Date.now());
    expect(await filesOf("r_f3", { from: "second" })).toEqual({ run: "r_f1", layers: [a] });
    // It was to begin without files.
    await recordRun("r_f4", [failed("second")], { repeats: "r_f1" }, Date.now());
    expect(await filesOf("r_f4")).toBeUndefined();
  });

  test("that are deleted make it refused, unless it is to begin without them", async () => {
    const first = { ...exported("first", 1), files: { before: [], after: [a] } };
    const hours = (count: number): number => Date.now() - count * 3_600_000;
    await recordRun("r_kept", [first, failed("second")], {}, hours(23.9));
    expect(await filesOf("r_kept")).toEqual({ run: "r_kept", layers: [a] });
    await recordRun("r_old", [first, failed("second")], {}, hours(24.1));
    const says = expect.stringMatching(/r_old .*most a day.*first step.*without_files/u) as string;
    expect(await repeat("r_old", {})).toMatchObject({ status: 409, code: "files_gone", error: says });
    expect(await repeat("r_old", { without_files: true })).toMatchObject({ status: 202 });
    expect(await repeat("r_old", { from: "first" })).toMatchObject({ status: 202 });
    const { body } = await api.ask("POST", `/v1/workflows/${id}/runs/repeat`, { body: { dry_run: true, since_ms: hours(24.2) } });
    expect(body.data.refused).toEqual([{ run_id: "r_old", code: "files_gone", error: says }]);
  });

  test.each([
    ["no names of parts", { before: ["*"], after: [">"] }],
    ["names with dots", { before: [], after: [`${"0".repeat(32)}-1.x`] }],
    ["too many names", { before: [], after: Array.from({ length: 1_001 }, () => `${"0".repeat(32)}-1`) }],
    ["no list", "all"],
  ])("are none if a forged commit has %s", async (title, files) => {
    const run = `r_forged${title.length}`;
    const forged = { ...exported("first", 1), files: files as unknown as NonNullable<CommittedStep["files"]> }; // Of a hostile runner.
    await recordRun(run, [forged, failed("second")], {}, Date.now());
    expect(await filesOf(run)).toBeUndefined();
  });
});
