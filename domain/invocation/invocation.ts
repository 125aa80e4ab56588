import type { Configuration, Configured } from "../component/configure.ts";
import type { DryRun, DryRunOutcome } from "./dry-run.ts";
import type { EventMetadata } from "../event/event-metadata.ts";
import type { Backfill } from "../schedule/backfill.ts";
import type { SkippedTick } from "../schedule/ticks.ts";
import type { HttpResponse, LogRecord, RunError } from "../run-products.ts";
import type { DbChange } from "./db-change.ts";
import type { TraceContext } from "../traces.ts";
import type { Caller, Returned } from "../workflow/call.ts";
import type { ResumeOutcome, ResumeRequest } from "../workflow/resume-request.ts";
import type { RunControl, RunRepetition } from "../workflow/run-control.ts";
import type { WorkflowTestOutcome } from "../workflow/test-run.ts";
import type { Hook, Trigger } from "../trigger.ts";

/**
 * A durable request to run a source once: part of a message on the stream INVOCATIONS, a work queue. The ingress packs several into one
 * message; all others make packs of one. Its trace context is the parent of the run, see domain/traces.ts.
 */
export interface Invocation extends TraceContext {
  /** Public id of the source, `dc_…`, or workflow, `p_…`; of a `configure`, the id of the call; of a `dry-run`, that of the run. */
  readonly source: string;
  readonly trigger: Trigger;
  /** Id of its run (`r_…`); by default, derived from the invocation number. */
  readonly run?: string;
  /** Epoch ms of its creation; absent for ticks: the time at which NATS stored the message. */
  readonly at?: number;
  /** Argument of `run`, as a JSON value: for `http` an {@link HttpEvent}, for `email` an `EmailEvent`, for `timer` a {@link TimerEvent} without timestamp. */
  readonly event?: unknown;
  /** Metadata of that event, if a source emitted it: second argument of `run`. */
  readonly metadata?: EventMetadata;
  /** Which hook to run; set exactly when `trigger` is `hook`. */
  readonly hook?: Hook;
  /** The call; set exactly when `trigger` is `configure`. */
  readonly configure?: Configuration;
  /** The dry run; set exactly when `trigger` is `dry-run`. */
  readonly dryRun?: DryRun;
  /** The suspended run of a workflow; set exactly when `trigger` is `resume`. `event` is then the request to the resume URL, if there was one. */
  readonly resume?: ResumeRequest;
  /** What the API asks of a run of a workflow; set exactly when `trigger` is `control`. */
  readonly control?: RunControl;
  /** The run repeats another one of its workflow. */
  readonly repeats?: RunRepetition;
  /** The run that waits until this one has ended. */
  readonly caller?: Caller;
  /** Of a `resume`: how the run has ended for which the suspended one waits. */
  readonly returned?: Returned;
  /** The runner must see at least this generation of the deployment entry; it reads the entry again if it holds an older one. */
  readonly generation?: number;
  /** Prop of the chained timer of this tick: the runner arms the next tick before it acks this one. */
  readonly chain?: string;
  /** Epoch ms at which a tick with jitter is due; absent: at `at`, the time of the tick. */
  readonly dueAt?: number;
  /** Of a workflow's chain: the last run that it has started. */
  readonly lastRun?: { readonly id: string; /** Epoch ms. */ readonly startedAt: number };
  /** Of a workflow's chain: ticks before this one that no run has recorded yet. */
  readonly skips?: readonly SkippedTick[];
  /** The chain runs past ticks on request, see domain/schedule/backfill.ts. */
  readonly backfill?: Backfill;
  /** Do not commit emits (the `emit_on_deploy: false` of a deploy hook). */
  readonly discardEvents?: boolean;
  /** Id of the delivery of an `event` or `email`, so that it runs once; see domain/event/processed-events.ts. */
  readonly delivery?: string;
  /** Deliveries to sources and workflows that led to this; absent: none. See domain/invocation/hops.ts. */
  readonly hops?: number;
  /** The last sources and workflows of that chain. */
  readonly way?: readonly string[];
  /** Ticks of this chain that were skipped before this one, because they were due while none could run. */
  readonly skippedTicks?: number;
  /** Position before its source moved to another pool, to recognize it if it is moved twice or was answered there. */
  readonly movedFrom?: InvocationNumber & { readonly pool: string; readonly storedAt: number };
  /** NATS subject to which {@link Answer} messages go, best effort, beside the commit. */
  readonly answerTo?: string;
}

/** The event of an HTTP-triggered run; the guest adds `body`, parsed from `bodyRaw` by content type. */
export interface HttpEvent {
  readonly method: string;
  /** Path below the endpoint, beginning with `/`. */
  readonly path: string;
  /** The complete URL of the request. */
  readonly url: string;
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly client_ip: string;
  /** The body as text when it is valid UTF-8; absent when there is none. */
  readonly bodyRaw?: string;
  /** The body in base64 when it is not valid UTF-8. */
  readonly bodyBase64?: string;
  /** Set by the ingress for forms and multipart, and for a body that it has stored as a file; JSON is parsed in the guest. */
  readonly body?: unknown;
}

export interface TimerEvent {
  /** Epoch seconds at which the tick was due. */
  readonly timestamp: number;
  readonly interval_seconds: number | null;
  readonly cron?: string;
  readonly timezone?: string;
}

/** Position of an invocation in INVOCATIONS: stream sequence of its message and index within the pack. */
export interface InvocationNumber {
  readonly seq: number;
  readonly index: number;
}

/** Why a run did not begin. */
export type NotRunReason = "paused" | "deleted";

/** Messages on `answerTo`, at most one of each kind per run, except for `body`. */
export type Answer = WholeAnswer | BodyAnswer;

/** An answer that is one message. */
export type WholeAnswer =
  /** `stream`: the name of its body, which follows in pieces. */
  | { readonly kind: "response"; readonly response: HttpResponse; readonly stream?: string }
  | { readonly kind: "run"; readonly run: RunSummary }
  /** The requested run does not begin, and the caller must not wait for it. It leaves no trace. */
  | { readonly kind: "not-run"; readonly reason: NotRunReason }
  | { readonly kind: "configured"; readonly configured: Configured }
  | { readonly kind: "dry-run"; readonly outcome: DryRunOutcome }
  | { readonly kind: "workflow-test"; readonly outcome: WorkflowTestOutcome }
  | { readonly kind: "resume"; readonly outcome: ResumeOutcome };

/** A piece of a streamed response. Who listens replies to it with whether it was taken, once there is room for the next one. */
export interface BodyAnswer {
  readonly kind: "body";
  readonly stream: string;
  readonly index: number;
  readonly base64: string;
  /** `cut`: the run has ended, and its body has not. Absent: more follows. */
  readonly end?: "whole" | "cut";
}

/** Summary of an ended run: the response of `POST /v1/sources/{id}/runs`, and a record of the recorder. */
export interface RunSummary {
  readonly id: string;
  readonly source: string;
  readonly trigger: Trigger;
  readonly hook?: Hook;
  readonly generation: number;
  /** Epoch ms. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly cpuMs: number;
  readonly eventIds: readonly string[];
  readonly logs: readonly LogRecord[];
  readonly error: RunError | null;
  /** JSON text of the return value of `run`, if it has at most 64 KiB; otherwise null. */
  readonly result: string | null;
  /** The emitted event that started it; absent for other triggers. */
  readonly cause?: EventCause;
  /** Time in the queue before it started; absent if it was less than a millisecond. */
  readonly queuedMs?: number;
  /** Time until its code began to run: the wait for a place to compute, and the start of an isolate if none was warm. */
  readonly startMs?: number;
  /** Number of its emits that dedupe had seen before; absent: none. */
  readonly duplicates?: number;
  /** Keys of `$.service.db` that it changed, see ./db-change.ts; absent: none. */
  readonly dbChanges?: readonly DbChange[];
}

/** An emitted event as the cause of a run. A call of a workflow counts as one: its `emitId` is the id of the call. */
export interface EventCause {
  readonly emitter: string;
  readonly emitId: string;
}

/** Joins invocations, given as JSON texts, to one message. */
export function encodePack(invocations: readonly string[]): string {
  return `{"invocations":[${invocations.join(",")}]}`;
}

export function decodePack(text: string): readonly Invocation[] {
  // Only the API, the ingress, the operator and the delivery role can write to the stream, each from typed values.
  return (JSON.parse(text) as { invocations: Invocation[] }).invocations;
}
