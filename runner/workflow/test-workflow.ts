import type { RunError } from "../../domain/run-products.ts";
import { maxDryRunBytes } from "../../domain/invocation/dry-run.ts";
import { hasMoved } from "../../domain/source/deployment.ts";
import type { WorkflowDeployment } from "../../domain/workflow/deployment.ts";
import type { TestedFlow, TestedStep, WorkflowTestOutcome } from "../../domain/workflow/test-run.ts";
import { SecretMask } from "../../domain/secrets/secret-mask.ts";
import { callId } from "../../domain/workflow/call.ts";
import { hasEnded, type WorkflowRunState } from "../../domain/workflow/run-state.ts";
import type { RunnerConfig, RunnerPorts } from "../ports.ts";
import type { ReceivedInvocation } from "../run/received.ts";
import type { FlowRequest } from "../sandbox/port.ts";
import { executeStep, type ExecutedStep } from "./execute-step.ts";
import { LoopLists } from "./loop-lists.ts";
import { leavesOf, settle } from "./branches.ts";
import { endInBranch, endStep, resumed, type StepEnd } from "./next-state.ts";
import { firstState } from "./begin-run.ts";
import type { RunContext } from "./open-run.ts";
import { withFiles } from "./run-files.ts";

/** Executions of steps in a test: its answer is one message. */
const maxTested = 1_000;
const tooManySteps: RunError = {
  name: "LimitError",
  code: "too_many_steps",
  message: `a test executes ${maxTested} steps: test with fewer items`,
};
const outOfTime: RunError = { name: "LimitError", code: "run_timeout", message: "the time of the test was used up before its last step" };

/**
 * Executes the steps of a workflow, or of a draft, and answers what they did. Commits and sends nothing. After its deadline, or if the workflow
 * was deleted or has moved, it is dropped.
 *
 * @throws Unavailable when it must be retried later
 */
export async function answerWorkflowTest(
  received: ReceivedInvocation,
  context: RunContext,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<void> {
  const { dryRun, answerTo, generation, source: run } = received.invocation;
  if (dryRun?.workflow === undefined || answerTo === undefined || dryRun.deadline <= ports.clock.now()) return;
  const deployed = await context.deployments.workflow(dryRun.source, generation);
  if (deployed === undefined || hasMoved(deployed)) return;
  const { steps = deployed.steps, untilStep } = dryRun.workflow;
  const workflow = { ...deployed, steps };
  const outcome = await runTest(
    { ...received, invocation: { ...received.invocation, trigger: "manual" } },
    workflow,
    { untilStep, deadline: dryRun.deadline },
    context,
    config,
    ports,
  );
  ports.answer(answerTo, { kind: "workflow-test", outcome: limitSize(outcome) });
  const fields = {
    "workflow.id": workflow.workflow,
    "owner.id": workflow.owner,
    "run.id": run,
    durationMs: outcome.durationMs,
    cpuMs: outcome.cpuMs,
  };
  ports.log.info({ op: "workflow.test", outcome: outcome.status, ...fields }, "test of a workflow");
}

async function runTest(
  received: ReceivedInvocation,
  workflow: WorkflowDeployment,
  { untilStep, deadline }: { readonly untilStep: string | undefined; readonly deadline: number },
  context: RunContext,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<WorkflowTestOutcome> {
  const startedAt = ports.clock.now();
  const run = received.invocation.source;
  const tested: TestedStep[] = [];
  const lists = new LoopLists();
  let state = firstState(received, workflow, startedAt);
  let error: RunError | null = null;
  for (;;) {
    const settled = settle(state, workflow.steps);
    state = settled.failure !== undefined ? { ...settled.state, status: "failed" } : settled.state;
    if (settled.exit !== undefined) state = { ...state, status: "exited" };
    // Branches take turns: one at a time, the first one first.
    const leaf = leavesOf(state).find((each) => each.state.status === "running");
    const step = leaf === undefined ? undefined : workflow.steps[leaf.state.next];
    if (leaf === undefined || step === undefined) break;
    error = tested.length >= maxTested ? tooManySteps : ports.clock.now() >= deadline ? outOfTime : null;
    if (error !== null) break;
    const once = { ...step, retries: 0 };
    const limited = { ...once, timeoutMs: Math.max(1, Math.min(step.timeoutMs ?? config.runTimeoutMs, deadline - ports.clock.now())) };
    const attempted = {
      workflow,
      step: limited,
      run,
      state: leaf.state,
      lists,
      occurrence: String(tested.length),
      attempt: 1,
      queue: run,
      isTest: true,
    };
    const executed = await executeStep(attempted, context, config, ports);
    const endOf = (view: WorkflowRunState): StepEnd => {
      const done = endStep(executed.execution, view, workflow, once, ports.clock.now(), 0, callId(run, tested.length + 1));
      return { ...done, state: continued(done.state, step.name) };
    };
    const ended = leaf.branch === 0 ? endOf(state) : endInBranch(state, leaf.branch, workflow.steps, [], endOf);
    const end = withFiles(ended, executed.files);
    tested.push(testedStep(step.id, step.name, executed, end, end.state.sends.slice(state.sends.length)));
    state = end.state;
    if (hasEnded(state.status) || step.name === untilStep) break;
  }
  const ofSteps = (field: "durationMs" | "cpuMs"): number => tested.reduce((sum, step) => sum + step[field], 0);
  const status = error !== null ? "failed" : state.status === "failed" || state.status === "exited" ? state.status : "succeeded";
  const totals = { durationMs: ofSteps("durationMs"), cpuMs: ofSteps("cpuMs") };
  return { status, startedAt, ...totals, steps: tested, response: state.response, error };
}

/** A test does not wait: the next step runs at once, a rerun counts as done, and a workflow that would be called as one that returns nothing. */
function continued(ended: WorkflowRunState, name: string): WorkflowRunState {
  if (ended.status !== "suspended") return ended;
  const kind = ended.suspension?.kind;
  const next = kind === "rerun" || kind === "call" ? ended.next + 1 : ended.next;
  const exports = kind === "call" ? { ...ended.steps, [name]: '{"$return_value":null}' } : ended.steps;
  return { ...resumed(ended, null), next, reruns: 0, steps: exports };
}

function testedStep(
  id: string,
  name: string,
  { execution, startedAt, secrets }: ExecutedStep,
  { outcome, inputs, exports, error }: ReturnType<typeof endStep>,
  sends: TestedStep["sends"],
): TestedStep {
  const mask = new SecretMask(secrets);
  const products = execution.outcome === "crashed" ? undefined : execution;
  return {
    id,
    name,
    outcome,
    startedAt,
    durationMs: products?.durationMs ?? 0,
    cpuMs: products?.cpuMs ?? 0,
    inputs: inputs === null ? null : mask.json(inputs),
    exports: mask.json(exports),
    flow: testedFlow(products?.action?.flow ?? null),
    sends: sends.map((send) => ({ ...send, argument: mask.json(send.argument) })),
    logs: (products?.logs ?? []).map((record) => mask.record(record)),
    error: error === null ? null : mask.error(error),
  };
}

function testedFlow(flow: FlowRequest | null): TestedFlow | null {
  if (flow === null) return null;
  return flow.kind === "exit" ? { kind: flow.kind, reason: flow.reason } : { kind: flow.kind, ms: flow.ms };
}

/** The answer is one message, and NATS drops a message that is too large without an error. */
function limitSize(outcome: WorkflowTestOutcome): WorkflowTestOutcome {
  const bytes = Buffer.byteLength(JSON.stringify(outcome));
  if (bytes <= maxDryRunBytes) return outcome;
  const message = `the result of this test has ${bytes} bytes of JSON: the limit is ${maxDryRunBytes}`;
  const error: RunError = { name: "LimitError", code: "dry_run_too_large", message };
  return { ...outcome, steps: [], response: null, error };
}
