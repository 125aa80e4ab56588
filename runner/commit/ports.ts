import type { StreamUsage } from "../../domain/limits/stream-share.ts";
import type { Invocation } from "../../domain/invocation/invocation.ts";

export interface CommitPorts {
  readonly commits: CommitStore;
  /** Absent: owners have no shares. */
  readonly states?: OwnerUsages;
  /** Absent: delivery is never behind. */
  readonly processed?: ProcessedCommits;
  readonly timers: Timers;
  readonly wakeUps: WakeUps;
}

/** The commits of each source, or of each run of a workflow (`historyOfRun`), in order: one subject of the stream RUNS. */
export interface CommitStore {
  /** Text of the source's last commit, if any, and the sequence that the next commit must expect. */
  last(owner: string, source: string): Promise<{ readonly commit: string | undefined; readonly sequence: number }>;
  /**
   * Stores a commit if the last one has the expected sequence.
   *
   * @param isFirst the caller is certain that there is no commit, not even one that was trimmed from RUNS
   * @throws Unavailable when it is not known whether the commit was stored
   */
  append(owner: string, source: string, commit: string, expectedSequence: number, isFirst?: boolean): Promise<Appended>;
  /** Asks for room for so many bytes more in the owner's last commits. Absent: there is always room. */
  reserve?(owner: string, moreBytes: number): Promise<Room>;
  /** Ends the history of a source or workflow that was deleted, after a commit that was in flight: it is forgotten. @throws Unavailable */
  endDeleted(owner: string, history: string): Promise<void>;
  /** Marks the history of a run as ended, after its last commit: it is forgotten when the marker expires. @throws Unavailable */
  end(owner: string, history: string, expectedSequence: number, marker: EndMarker): Promise<void>;
}

/** `refusal`: why there is no room, for the owner. `release`: to be called when the bytes are stored, or are not going to be. */
export type Room = { readonly refusal: string; readonly release?: never } | { readonly release: () => void; readonly refusal?: never };

/** What owners have stored in one stream. */
export interface OwnerUsages {
  /** @param moreBytes what the owner is about to add @throws Unavailable */
  usage(owner: string, moreBytes: number): Promise<OwnerUsage>;
}

export interface OwnerUsage {
  /** Of all owners. Undefined: there is no limit. */
  readonly usage: StreamUsage | undefined;
  /** Of the owner. Undefined: not counted, because every owner has room. */
  readonly bytes: number | undefined;
}

/** See domain/workflow/run-commit.ts. */
export interface EndMarker {
  readonly text: string;
  readonly ttlSeconds: number;
}

export type Appended = { readonly outcome: "stored"; readonly sequence: number } | { readonly outcome: "refused" };

export interface ProcessedCommits {
  /**
   * The last processed sequence of each partition: delivery has recorded all commits up to it, and has delivered or scheduled their
   * events. @throws Unavailable
   */
  upTo(): Promise<readonly number[]>;
}

export interface WakeUps {
  /** Continues a suspended run at a time (epoch ms), by an invocation with the trigger `resume`. Safe to repeat. @throws Unavailable */
  schedule(workflow: string, run: string, suspension: number, atMs: number): Promise<void>;
}

export interface Timers {
  /** Arms the next tick of a chained timer; it replaces an earlier one of the same prop. */
  armAt(source: string, prop: string, atMs: number, invocation: Invocation): Promise<void>;
  /** Cancels a run of a workflow: the step that runs ends first. Safe to repeat. @throws Unavailable */
  cancel(workflow: string, run: string, reason: string): Promise<void>;
}
