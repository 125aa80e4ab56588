/** What the API asks of a run that has not ended. */
export const runActions = ["cancel", "pause", "resume"] as const;
export type RunAction = (typeof runActions)[number];

/**
 * It has an effect between two steps: the step that runs at the time ends first.
 *
 * | action | of a running run | of a suspended run |
 * |---|---|---|
 * | cancel | ends it | ends it |
 * | pause | suspends it, until it is resumed | nothing |
 * | resume | nothing | goes on with it, as its resume URL does, if it is still the suspension that was seen |
 */
export interface RunControl {
  /** Id of the run, `r_…`. */
  readonly run: string;
  readonly action: RunAction;
  /** Of a cancellation or pause, for people. */
  readonly reason?: string;
  /** Of `resume`: number of the commit that suspended the run. Once the run has another one, this has no effect. */
  readonly after?: number;
  /** Of `resume`, a JSON value: steps read it as the body of `steps.<name>.$resume_data`. */
  readonly data?: unknown;
}

/** A new run that goes on where another one could have, with what the steps before have exported there. */
export interface RunRepetition {
  /** Id of the repeated run, `r_…`. */
  readonly run: string;
  /** Name of the step that runs first; if it is within another one, the outermost of these does. Absent: the first step. */
  readonly from?: string;
  /** By name of steps that have ended there: JSON text of their exports. Those of steps before `from` count. */
  readonly steps: Readonly<Record<string, string>>;
  /** The version to run, `d_…`; absent: the current one. */
  readonly deployment?: string;
  /** The files with which it begins; absent: none. */
  readonly files?: FormerFiles;
}

/** The files that a run had between two of its steps. */
export interface FormerFiles {
  /** Id of the run that has stored them: that which is repeated, or one that it repeats. */
  readonly run: string;
  /** Names of its layers then (domain/files/run-files.ts), in order. */
  readonly layers: readonly string[];
}

/**
 * The request that counts of those that wait for a run: a cancellation, or else the last one.
 * @param waiting in the order in which they were made
 */
export const controlThatCounts = (waiting: readonly RunControl[]): RunControl | undefined =>
  waiting.find(({ action }) => action === "cancel") ?? waiting.at(-1);
