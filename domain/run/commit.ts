import type { CommittedEvent } from "../event/committed-event.ts";
import type { DedupeState } from "../event/dedupe.ts";
import type { ProcessedEvents } from "../event/processed-events.ts";
import type { Kills } from "./kills.ts";
import type { RunSummary } from "../invocation/invocation.ts";
import type { RunError, LogRecord } from "../run-products.ts";
import type { Hook, Trigger } from "../trigger.ts";
import type { TraceContext } from "../traces.ts";
import type { Watermarks } from "../invocation/watermark.ts";
import type { WorkflowProgress } from "../workflow/run-commit.ts";
import type { WorkflowRunState } from "../workflow/run-state.ts";

/**
 * The commit is the single message that a run publishes on the stream RUNS, with the subject `runs.<partition>.<owner>.<source>` and the
 * expected last sequence of that subject: a run commits completely or not at all, and no two runners extend one history. A run of a workflow
 * has a subject of its own and commits after each step, see domain/workflow/run-commit.ts; `source` is then the id of the workflow.
 * JSON texts (payloads, db values) are not decoded by processes that only pass them on.
 * Its trace context is the parent of its deliveries, see domain/traces.ts.
 */
export interface Commit extends TraceContext {
  readonly source: string;
  readonly owner: string;
  /** Deployment id, `d_…`. */
  readonly deployment: string;
  readonly run: CommittedRun;
  readonly events: readonly CommittedEvent[];
  readonly logs: readonly LogRecord[];
  readonly error: RunError | null;
  /** Deliveries to sources and workflows that led to this run; absent: none. See domain/invocation/hops.ts. */
  readonly hops?: number;
  /** The last sources and workflows of that chain. */
  readonly way?: readonly string[];
  /** Of a workflow: what the commit says about its run. */
  readonly workflow?: WorkflowProgress;
  readonly state: SourceState;
}

/** A commit of a workflow run, with the state of the run. */
export interface WorkflowCommit extends Omit<Commit, "state"> {
  readonly workflow: WorkflowProgress;
  readonly state: WorkflowRunState;
}

/**
 * Maximum characters of a failed run's event that the history keeps: more than an emitted event, or a request of the default size limit.
 * The error event itself has the whole event.
 */
export const maxStoredReceived = 2 * 1_048_576;

export interface CommittedRun extends Omit<RunSummary, "eventIds" | "logs" | "error" | "source"> {
  readonly trigger: Trigger;
  /** Epoch ms at which the run's tick was due; set exactly when `trigger` is `timer`, of a workflow in the first commit of a run. */
  readonly dueAt?: number;
  /** Time between the acceptance of its invocation and its start; of a workflow, in the first commit of a run. */
  readonly waitedMs?: number;
  /** JSON text of a failed run's event, unless its commit has no room for it. */
  readonly received?: string;
  /** Due times, epoch ms, of the last ticks that were skipped since the previous run. */
  readonly skippedTicks?: readonly number[];
  /** Those that were due while Headwater was down. */
  readonly missedTicks?: readonly number[];
}

/** The state that a source keeps between runs. */
export interface SourceState {
  /** `$.service.db`: one map per prop of that type, key → JSON text. */
  readonly db: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly dedupe: DedupeState;
  /** The last answered positions of the source's invocations; absent: none. */
  readonly watermarks?: Watermarks;
  readonly lastEventId: string | null;
  /** The last run of each hook, which the operator reads. */
  readonly hooks: Readonly<Partial<Record<Hook, HookRecord>>>;
  /** Chained timers by prop: epoch ms at which the last link that ran was due. */
  readonly links?: Readonly<Record<string, number>>;
  /** Recent deliveries from other sources that it has run; absent: none. See domain/event/processed-events.ts. */
  readonly heard?: ProcessedEvents;
  /** Recent runs that killed their process; absent: none. */
  readonly kills?: Kills;
}

export interface HookRecord {
  /** Generation of the deployment for which the hook ran. */
  readonly generation: number;
  /** Id of the run, to recognize a repeated invocation. */
  readonly run: string;
  /** How often it has run for this generation. */
  readonly attempts: number;
  readonly error: RunError | null;
}

export const emptyState: SourceState = {
  db: {},
  dedupe: { strategy: "none" },
  lastEventId: null,
  hooks: {},
};
