import type { GeneratedAlways } from "kysely";
import type { CommittedStep } from "../../../../domain/workflow/run-commit.ts";
import type { RunStatus } from "../../../../domain/workflow/run-state.ts";

/** A run of a workflow, after the last recorded commit of the run. */
export interface WorkflowRunTable {
  readonly workflow: string;
  readonly id: string;
  /** Order in which the runs were first recorded. */
  readonly n: GeneratedAlways<number>;
  /** Number of the last recorded commit within the run. */
  readonly number: number;
  readonly owner: string;
  readonly deployment: string;
  readonly trigger: string;
  readonly status: RunStatus;
  readonly started_ms: number;
  /** Null: it has not ended. */
  readonly ended_ms: number | null;
  /** Null unless suspended. */
  readonly resume_at_ms: number | null;
  readonly step_count: number;
  readonly steps_done: number;
  /** Wall time of its steps. */
  readonly compute_ms: number;
  /** The emitted event that started it; null for other triggers. */
  readonly cause_emitter: string | null;
  readonly cause_emit_id: string | null;
  /** Id of the run that it repeats. */
  readonly repeats: string | null;
  readonly reason: string | null;
  /** JSON of the trigger's event; null if it is too large. */
  readonly event: string | null;
  /** Id of the step that failed the run. */
  readonly failed_step: string | null;
  /** JSON of the error that failed the run. */
  readonly error: string | null;
  /** Time in the queue before it started; null if it was less than a millisecond, or recorded by an earlier version. */
  readonly queued_ms: number | null;
  /** Its OpenTelemetry trace; null while tracing is off. */
  readonly trace_id: string | null;
}

/** An attempt of a step of a workflow run. */
export interface WorkflowStepTable {
  readonly workflow: string;
  readonly run: string;
  /** Number of its commit within the run. */
  readonly number: number;
  readonly step: string;
  readonly name: string;
  /** Index of the step in its version of the workflow. */
  readonly place: number;
  readonly attempt: number;
  readonly started_ms: number;
  readonly duration_ms: number;
  readonly cpu_ms: number;
  readonly outcome: CommittedStep["outcome"];
  /** JSON texts, as committed; see record.ts for large ones. */
  readonly inputs: string | null;
  readonly exports: string;
  readonly error: string | null;
  /** JSON of the list of its log lines. */
  readonly logs: string;
  /** JSON of the layers of the run's files; null: it had none, or an earlier version recorded it. */
  readonly files: string | null;
}
