import type { Trigger } from "../trigger.ts";
import type { LogRecord, RunError } from "../run-products.ts";
import type { CommittedStep } from "./run-commit.ts";
import type { RunStatus } from "./run-state.ts";

/** A run of a workflow as the history has it: after the last recorded commit. Times in epoch ms. */
export interface RecordedWorkflowRun {
  readonly id: string;
  readonly workflow: string;
  readonly owner: string;
  /** Version with which it began: `d_…`. */
  readonly deployment: string;
  readonly trigger: Trigger;
  readonly status: RunStatus;
  /** Number of its last recorded commit. */
  readonly commits: number;
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** While suspended. */
  readonly resumeAt: number | null;
  readonly stepCount: number;
  /** Number of steps that need not run again. */
  readonly stepsDone: number;
  /** Wall time of its steps. */
  readonly computeMs: number;
  /** The emitted event that started it; null for other triggers. */
  readonly cause: { readonly emitter: string; readonly emitId: string } | null;
  /** Id of the run that it repeats. */
  readonly repeats: string | null;
  /** Of an exit, a cancellation or, while suspended, a pause. */
  readonly reason: string | null;
  /** Id of the step that failed the run. */
  readonly failedStep: string | null;
  readonly error: RunError | null;
}

export interface WorkflowRunDetails extends RecordedWorkflowRun {
  /** JSON text of the trigger's event; null if it has more than 64 KiB. */
  readonly event: string | null;
  /** Id of the event that started it, in the history of its emitter; null if it is no longer stored. */
  readonly causeEventId: string | null;
  /** Attempts of its steps, in the order in which they ended; of many attempts, the last ones. */
  readonly attempts: readonly RecordedAttempt[];
  /** Ids of the events that it emitted and that are still stored. */
  readonly eventIds: readonly string[];
}

/** Of large exports, only the beginning is recorded. */
export interface RecordedAttempt extends CommittedStep {
  readonly logs: readonly LogRecord[];
}
