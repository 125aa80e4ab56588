import type { RunError } from "../run-products.ts";
import type { Call, Caller, Returned } from "./call.ts";
import type { RunStatus, SendRequest, SuspensionEnd, WorkflowRunState } from "./run-state.ts";

/**
 * What a commit of a workflow says besides events, logs and error. Such a commit has the subject
 * `runs.<partition>.<owner>.<workflow>.<run>`: each run has a history of its own, so that the runs of a workflow go side by side. Its
 * `run` is the run of the workflow (`run.id` is the same in all commits of a run), `events` are those that `$.send.emit` asked for, only in
 * the commit that ends the run, and `error` is set only in a commit that fails the run.
 */
export interface WorkflowProgress {
  readonly status: RunStatus;
  /** From 1, within the run: number of this commit. One that ends several attempts has the numbers of all of them, and this is the last one. */
  readonly number: number;
  /** Epoch ms at which the run began. */
  readonly startedAt: number;
  /** Of the version of the run: number of its steps. */
  readonly stepCount: number;
  /** The attempt of a step that this commit ends; absent in a commit without one: a cancellation, a pause, or an event for a workflow without steps. */
  readonly step?: CommittedStep;
  /** Attempts of steps of other branches that this commit ends as well, in their order, before `step`; absent: none. */
  readonly before?: readonly StepBefore[];
  /** In a commit that fails the run with the error of an earlier step, whose `finally` has ended: that step. */
  readonly failedStep?: { readonly id: string; readonly name: string };
  /** Epoch ms, while suspended. */
  readonly resumeAt?: number;
  /** Reason of an exit, a cancellation or a pause. */
  readonly reason?: string;
  /** JSON text of the trigger's event, in the first commit, if it has at most 64 KiB. */
  readonly event?: string;
  /** The emitted event that started the run; absent for other triggers. */
  readonly cause?: { readonly emitter: string; readonly emitId: string };
  /** In the first commit: how long the run was queued before it started. */
  readonly queuedMs?: number;
  /** In the first commit of a run that repeats another one: the id of that one. */
  readonly repeats?: string;
  /** In a commit that fails the run: the name of the workflow, for the mail about the error. */
  readonly name?: string;
  /** In a commit that fails the run: false if the workflow's settings refuse mails about errors. */
  readonly errorMails?: false;
  /** In the commit that ends the run: what is to be sent. Events are in `events`. */
  readonly sends?: readonly CommittedSend[];
  /** The run that the step starts. */
  readonly call?: Call;
  /** In the commit that ends a run for which another one waits: what that one gets. */
  readonly returns?: { readonly to: Caller; readonly returned: Returned };
  /** In a commit that ends the run: the runs for which it has waited, which are canceled too. */
  readonly cancels?: readonly CanceledRun[] | CanceledRun;
}

export interface CanceledRun {
  readonly workflow: string;
  readonly run: string;
}

/**
 * | outcome | the run |
 * |---|---|
 * | succeeded | continues with the next step, or ends |
 * | suspended | waits, then continues with the next step; of a call, it ends this step then |
 * | rerun | waits, then runs this step again |
 * | exited | ends |
 * | retried | failed, and runs this step again later |
 * | continued | failed, and continues with the next step |
 * | failed | ends |
 */
export const stepOutcomes = ["succeeded", "suspended", "rerun", "exited", "retried", "continued", "failed"] as const;

export interface CommittedStep {
  /** `c_…` */
  readonly id: string;
  readonly name: string;
  readonly index: number;
  /** From 1; counts retries and reruns, and 1 more if an earlier attempt may have been interrupted by a crash. */
  readonly attempt: number;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly cpuMs: number;
  readonly outcome: (typeof stepOutcomes)[number];
  /** JSON text: the props with expressions, evaluated. Null: there are none, or they have more than 64 KiB. */
  readonly inputs: string | null;
  /** JSON text of an object: exports by name, with `$return_value` and `$summary`. */
  readonly exports: string;
  readonly error: RunError | null;
  /** Absent: the run had no files. */
  readonly files?: FilesOfStep;
}

/** Layers of the run's files (domain/files/run-files.ts), in order. A run that begins with a later step begins with the files of these. */
export interface FilesOfStep {
  /** When the step began. */
  readonly before: readonly string[];
  /** When it had ended; absent: the same. */
  readonly after?: readonly string[];
}

/** Each runs beside the others. None of them starts or ends a run, or lets one wait: what does so is the last of its commit. */
export interface StepBefore {
  readonly step: CommittedStep;
  /** The commit's `logs` have the lines of one step after those of another: so many of them are of this one. */
  readonly logs: number;
}

/** Attempts of steps that one commit may end. */
export const maxStepsTogether = 64;

/** The attempts that a commit ends, each with its number within the run and with its log lines. */
export function stepsOf<Line>({ number, step, before = [] }: WorkflowProgress, logs: readonly Line[]): readonly NumberedStep<Line>[] {
  if (step === undefined) return [];
  let from = 0;
  const earlier = before.map((each, index) => {
    const own = logs.slice(from, from + each.logs);
    from += each.logs;
    return { step: each.step, number: number - before.length + index, logs: own };
  });
  return [...earlier, { step, number, logs: logs.slice(from) }];
}

export interface NumberedStep<Line> {
  readonly step: CommittedStep;
  readonly number: number;
  readonly logs: readonly Line[];
}

/** Maximum characters of a text of a step that is kept for people. The state of the run has the exports whole, while it needs them. */
export const maxShownText = 65_536;

/** Exports for people: of larger ones, the beginning. */
export const shownExports = (text: string): string =>
  text.length <= maxShownText ? text : JSON.stringify({ $truncated: { characters: text.length, start: text.slice(0, 1_024) } });

export interface CommittedSend extends SendRequest {
  /** Unique and stable over repetitions: `<run id>.s<number>`. */
  readonly id: string;
}

/**
 * The text of the message that follows the commit that ended a run, on the same subject, with a TTL: it replaces the run's last commit in
 * STATE, and NATS forgets the run with it. It is no commit.
 */
export const endMarker = "{}";

/** What the end marker of a run says whose resume URLs may be requested again. */
export interface EndedRun {
  readonly status: RunStatus;
  readonly suspensions: number;
  readonly suspensionEnd: SuspensionEnd;
}

/** The end marker of a history whose source or workflow was deleted. */
export const deletedMarker = '{"ended":null}';

const endedPrefix = '{"ended":';

/** The end marker of a run with this last state. */
export function endMarkerOf({ status, suspensions, suspensionEnd }: Pick<WorkflowRunState, "status" | "suspensions" | "suspensionEnd">) {
  if (suspensionEnd === undefined) return { text: endMarker, ttlSeconds: endMarkerTtlSeconds };
  const ended: EndedRun = { status, suspensions, suspensionEnd };
  return { text: JSON.stringify({ ended }), ttlSeconds: resumableEndMarkerTtlSeconds };
}

export const isEndMarker = (text: string): boolean => text === endMarker || text.startsWith(endedPrefix);

/** Undefined for a run that was never suspended. */
export function parseEndMarker(text: string): EndedRun | undefined {
  return text === endMarker || text === deletedMarker ? undefined : (JSON.parse(text) as { readonly ended: EndedRun }).ended; // Written by a runner from a typed value.
}

/** How long an ended run is remembered, so that a repeated invocation does not run it again. */
export const endMarkerTtlSeconds = 600;
/** How long requests to the URLs of an ended run are answered with what happened. */
const resumableEndMarkerTtlSeconds = 3_600;
