import type { Invocation } from "../../domain/invocation/invocation.ts";
import type { RunError } from "../../domain/run-products.ts";
import { isCommitted, type QueuePosition } from "../../domain/invocation/watermark.ts";
import { hasProcessed } from "../../domain/event/processed-events.ts";
import type { SourceState } from "../../domain/run/commit.ts";
import type { FinishedRun } from "../commit/compose.ts";
import type { RunControl } from "../../domain/workflow/run-control.ts";
import { linkHasRun } from "../commit/timer-chain.ts";

/** An invocation as this runner received it from the stream. */
export interface ReceivedInvocation {
  readonly invocation: Invocation;
  readonly position: QueuePosition;
  /** Epoch ms at which NATS stored it. */
  readonly storedAt: number;
  /** No runner can have received it before. */
  readonly isNew?: boolean;
  /** Calls back once the ack of its message was sent. */
  readonly afterAck?: (action: () => void) => void;
  /** Whether the next reader of its partition waits for it: a run of a workflow is then released between two steps. */
  readonly isReleased?: () => boolean;
  /** What the API asks of this run of a workflow while its invocation runs, see domain/workflow/run-control.ts. */
  readonly control?: () => RunControl | undefined;
  /** Whether this runner has an invocation of the history, which it has not finished. */
  readonly isQueued?: (history: string) => boolean;
  /** Ticks of the source that were skipped before this invocation. */
  readonly skippedTicks: number;
  /** Due times of the last of them, epoch ms; absent: none were skipped. */
  readonly skippedDue?: readonly number[];
  /** Number of failed attempts so far; absent: none. */
  readonly failures?: number;
  /** The last failure, if there are no more attempts: its error is committed instead of a run. */
  readonly failure?: Error;
  /** Why it must not run: this error is committed instead of a run. */
  readonly refusal?: RunError;
  /** Whether its queue has room for it while its source is paused; absent: yes. */
  readonly hasRoom?: () => boolean;
  /** Its speculative run, if there was one. */
  readonly speculative?: Promise<SpeculativeRun | undefined> | undefined;
}

/** A run that was made before the invocation's turn, and the db that it started from. */
export interface SpeculativeRun {
  readonly run: FinishedRun;
  readonly db: SourceState["db"];
}

/** Whether the source has a commit for the invocation, so that it must not run again. */
export function isProcessed(received: ReceivedInvocation, state: SourceState): boolean {
  const { invocation } = received;
  return (
    isCommitted(state.watermarks, received) ||
    hasProcessed(state.heard, invocation.delivery) ||
    hookHasRun(invocation, state) ||
    linkHasRun(invocation, state)
  );
}

/** The operator requests a run of a hook twice if it was killed in between. */
function hookHasRun({ hook, run }: Invocation, { hooks }: SourceState): boolean {
  return hook !== undefined && hooks[hook]?.run === run;
}
