import type { EventMetadata } from "../event/event-metadata.ts";
import type { Trigger } from "../trigger.ts";
import type { Caller, EndStatus, Returned } from "./call.ts";
import { controlLimits, type Frame, type StepFailure } from "./control.ts";
import type { HttpResponse } from "../run-products.ts";

/**
 * The states of a workflow run:
 *
 * | state | next | when |
 * |---|---|---|
 * | running | running | a step ends, and another one follows |
 * | running | suspended | a step asks for a delay, a suspension or a rerun, is retried later, or calls a workflow; or the run is paused |
 * | running | succeeded | the last step ends |
 * | running | exited | a step calls `$.flow.exit` |
 * | running | failed | a step fails after its last retry, and its failure does not continue |
 * | suspended | running | its time has come, it is resumed by its resume URL or the API, or the run that it has called has ended |
 * | running, suspended | canceled | its cancel URL is requested, the API cancels it, or nothing resumes a suspension in time |
 */
export const runStatuses = ["running", "suspended", "succeeded", "exited", "failed", "canceled"] as const;
export type RunStatus = (typeof runStatuses)[number];

export const hasEnded = (status: RunStatus): status is EndStatus => status !== "running" && status !== "suspended";

/**
 * The state of a workflow run after a commit: what the next step needs. It is part of the run's last commit, as the state of a source is
 * part of the source's last commit.
 */
export interface WorkflowRunState extends Position {
  /** Version with which the run began, and finishes: `d_…`. */
  readonly deployment: string;
  readonly startedAt: number;
  readonly trigger: RunTrigger;
  /** Deliveries from source to source that led to the run, and the last sources of that chain; absent: none. */
  readonly hops?: number;
  readonly way?: readonly string[];
  /** Branches that have begun so far; numbers the next one. Absent: none. */
  readonly forked?: number;
  /** What `$.send` was asked for; it is carried out by the commit that ends the run. */
  readonly sends: readonly SendRequest[];
  /** What `$.respond` gave without `immediate`; it is sent when the run ends or is suspended. */
  readonly response: HttpResponse | null;
  /** Layers of its files (domain/files/run-files.ts), in order; absent: it has none. */
  readonly files?: readonly string[];
  /** The run that waits until this one has ended; absent: none. */
  readonly caller?: Caller;
  /** Never stored: pages of its stored state (domain/workflow/state-pages.ts) are gone, so that no step may follow. */
  readonly isIncomplete?: true;
  /** NATS subject of the caller of the trigger, who waits until the run that was called has ended, too; absent: no caller waits. */
  readonly answerTo?: string;
}

/** Where a run is, or a branch of it. */
export interface Position {
  /** Of a run with branches: `suspended` while all of them wait. */
  readonly status: RunStatus;
  /** Index of the step that runs next. It may lie behind the part of the last frame, which is then left before a step runs. */
  readonly next: number;
  /** The steps within which it is; absent: within none. */
  readonly frames?: readonly Frame[];
  /** The branches into which the step `next` has split it; absent: none. */
  readonly fork?: Fork;
  /** Failed attempts of the next step so far. */
  readonly failures: number;
  /** How often that step has asked to be run again by `$.flow.rerun`, and the context that it gave, JSON text. */
  readonly reruns: number;
  readonly rerunContext: string | null;
  /** By name of the step: JSON text of its exports, `$return_value` among them. Of a branch: those of its own steps. */
  readonly steps: Readonly<Record<string, string>>;
  /** Set while it is suspended itself: not if only its branches are. */
  readonly suspension: Suspension | null;
  /** Number of its last suspension; numbers the next one. */
  readonly suspensions: number;
  /** How the last suspension ended that was not a retry; absent: none has, or an earlier version committed it. */
  readonly suspensionEnd?: SuspensionEnd;
  /** JSON text of the request that resumed it last (`$.context.run.callback_request`); null: its time had come. */
  readonly resumedBy: string | null;
  /** How the run has ended that the next step has called; absent: it has called none yet. */
  readonly returned?: Returned;
}

/** What runs side by side in a step: the parts of a `parallel`, or the items of an `each`. */
export interface Fork {
  /** Number of parts or items, and how many of them have begun. */
  readonly count: number;
  readonly started: number;
  /** Of `each`: JSON text of the list. */
  readonly items?: string;
  /** By part or item: JSON text of what it has given; null: it has not ended. */
  readonly results: readonly (string | null)[];
  /** Results that are not in that list yet, by part or item (fork-results.ts). Never stored. */
  readonly ended?: readonly (readonly [index: number, text: string])[];
  /** Those that have begun and are still needed: of `each` those that have not ended, of `parallel` all. */
  readonly branches: readonly Branch[];
  /** The first branch that has failed or exited the run; absent: none. */
  readonly endedBy?: number;
}

export interface Branch extends Position {
  /** From 1, within the run. Its suspensions are numbered from a million times this. */
  readonly id: number;
  /** Of a part or an item, from 0. */
  readonly index: number;
  /** Of a failed one. */
  readonly failure?: StepFailure;
  /** Of one that has exited the run. */
  readonly reason?: string;
}

/** Suspensions that a branch may have. */
export const branchSuspensions = 1_000_000;
/** More than any number of a suspension: each branch executes a step, or is open. */
export const maxSuspensionNumber = 2 * controlLimits.executions * branchSuspensions;

export interface RunTrigger {
  readonly kind: Trigger;
  /** JSON text of the event, `steps.trigger.event`. */
  readonly event: string;
  /** Of an event that a source or workflow emitted. */
  readonly metadata?: EventMetadata;
  /** Epoch ms at which the invocation was stored. */
  readonly at: number;
}

/**
 * Why a suspended run waits. `retry`: its step has failed, and is tried again. `pause`: the API has paused it between two steps. `call`: for
 * the end of a run that it has started.
 */
export const suspensionKinds = ["delay", "suspend", "rerun", "retry", "pause", "call"] as const;

export interface Suspension {
  readonly kind: (typeof suspensionKinds)[number];
  /** From 1, within the run; unique there. Resume URLs and wake-ups of an earlier suspension have no effect. */
  readonly number: number;
  /** Epoch ms: a `suspend` or `pause` is canceled then, the step of a `call` fails, all others continue. */
  readonly until: number;
  /** Of a `call`: the run that was started. */
  readonly called?: { readonly workflow: string; readonly run: string };
}

export interface SuspensionEnd {
  readonly number: number;
  /** `timed_out`: nothing resumed it, so the run was canceled. `continued`: its time had come, and the run went on. */
  readonly how: "resumed" | "canceled" | "timed_out" | "continued";
  /** Epoch ms. */
  readonly at: number;
}

/** A call of `$.send.<kind>`. */
export const sendKinds = ["http", "email", "s3", "emit", "sse"] as const;
export type SendKind = (typeof sendKinds)[number];

export interface SendRequest {
  readonly kind: SendKind;
  /** JSON text of its argument. */
  readonly argument: string;
  /** Name of the step that called it. */
  readonly step: string;
  /** Epoch ms of the call. */
  readonly at: number;
}

/** Argument of `$.send.emit`, checked by the guest. */
export interface EmitArgument {
  /** The channel; absent: the default one. */
  readonly name?: string;
  readonly raw_event: unknown;
  readonly summary?: string;
  readonly id?: string;
  readonly ts?: number;
}
