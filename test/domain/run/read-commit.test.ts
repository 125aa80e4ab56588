import { describe, expect, it } from "vitest";
import { emptyState, type Commit } from "../../../domain/run/commit.ts";
import { readCommit } from "../../../domain/run/read-commit.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { runSubject, workflowRunSubject } from "../../../domain/subjects.ts";
import { callsOf } from "../../../delivery/routing/calls.ts";
import { endMarker } from "../../../domain/workflow/run-commit.ts";
import { branchSuspensions, maxSuspensionNumber } from "../../../domain/workflow/run-state.ts";
import { committedStep, owner, subjectOf, workflow, workflowCommit } from "./workflow-commits.ts";

const valid = workflowCommit();
const subject = subjectOf(valid);
const send = { id: "r_1.s1", kind: "http", argument: "{}", step: "first", at: 1 } as const;

const call = { id: "r_1-c2", workflow: "p_2", event: "{}", suspension: 1 } as const;
const to = { workflow: "p_2", run: "r_9", suspension: 1 } as const;
const returned = { run: "r_1", status: "failed", value: "null", error: { name: "Error", message: "no" } } as const;

it("reads the commit of a workflow run from the subject of the run", () => {
  expect(readCommit(JSON.stringify(valid), subject)).toEqual(valid);
  const first = workflowCommit({
    workflow: { status: "suspended", resumeAt: 2, event: '{"a":1}', cause: { emitter: "dc_1", emitId: "em_1" } },
  });
  expect(readCommit(JSON.stringify(first), subject)).toEqual(first);
  const canceled = workflowCommit({ workflow: { status: "canceled", number: 7, reason: "not wanted", sends: [send] } });
  expect(readCommit(JSON.stringify(canceled), subject)).toEqual(canceled);
  const calling = workflowCommit({ workflow: { status: "suspended", call } });
  expect(readCommit(JSON.stringify(calling), subject)).toEqual(calling);
  const shared = workflowCommit({ workflow: { number: 2, before: [{ step: committedStep(), logs: 0 }] } });
  expect(readCommit(JSON.stringify(shared), subject)).toEqual(shared);
  const ended = workflowCommit({ workflow: { status: "failed", returns: { to, returned }, cancels: [{ workflow: "p_2", run: "r_3" }] } });
  expect(readCommit(JSON.stringify(ended), subject)).toEqual(ended);
});

it("reads no commit from an end marker", () => {
  expect(readCommit(endMarker, subject)).toBeUndefined();
});

describe("refuses the commit of a workflow", () => {
  const partition = partitionOf(workflow);
  it.each([
    ["on the subject of the workflow", runSubject(partition, owner, workflow)],
    ["on the subject of another run", workflowRunSubject(partition, owner, workflow, "r_2")],
    ["on the subject of another owner", workflowRunSubject(partition, "u_2", workflow, "r_1")],
    ["on the subject of another workflow", workflowRunSubject(partitionOf("p_2"), owner, "p_2", "r_1")],
    ["on the subject of another partition", workflowRunSubject((partition + 1) % 16, owner, workflow, "r_1")],
  ])("%s", (_, forged) => {
    expect(readCommit(JSON.stringify(valid), forged)).toBeUndefined();
  });

  it("without its workflow part", () => {
    const { workflow: _, ...rest } = valid;
    expect(readCommit(JSON.stringify(rest), subject)).toBeUndefined();
    expect(readCommit(JSON.stringify(rest), runSubject(partition, owner, workflow))).toBeUndefined();
  });

  it.each<readonly [string, object]>([
    ["an unknown status", { status: "done" }],
    ["number 0", { number: 0 }],
    ["a number that is a fraction", { number: 1.5 }],
    ["a start outside the calendar", { startedAt: 1e300 }],
    ["a step count of a million", { stepCount: 1_000_000 }],
    ["an event that is an object", { event: {} }],
    ["a cause that is a subject", { cause: { emitter: "dc_1.>", emitId: "em_1" } }],
    ["a reason that is a number", { reason: 1 }],
    ["a step that is null", { step: null }],
    ["a step without an id", { step: { ...committedStep(), id: undefined } }],
    ["a step with the id of a source", { step: committedStep({ id: "dc_1" }) }],
    ["a step whose name is no identifier", { step: committedStep({ name: "a b" }) }],
    ["a step with an unknown outcome", { step: { ...committedStep(), outcome: "done" } }],
    ["a step with an attempt that Postgres cannot store", { step: committedStep({ attempt: 2 ** 31 }) }],
    ["a step of more than 30 years", { step: committedStep({ durationMs: 1e13 }) }],
    ["a step with exports that are an object", { step: { ...committedStep(), exports: {} } }],
    ["a step whose error is a string", { step: { ...committedStep(), error: "no" } }],
    ["a step before that has no number", { number: 1, before: [{ step: committedStep(), logs: 0 }] }],
    ["a step before another one that is none", { number: 3, step: undefined, before: [{ step: committedStep(), logs: 0 }] }],
    ["a step before with an unknown outcome", { number: 3, before: [{ step: { ...committedStep(), outcome: "done" }, logs: 0 }] }],
    ["a step before with less than no lines", { number: 3, before: [{ step: committedStep(), logs: -1 }] }],
    ["more steps than a commit may end", { number: 9_999, before: Array.from({ length: 64 }, () => ({ step: committedStep(), logs: 0 })) }],
    ["a send of an unknown kind", { sends: [{ ...send, kind: "fax" }] }],
    ["a send whose id is a subject", { sends: [{ ...send, id: "a.>" }] }],
    ["a send of another run", { sends: [{ ...send, id: "r_2.s1" }] }],
    ["a send although the run continues", { status: "running", sends: [send] }],
    ["a call of another run", { call: { ...call, id: "r_2-c1" } }],
    ["a call of a source", { call: { ...call, workflow: "dc_1" } }],
    ["a call whose event is an object", { call: { ...call, event: {} } }],
    ["a call with a suspension that is a subject", { call: { ...call, suspension: ">" } }],
    ["the end of another run", { status: "failed", returns: { to, returned: { ...returned, run: "r_2" } } }],
    ["an end although the run continues", { status: "running", returns: { to, returned } }],
    ["an end for a source", { status: "failed", returns: { to: { ...to, workflow: "dc_1" }, returned } }],
    ["an end with an unknown status", { status: "failed", returns: { to, returned: { ...returned, status: "done" } } }],
    ["an end that is none", { status: "failed", returns: { to, returned: { ...returned, status: "running" } } }],
    ["an end that returns too much", { status: "failed", returns: { to, returned: { ...returned, value: "x".repeat(300_000) } } }],
    ["a suspension with a number that no branch can have", { call: { ...call, suspension: maxSuspensionNumber + 1 } }],
    ["cancellations although the run continues", { status: "running", cancels: [{ workflow: "p_2", run: "r_3" }] }],
    ["a cancellation of what is no run", { status: "canceled", cancels: [{ workflow: "p_2", run: "a.>" }] }],
  ])("with %s", (_, progress) => {
    const forged = { ...valid, workflow: { ...valid.workflow, ...progress } };
    expect(readCommit(JSON.stringify(forged), subject)).toBeUndefined();
  });
});

it("reads a call of a late branch, and a cancellation as an earlier version wrote it", () => {
  const canceled = { workflow: "p_2", run: "r_3" };
  const late = workflowCommit({ workflow: { call: { ...call, suspension: 100_000 * branchSuspensions + 1 } } });
  expect(readCommit(JSON.stringify(late), subject)?.workflow?.call).toEqual(late.workflow.call);
  const former = workflowCommit({ workflow: { status: "canceled", cancels: canceled } });
  const read = readCommit(JSON.stringify(former), subject);
  expect(read?.workflow?.cancels).toEqual(canceled);
  expect(callsOf(read as Commit)).toMatchObject([
    { listener: "p_2", event: { invocation: { control: { run: "r_3", action: "cancel" } } } },
  ]);
});

it("refuses the commit of a source with a workflow part, and one on the subject of a workflow run", () => {
  const { workflow: _, ...rest } = valid;
  const commit: Commit = { ...rest, source: "dc_1", state: emptyState };
  const own = runSubject(partitionOf("dc_1"), owner, "dc_1");
  const read = (text: object, on = own): Commit | undefined => readCommit(JSON.stringify(text), on);
  expect(read(commit)).toEqual(commit);
  expect(read({ ...commit, workflow: valid.workflow })).toBeUndefined();
  expect(read(commit, `${own}.r_1`)).toBeUndefined();
});
