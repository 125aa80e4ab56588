import type { ActionProducts, ActionRequest, Execution } from "../../../runner/sandbox/port.ts";
import { ended, type SandboxFixture, type SandboxRequest } from "../sandbox-fixture.ts";

/** An execution of an action as a step, with the steps before it. */
export interface StepRun {
  readonly steps?: Readonly<Record<string, unknown>>;
  readonly props?: Readonly<Record<string, unknown>>;
  readonly context?: unknown;
  readonly action?: Partial<ActionRequest>;
  readonly request?: SandboxRequest;
}

export const resumeUrl = "https://e/x/runs/r_1/1/resume/2/s";
export const cancelUrl = "https://e/x/runs/r_1/1/cancel/2/s";

export function stepRequest({ steps = {}, props = {}, context = {}, action, request }: StepRun): SandboxRequest {
  return {
    props: JSON.stringify(props),
    action: {
      steps: JSON.stringify({ trigger: { event: {}, context: {} }, ...steps }),
      context: JSON.stringify(context),
      resumeUrl,
      cancelUrl,
      ...action,
    },
    ...request,
  };
}

/** Runs the body of an action's `run({ steps, $ })`. */
export const runBody = (fixture: SandboxFixture, body: string, run: StepRun = {}): Promise<Execution> =>
  runAction(fixture, `export default { name: "a", type: "action", async run({ steps, $ }) { ${body} } }`, run);

export const runAction = (fixture: SandboxFixture, code: string, run: StepRun = {}): Promise<Execution> =>
  fixture.run(code, stepRequest(run));

export function actionOf(execution: Execution): ActionProducts {
  const { action } = ended(execution);
  if (action === undefined) throw new Error("the execution has no products of an action");
  return action;
}

/** The returned value; fails for any other outcome. */
export function returned(execution: Execution): unknown {
  if (execution.outcome !== "returned") throw new Error(`did not return: ${JSON.stringify(execution)}`);
  return execution.result === null ? undefined : JSON.parse(execution.result);
}

export const exportsOf = (execution: Execution): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(actionOf(execution).exports).map(([name, text]) => [name, JSON.parse(text) as unknown]));

export const sendsOf = (execution: Execution): readonly (readonly [kind: string, argument: unknown])[] =>
  actionOf(execution).sends.map(({ kind, argument }) => [kind, JSON.parse(argument)] as const);
