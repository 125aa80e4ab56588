import { expect, test } from "vitest";
import { parseWorkflowTestOutcome, type WorkflowTestOutcome } from "../../../domain/workflow/test-run.ts";

const outcome: WorkflowTestOutcome = {
  status: "failed",
  startedAt: 1,
  durationMs: 2,
  cpuMs: 1,
  steps: [
    {
      id: "c_1",
      name: "first",
      outcome: "failed",
      startedAt: 1,
      durationMs: 2,
      cpuMs: 1,
      inputs: '{"url":"https://example.com"}',
      exports: '{"$summary":"one"}',
      flow: { kind: "delay", ms: 5 },
      sends: [{ kind: "email", argument: '{"subject":"a"}', step: "first", at: 1 }],
      logs: [{ k: "console.log", ts: 1, msg: "hello" }],
      error: { name: "Error", message: "failed" },
    },
  ],
  response: { status: 200, headers: {}, body: "ok" },
  error: null,
};

test("accepts the outcome of a test", () => {
  expect(parseWorkflowTestOutcome(JSON.parse(JSON.stringify(outcome)))).toEqual(outcome);
});

test.each([
  ["null", null],
  ["the outcome of a source's dry run", { startedAt: 1, durationMs: 1, cpuMs: 1, emits: [], logs: [], writes: [], response: null }],
  ["an unknown status", { ...outcome, status: "running" }],
  ["exports that are not JSON", { ...outcome, steps: outcome.steps.map((step) => ({ ...step, exports: "{" })) }],
  ["exports that are not an object", { ...outcome, steps: outcome.steps.map((step) => ({ ...step, exports: "[1]" })) }],
  ["a send of an unknown kind", { ...outcome, steps: outcome.steps.map((step) => ({ ...step, sends: [{ kind: "sms" }] })) }],
])("refuses %s from a runner", (_what, value) => {
  expect(parseWorkflowTestOutcome(value)).toBeUndefined();
});
