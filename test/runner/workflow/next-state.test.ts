import { expect, it } from "vitest";
import type { StepDeployment } from "../../../domain/workflow/deployment.ts";
import type { SendRequest, WorkflowRunState } from "../../../domain/workflow/run-state.ts";
import type { Execution } from "../../../runner/sandbox/port.ts";
import { refusalOf } from "../../../runner/workflow/next-commit.ts";
import { endStep } from "../../../runner/workflow/next-state.ts";

const step = { id: "c_two", name: "two", retries: 0, continueOnError: false } as unknown as StepDeployment; // The fields that are read.
const sends = (kind: SendRequest["kind"], count: number) => Array.from({ length: count }, () => ({ kind, argument: "{}", at: 1 }));

/** The end of the second step of two. @param before what the first step has sent */
function endSecond(before: ReturnType<typeof sends>, sent: ReturnType<typeof sends>) {
  const state = {
    status: "running",
    next: 1,
    failures: 0,
    reruns: 0,
    steps: {},
    response: null,
    suspensions: 0,
    sends: before.map((send) => ({ ...send, step: "one" })),
  } as unknown as WorkflowRunState; // The fields that are read.
  const action = { exports: {}, flow: null, inputs: null, sends: sent };
  const execution = { outcome: "returned", result: null, response: null, action } as unknown as Execution; // The fields that are read.
  return endStep(execution, state, { steps: [step, step] }, step, 1, 0, "r_1-c1");
}

it("ends a run whose steps together send more than a commit may have, or more than 100 mails", () => {
  expect(endSecond(sends("http", 6_000), sends("http", 4_000)).outcome).toBe("succeeded");
  expect(endSecond(sends("http", 6_000), sends("http", 4_001))).toMatchObject({
    outcome: "failed",
    error: { code: "send_limit", message: "the steps of this run have called $.send 10001 times: a run may do it 10000 times" },
  });
  expect(endSecond(sends("email", 60), sends("email", 40)).outcome).toBe("succeeded");
  const failed = endSecond(sends("email", 60), sends("email", 41));
  expect(failed.error?.message).toBe("the steps of this run have called $.send.email 101 times: a run may do it 100 times");
  expect(failed.state.sends).toHaveLength(60);
});

it("refuses the step behind the 100,000th of a run", () => {
  const [received, workflow, state] = [{}, { workflow: "p_1" }, {}] as unknown as [never, never, never]; // The fields that are read.
  expect(refusalOf(received, workflow, state, 99_999)).toBeUndefined();
  expect(refusalOf(received, workflow, state, 100_000)).toMatchObject({ code: "too_many_steps" });
});
