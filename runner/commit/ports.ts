import type { Invocation } from "../../domain/invocation/invocation.ts";

export interface CommitPorts {
  readonly commits: CommitStore;
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
  /** Marks the history of a run as ended, after its last commit: it is forgotten when the marker expires. @throws Unavailable */
  end(owner: string, history: string, expectedSequence: number, marker: EndMarker): Promise<void>;
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
}
