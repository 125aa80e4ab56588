import type { Heard } from "./heard.ts";
import type { Kills } from "./kills.ts";
import type { RunError, Hook, LogRecord, RunSummary, Trigger } from "./invocation.ts";
import type { TraceContext } from "./traces.ts";
import type { Watermarks } from "./watermark.ts";

/**
 * The commit is the one message a run leaves on the stream RUNS, subject `runs.<partition>.<owner>.<source>`, published with the
 * expected last sequence of that subject: a run commits whole or not at all, and no two runners extend one history.
 * JSON texts (payloads, db values) stay texts all the way: whoever only passes them on never decodes them.
 * What deliveries of its events follow from is its trace context, see domain/traces.ts.
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
  /** Deliveries from source to source that led to this run; absent: none. See domain/hops.ts. */
  readonly hops?: number;
  /** The last sources on that way. */
  readonly way?: readonly string[];
  readonly state: SourceState;
}

export interface CommittedRun extends Omit<RunSummary, "eventIds" | "logs" | "error" | "source"> {
  readonly trigger: Trigger;
  /** Epoch ms at which the tick was due that this run is of; set exactly when `trigger` is `timer`. */
  readonly dueAt?: number;
  /** JSON text of the event that a run got which ended with an error, when it is at most 64 KiB. */
  readonly received?: string;
  /** Epoch ms at which ticks were due that were skipped since the run before, the last of them. */
  readonly skippedTicks?: readonly number[];
}

/** Epoch ms, before and after 1970: a Date holds them, and some time more, since readers add to them. No commit has others, or it is not read. */
export const mostDistantMs = 8e15;

export interface CommittedEvent {
  /** `<epoch ms>-<sequence>`; grows strictly within a source. */
  readonly id: string;
  /** Unique everywhere and stable over retries: webhook-id, message ids. */
  readonly emitId: string;
  /** "" is the default channel. */
  readonly channel: string;
  /** The id given to `$emit`, as a string. */
  readonly dedupeId: string | null;
  readonly summary: string | null;
  /** Epoch ms given to `$emit`, else the time of emission. */
  readonly ts: number;
  /** Epoch ms before which it must not be delivered (`delivery_ts`); see domain/scheduled-event.ts. */
  readonly deliverAt?: number;
  /** JSON text of the emitted value. */
  readonly payload: string;
}

/** All that a source remembers between runs. */
export interface SourceState {
  /** `$.service.db`: one map per prop of that type, key → JSON text. */
  readonly db: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly dedupe: DedupeState;
  /** Up to where this history has answered the source's invocations; absent: none yet. */
  readonly watermarks?: Watermarks;
  readonly lastEventId: string | null;
  /** The last run of each hook: the operator reads here what is done. */
  readonly hooks: Readonly<Partial<Record<Hook, HookRecord>>>;
  /** Chained timers by prop: epoch ms at which the last link that ran was due. */
  readonly links?: Readonly<Record<string, number>>;
  /** Deliveries from other sources that it ran with lately; absent: none. See domain/heard.ts. */
  readonly heard?: Heard;
  /** Runs that cost their process; absent: none lately. */
  readonly kills?: Kills;
}

export interface HookRecord {
  /** Generation of the deployment for which the hook ran. */
  readonly generation: number;
  /** Id of the run; an invocation that asks for the same run again finds it done. */
  readonly run: string;
  /** How often it has run for this generation. */
  readonly attempts: number;
  readonly error: RunError | null;
}

export type DedupeState =
  | { readonly strategy: "unique"; readonly ids: readonly string[] }
  | {
      readonly strategy: "greatest";
      /** As decimal text beyond 2^53, where numbers are no longer exact. */ readonly id: number | string | null;
    }
  | { readonly strategy: "last"; readonly id: string | null }
  | { readonly strategy: "none" };

export const emptyState: SourceState = {
  db: {},
  dedupe: { strategy: "none" },
  lastEventId: null,
  hooks: {},
};
