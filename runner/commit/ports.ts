import type { Invocation } from "../../domain/invocation/invocation.ts";

export interface CommitPorts {
  readonly commits: CommitStore;
  /** Absent: delivery is never behind. */
  readonly processed?: ProcessedCommits;
  readonly timers: Timers;
}

/** The commits of each source, in order: one subject of the stream RUNS. */
export interface CommitStore {
  /** Text of the source's last commit, if any, and the sequence that the next commit must expect. */
  last(owner: string, source: string): Promise<{ readonly commit: string | undefined; readonly sequence: number }>;
  /**
   * Stores a commit if the last one has the expected sequence.
   * @throws Unavailable when it is not known whether the commit was stored
   */
  append(owner: string, source: string, commit: string, expectedSequence: number): Promise<Appended>;
}

export type Appended = { readonly outcome: "stored"; readonly sequence: number } | { readonly outcome: "refused" };

export interface ProcessedCommits {
  /**
   * The last processed sequence of each partition: delivery has recorded all commits up to it, and has delivered or scheduled their
   * events. @throws Unavailable
   */
  upTo(): Promise<readonly number[]>;
}

export interface Timers {
  /** Arms the next tick of a chained timer; it replaces an earlier one of the same prop. */
  armAt(source: string, prop: string, atMs: number, invocation: Invocation): Promise<void>;
}
