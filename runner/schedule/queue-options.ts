import type { Invocation } from "../../domain/invocation/invocation.ts";
import type { InvocationResult } from "../handle-invocation.ts";
import type { ReceivedInvocation } from "../run/received.ts";
import type { Backlog } from "./backlog.ts";
import type { RunLimits } from "./run-limits.ts";
import type { SchedulerOptions } from "./scheduler.ts";
import type { QueuedInvocation } from "./source-queue.ts";
import type { RunSpeculatively } from "./speculative-runs.ts";

export interface QueueOptions extends SchedulerOptions {
  /** Counts the invocations that are queued here. */
  readonly backlog: Backlog;
  /** The owner of the source; undefined if the source was deleted. Synchronous if it is cached. */
  readonly ownerOf: (received: QueuedInvocation["received"]) => string | undefined | Promise<string | undefined>;
  /** Limits of workflows; absent: none has any. */
  readonly runLimits?: RunLimits;
  /** Answers the caller of a request that does not run, because its owner is blocked or its source is paused. */
  readonly refuse?: (invocation: Invocation, owner: string, reason: "blocked" | "paused") => void;
  /** Whether a caller still waits for the run. Absent: none does. */
  readonly hasCaller?: (received: QueuedInvocation["received"]) => boolean;
  /** Reads the deployment of a source again. */
  readonly reload?: (source: string) => Promise<unknown>;
}

/** How invocations run. */
export interface InvocationRunner {
  /** Never rejects. @param owner empty if the source was deleted */
  readonly handle: (received: ReceivedInvocation, owner: string) => Promise<InvocationResult>;
  /** Absent: no invocation runs before its turn. */
  readonly runSpeculatively?: RunSpeculatively;
}
