import type { Commit, WorkflowCommit } from "../../../domain/run/commit.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { workflowRunSubject } from "../../../domain/subjects.ts";
import type { CommittedStep, WorkflowProgress } from "../../../domain/workflow/run-commit.ts";
import { hasEnded, type WorkflowRunState } from "../../../domain/workflow/run-state.ts";
import { stepId } from "../../../domain/workflow/step-id.ts";

export const workflow = "p_shop";
export const owner = "u_1";
export const began = 1_700_000_000_000;

/** A step that ran for 20 ms, a second after the run began for each step before it. */
export function committedStep(given: Partial<CommittedStep> = {}): CommittedStep {
  const { name = "first", index = 0 } = given;
  return {
    id: stepId(workflow, name),
    name,
    index,
    attempt: 1,
    startedAt: began + index * 1_000,
    durationMs: 20,
    cpuMs: 2,
    outcome: "succeeded",
    inputs: '{"to":"Ada"}',
    exports: '{"$return_value":1}',
    error: null,
    ...given,
  };
}

export type Given = Partial<Omit<WorkflowCommit, "workflow" | "state">> & { readonly workflow?: Partial<WorkflowProgress> };

/** By default the only commit of a run of one step: the run `r_1` of `p_shop`, triggered by HTTP. */
export function workflowCommit(given: Given = {}): WorkflowCommit {
  const { workflow: progress, ...commit } = given;
  const status = progress?.status ?? "succeeded";
  return {
    source: workflow,
    owner,
    deployment: "d_1",
    run: { id: "r_1", trigger: "http", generation: 1, startedAt: began, durationMs: 20, cpuMs: 2, result: null },
    events: [],
    logs: [],
    error: null,
    ...commit,
    workflow: { status, number: 1, startedAt: began, stepCount: 1, step: committedStep(), ...progress },
    state: { ...state, status, next: hasEnded(status) ? 1 : 0 },
  };
}

/** As readers of RUNS have it, which do not know the state of a workflow run. */
export const recordable = (given: Given): Commit => workflowCommit(given) as unknown as Commit;

export const subjectOf = ({ source, owner, run }: WorkflowCommit): string => workflowRunSubject(partitionOf(source), owner, source, run.id);

const state: WorkflowRunState = {
  status: "running",
  deployment: "d_1",
  startedAt: began,
  trigger: { kind: "http", event: "{}", at: began },
  next: 0,
  failures: 0,
  reruns: 0,
  rerunContext: null,
  steps: {},
  sends: [],
  response: null,
  suspension: null,
  suspensions: 0,
  resumedBy: null,
};
