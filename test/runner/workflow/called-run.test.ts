import { describe, expect, it } from "vitest";
import type { Invocation } from "../../../domain/invocation/invocation.ts";
import type { WorkflowCommit } from "../../../domain/run/commit.ts";
import type { WorkflowDeployment } from "../../../domain/workflow/deployment.ts";
import { begin } from "../../../runner/workflow/begin-run.ts";
import type { ReceivedInvocation } from "../../../runner/run/received.ts";

const current = { id: "d_1", workflow: "p_1", active: false } as unknown as WorkflowDeployment; // The fields that are read.
const received = (invocation: Partial<Invocation>): ReceivedInvocation =>
  ({ invocation: { source: "p_1", ...invocation }, storedAt: 1 }) as unknown as ReceivedInvocation; // As above.

/** The last commit of a run that waits for the run `r_c1`. */
const waiting = {
  workflow: { number: 1 },
  state: {
    status: "suspended",
    suspensions: 1,
    steps: {},
    suspension: { kind: "call", number: 1, until: 9, called: { workflow: "p_2", run: "r_c1" } },
  },
} as unknown as WorkflowCommit; // As above.
const resume = { run: "r_1", suspension: 1, action: "resume" } as const;
const returned = (run: string) => ({ run, status: "succeeded", value: "1" }) as const;

describe("a run that waits for a called run", () => {
  it("goes on with the end of that run, and of no other", () => {
    const own = begin(received({ trigger: "resume", resume, returned: returned("r_c1") }), waiting, current, 2);
    expect(own).toMatchObject({ state: { status: "running", suspension: null, returned: { value: "1" } }, endsSuspension: true });
    const forged = begin(received({ trigger: "resume", resume, returned: returned("r_c2") }), waiting, current, 2);
    expect(forged).toEqual({ state: waiting.state });
  });

  it.each(["resume", "cancel"] as const)("has no use for the %s URL of an earlier step", (action) => {
    expect(begin(received({ trigger: "resume", resume: { ...resume, action } }), waiting, current, 2)).toEqual({ state: waiting.state });
  });

  it("goes on with an error when its time has come, so that the step may handle it", () => {
    const ended = begin(received({ trigger: "resume", resume: { ...resume, action: "wake" } }), waiting, current, 9);
    expect(ended).toMatchObject({ state: { status: "running", returned: { status: "failed", error: { code: "not_returned" } } } });
  });
});

describe("a called run whose cancellation arrives before its call", () => {
  const control = { run: "r_c1", action: "cancel", reason: "its caller was canceled" } as const;

  it("begins as canceled, so that the call finds its end", () => {
    const begun = begin(received({ trigger: "control", control, delivery: "d" }), undefined, current, 2);
    expect(begun).toMatchObject({ canceled: "its caller was canceled", state: { trigger: { kind: "event", event: "null" } } });
  });

  it("does not begin by a cancellation over the API, which knows the run", () => {
    expect(begin(received({ trigger: "control", control }), undefined, current, 2)).toBeUndefined();
  });
});
