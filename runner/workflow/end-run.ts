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
 * An ended run whose last suspension ended early has a wake-up left, which may be due in a year. It is moved to the present, where it has no
 * effect, because delivery may not delete invocations. Not before the end: a run has one wake-up, and a further suspension sets it.
 */
export function endWakeUp({ id, current }: OpenRun, suspension: number, { wakeUps, clock, log }: RunnerPorts): void {
  wakeUps.schedule(current.workflow, id, suspension, clock.now()).catch((error: unknown) => {
    log.warn({ op: "workflow.resume", "workflow.id": current.workflow, "run.id": id, err: error }, "a wake-up stays until it is due");
  });
}

/** Number of the suspension that the invocation ends before its time has come; undefined: it ends none. */
export function endedEarly({ received: { invocation }, history }: OpenRun, endsSuspension: boolean): number | undefined {
  const state = history.last?.state ?? null;
  if (!endsSuspension || state === null || invocation.resume?.action === "wake") return undefined;
  return invocation.resume?.suspension ?? suspensionsOf(state)[0]?.number;
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
