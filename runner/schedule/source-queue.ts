import type { Invocation } from "../../domain/invocation/invocation.ts";
import { kindOfId } from "../../domain/ids.ts";
import { dueAtOf, maxReportedSkips } from "../../domain/schedule/ticks.ts";
import { historyOfRun, workflowRunId } from "../../domain/invocation/run-id.ts";
import { controlThatCounts, type RunControl } from "../../domain/workflow/run-control.ts";
import type { Hold } from "../run/hold.ts";
import type { ReceivedInvocation } from "../run/received.ts";

/** An invocation that has not run yet. */
export interface QueuedInvocation {
  readonly received: Omit<ReceivedInvocation, "skippedTicks" | "failures">;
  /** Number of failed attempts. */
  failures?: number;
  /** Its share of the bytes of its message. */
  readonly bytes: number;
  readonly settle: (settlement: Settlement) => void;
}

/** `finished`: it must not be delivered again. `released`: the next runner that reads its partition runs it. */
export type Settlement = "finished" | "released";

/** How often a source whose work waits is looked at: its change may be missed, and what waits may become too old. */
const holdPollMs = 30_000;

const urgentTriggers: readonly Invocation["trigger"][] = ["hook", "configure", "dry-run"];

/** Deployments and API callers wait for urgent invocations: they run before other work, even if their owner is blocked. */
export const isUrgent = ({ received: { invocation } }: QueuedInvocation): boolean => urgentTriggers.includes(invocation.trigger);

/** A caller holds a connection open for the source's response. */
export const isAwaited = ({ received: { invocation } }: QueuedInvocation): boolean =>
  invocation.trigger === "http" && invocation.answerTo !== undefined;

/** A tick may be skipped unless it is a link of a chain, which arms the next tick. */
const isSkippable = ({ received: { invocation } }: QueuedInvocation): boolean =>
  invocation.trigger === "timer" && invocation.chain === undefined;

/** The queue of an invocation: runs of one source go one after the other, those of a workflow side by side. */
export function queueKeyOf({ invocation, position }: QueuedInvocation["received"]): string {
  const { source, trigger } = invocation;
  const isOfWorkflow = kindOfId(source) === "workflow" && trigger !== "dry-run" && trigger !== "configure";
  return isOfWorkflow ? historyOfRun(source, workflowRunId(invocation, position)) : source;
}

/**
 * The invocations of one source, or of one run of a workflow, in order of arrival; urgent ones have a queue of their own. Hooks have their own
 * watermark, so they may run first.
 */
export class SourceQueue {
  /** Id of the source; of a workflow's run, its history. */
  readonly key: string;
  /** Id of the source or workflow. */
  readonly source: string;
  /** The first invocation continues a suspended run of a workflow, or is a request of the API for a run. */
  readonly isResumed: boolean;
  /** Undefined until it is loaded. */
  owner: string | undefined;
  running: QueuedInvocation | undefined;
  /** Set while the first invocation waits to be retried. */
  retry: NodeJS.Timeout | undefined;
  /** How often a hold has ended, or what may cause one has changed. */
  holdsEnded = 0;
  #hold: { readonly reason: Hold; readonly poll: NodeJS.Timeout } | undefined;
  /** Invocations that arrived before the owner was loaded. */
  readonly arriving: QueuedInvocation[] = [];
  readonly #urgent: QueuedInvocation[] = [];
  readonly #others: QueuedInvocation[] = [];
  #awaited = 0;
  #skippedTicks = 0;
  /** Due times of the last of them, epoch ms. */
  #skippedDue: number[] = [];

  constructor(key: string, { source, trigger }: Invocation) {
    this.key = key;
    this.source = source;
    this.isResumed = trigger === "resume" || trigger === "control";
  }

  /** Why only urgent invocations may run; undefined: all may. */
  get hold(): Hold | undefined {
    return this.#hold?.reason;
  }

  retryAfter(ms: number, retry: () => void): void {
    this.retry = setTimeout(() => {
      this.retry = undefined;
      retry();
    }, ms);
  }

  /** @param look called once after some time, unless the hold has ended */
  beginHold(reason: Hold, look: () => void): void {
    this.endHold();
    this.#hold = { reason, poll: setTimeout(look, holdPollMs).unref() };
  }

  endHold(): void {
    this.holdsEnded++;
    clearTimeout(this.#hold?.poll);
    this.#hold = undefined;
  }

  get length(): number {
    return this.#urgent.length + this.#others.length;
  }

  /** Number of invocations that wait while the owner is blocked. */
  get blockable(): number {
    return this.#others.length;
  }

  get hasUrgent(): boolean {
    return this.#urgent.length > 0;
  }

  /**
   * Adds an invocation, but skips a tick if another tick is queued: a source slower than its timer would otherwise fall behind forever.
   *
   * @returns false if it was skipped
   */
  add(entry: QueuedInvocation): boolean {
    if (isSkippable(entry) && this.#others.some(isSkippable)) {
      this.#skippedTicks++;
      this.#skippedDue = [...this.#skippedDue, dueAtOf(entry.received.invocation, entry.received.storedAt)].slice(-maxReportedSkips);
      return false;
    }
    if (isAwaited(entry)) this.#awaited++;
    (isUrgent(entry) ? this.#urgent : this.#others).push(entry);
    return true;
  }

  /** Removes the invocation that runs next. @param urgentOnly true if the owner is blocked */
  take(urgentOnly: boolean): QueuedInvocation | undefined {
    const entry = this.#urgent.shift() ?? (urgentOnly ? undefined : this.#others.shift());
    if (entry !== undefined && isAwaited(entry)) this.#awaited--;
    return entry;
  }

  /** Puts a failed invocation back to the front. */
  putBack(entry: QueuedInvocation): void {
    if (isAwaited(entry)) this.#awaited++;
    (isUrgent(entry) ? this.#urgent : this.#others).unshift(entry);
  }

  takeAll(): readonly QueuedInvocation[] {
    this.#awaited = 0;
    return [...this.#urgent.splice(0), ...this.#others.splice(0)];
  }

  /** Removes the invocations, other than urgent ones, for which the predicate holds. */
  takeWhere(isTaken: (entry: QueuedInvocation) => boolean): readonly QueuedInvocation[] {
    const { true: taken = [], false: kept = [] } = Object.groupBy(this.#others, (entry) => String(isTaken(entry)) as "true" | "false");
    this.#others.splice(0, this.#others.length, ...kept);
    this.#awaited = kept.filter(isAwaited).length;
    return taken;
  }

  /** The first requests whose callers wait for the response. */
  awaited(max = this.#awaited): readonly QueuedInvocation[] {
    return this.#awaited === 0 ? [] : this.#others.filter(isAwaited).slice(0, max);
  }

  /** What the API asks of the run of a workflow that is in progress: its requests wait behind that. */
  control(): RunControl | undefined {
    return controlThatCounts(this.#others.flatMap(({ received: { invocation } }) => invocation.control ?? []));
  }

  includes(entry: QueuedInvocation): boolean {
    return this.#others.includes(entry);
  }

  /** Returns and resets the number of skipped ticks and the due times of the last of them. */
  takeSkipped(): { readonly skippedTicks: number; readonly skippedDue: readonly number[] } {
    const skipped = { skippedTicks: this.#skippedTicks, skippedDue: this.#skippedDue };
    this.#skippedTicks = 0;
    this.#skippedDue = [];
    return skipped;
  }
}
