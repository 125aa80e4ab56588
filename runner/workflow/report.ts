import type { WorkflowCommit } from "../../domain/run/commit.ts";
import { stepsOf } from "../../domain/workflow/run-commit.ts";
import type { RunnerPorts } from "../ports.ts";
import { suspensionsOf } from "./branches.ts";

/**
 * Answers the caller when the run has ended or is suspended, unless it waits for a run that it has called. Logs one line for each step,
 * without messages and values of user code: those are only for the owner.
 */
export function reportCommit(commit: WorkflowCommit, answerTo: string | undefined, ports: Pick<RunnerPorts, "answer" | "log">): void {
  const { source, owner, run, events, logs, error, workflow, state } = commit;
  if (answerTo !== undefined && workflow.status !== "running" && !suspensionsOf(state).some(({ kind }) => kind === "call")) {
    if (state.response !== null) ports.answer(answerTo, { kind: "response", response: state.response });
    ports.answer(answerTo, { kind: "run", run: { ...run, source, eventIds: events.map(({ id }) => id), logs, error } });
  }
  const about = { "workflow.id": source, "owner.id": owner, "run.id": run.id, trigger: run.trigger, status: workflow.status };
  const steps = stepsOf(workflow, logs);
  if (steps.length === 0) ports.log.info({ op: "workflow.step", ...about, durationMs: run.durationMs, cpuMs: run.cpuMs }, "step");
  for (const { step } of steps) {
    const { id, attempt, outcome, durationMs, cpuMs } = step;
    ports.log.info({ op: "workflow.step", ...about, "step.id": id, attempt, outcome, durationMs, cpuMs }, "step");
  }
}
