import type { EventCause } from "../invocation/invocation.ts";
import type { Hook, Trigger } from "../trigger.ts";
import type { CommittedStep } from "../workflow/run-commit.ts";
import type { RunStatus } from "../workflow/run-state.ts";

/** What the history has of a trace, without payloads. Times are epoch ms. */

/** A run of a source, or of a workflow. */
export interface TracedRun {
  readonly id: string;
  /** The source or workflow. */
  readonly emitter: string;
  /** Version of its code: `d_…`. */
  readonly deployment: string;
  readonly trigger: Trigger;
  readonly hook: Hook | null;
  readonly status: RunStatus;
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** While suspended. */
  readonly resumeAt: number | null;
  readonly queuedMs: number | null;
  readonly startMs: number | null;
  readonly cpuMs: number | null;
  readonly cause: EventCause | null;
  readonly repeats: string | null;
  readonly traceId: string | null;
}

export interface TracedEvent {
  readonly emitter: string;
  /** `<epoch ms>-<sequence>`; null: the event is no longer stored. */
  readonly id: string | null;
  readonly emitId: string;
  readonly channel: string;
  readonly summary: string | null;
  /** The run that emitted it; null if it is unknown. */
  readonly run: string | null;
}

export interface TracedStep extends Pick<CommittedStep, "id" | "name" | "attempt" | "startedAt" | "durationMs" | "cpuMs" | "outcome"> {
  /** Number of its commit within the run. */
  readonly number: number;
}

/** An attempt at a delivery, or a dead letter of which no attempt is stored. */
export interface TracedAttempt {
  readonly delivery: string;
  /** The webhook; of what `$.send` asked for, the workflow. */
  readonly listener: string;
  readonly source: string;
  /** Id of the event; of what `$.send` asked for, the run. */
  readonly event: string;
  readonly channel: string;
  readonly attempt: number;
  readonly at: number;
  readonly durationMs: number;
  readonly outcome: "delivered" | "retry" | "dead";
  /** HTTP status; null without a response. */
  readonly status: number | null;
  readonly error: string | null;
}
