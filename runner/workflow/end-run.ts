import type { WorkflowDeployment } from "../../domain/workflow/deployment.ts";
import { endMarkerOf } from "../../domain/workflow/run-commit.ts";
import type { WorkflowRunState } from "../../domain/workflow/run-state.ts";
import type { CommitHistory } from "../commit/source-commits.ts";
import type { RunnerPorts } from "../ports.ts";
import type { ReceivedInvocation } from "../run/received.ts";
import type { LastOfRun } from "./begin-run.ts";
import { suspensionsOf } from "./branches.ts";

interface OpenRun {
  readonly received: ReceivedInvocation;
  readonly id: string;
  readonly history: CommitHistory<LastOfRun>;
  readonly current: WorkflowDeployment;
}

/**
 * A run whose suspension ends early has a wake-up left, which may be due in a year. It is moved to the present, where it has no effect,
 * because delivery may not delete invocations.
 */
export function endWakeUp({ received, id, current, history }: OpenRun, { wakeUps, clock, log }: RunnerPorts): void {
  const { resume } = received.invocation;
  const state = history.last?.state ?? null;
  if (state === null || resume?.action === "wake") return;
  const ended = suspensionsOf(state).filter(({ number }) => resume === undefined || number === resume.suspension);
  for (const { number } of ended)
    wakeUps.schedule(current.workflow, id, number, clock.now()).catch((error: unknown) => {
      log.warn({ op: "workflow.resume", "workflow.id": current.workflow, "run.id": id, err: error }, "a wake-up stays until it is due");
    });
}

/** NATS forgets the run some time after the invocation was acked, so that a repetition of it finds the end until then. */
export function endLater({ received, history, current, id }: OpenRun, state: WorkflowRunState, ports: RunnerPorts): void {
  received.afterAck?.(() => {
    history.end(endMarkerOf(state)).catch((error: unknown) => {
      const fields = { op: "workflow.end", "workflow.id": current.workflow, "run.id": id, err: error };
      ports.log.warn(fields, "an ended run stays stored: its end could not be marked");
    });
  });
}
