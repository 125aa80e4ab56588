import type { RunError } from "../run-products.ts";

/**
 * Control flow of a workflow. A node of the tree of steps (`if`, `switch`, `for_each`, `parallel`, `while`, `try`, `stop`, `workflow`) is deployed as a
 * step like any other: an action of ours evaluates its expression, and what it returns says which of its parts run next. So a decision is committed, retried,
 * tested and shown like a step.
 *
 * | kind | returns | then |
 * |---|---|---|
 * | choice (`if`, `switch`) | index of a part; any other number: none | that part runs once |
 * | each (`for_each`) | a list | its part runs for each item, in order or side by side |
 * | parallel | nothing | its parts run side by side |
 * | repeat (`while`) | true or false | its part runs, and the condition is evaluated again, until it is false |
 * | try | nothing | its body runs; a failure in it goes on with its `catch`; its `finally` runs in any case |
 * | stop | the reason | the run ends as `exited` |
 * | call (`workflow`) | an event | another workflow runs with it, see call.ts |
 */
export type ControlKind = "choice" | "each" | "parallel" | "repeat" | "try" | "stop" | "call";

/** The steps from an index up to another one, which is not included, in the flat list of all steps of a workflow. */
export interface Part {
  /** Exported as `$branch` of a choice. `body`, `catch` and `finally` of a try. */
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** What a step of a deployment controls. Its parts follow it in the flat list, one behind the other. */
export interface Control {
  readonly kind: ControlKind;
  readonly parts: readonly Part[];
  /** Index of the first step behind all parts. */
  readonly end: number;
  /** Of `each`: parts read `steps.<as>.item` and `steps.<as>.index`. */
  readonly as?: string;
  /** Of `each` and `repeat`: maximum items, or rounds. */
  readonly max?: number;
  /** Of `each`: whether the other items follow when one fails. */
  readonly continues?: true;
  /** Of `each` and `parallel`: how many branches are under way at a time; absent: it has none, items follow one another. */
  readonly sideBySide?: number;
  /** Of `call`: the workflow, `p_…`; in a spec it may be the name of its resource. */
  readonly workflow?: string;
  /** Of `call`: the run waits until the other one has ended. */
  readonly waits?: true;
}

/** Where a run is within a step that controls others. Of nested ones the outermost is first. */
export interface Frame {
  /** Index of that step. */
  readonly step: number;
  /** Index of the part that runs. */
  readonly part: number;
  /** Of `each` and `repeat`: index of the present item or round, from 0. */
  readonly index?: number;
  /** Of `each`: JSON text of the list, and number of its items. */
  readonly items?: string;
  readonly count?: number;
  /** Of `each`: JSON texts of what the items before have given. */
  readonly results?: readonly string[];
  /** Number of the branch whose steps and frames follow: all before them is around it. Only where a branch is looked at as a run. */
  readonly branch?: number;
  /** Of `try`, while its `finally` runs: the failure that goes on behind it. */
  readonly failure?: StepFailure;
}

/** The error of a step, and which step it is. */
export interface StepFailure {
  readonly error: RunError;
  readonly step: { readonly id: string; readonly name: string };
}

export const controlLimits = {
  /** Levels of steps within steps. */
  depth: 8,
  /** Steps of a workflow, those that control others included. */
  steps: 200,
  /** Items of a list. */
  items: 10_000,
  /** Bytes of JSON of a list. */
  listBytes: 262_144,
  /** Rounds of a `while`. */
  iterations: 10_000,
  /** If a `for_each` or a `while` says nothing. */
  defaultItems: 1_000,
  /** Branches that are open at a time in one step, and in a run: beyond it each step has one. */
  sideBySide: 50,
  branches: 250,
  /** Executions of steps in a run, retries included. */
  executions: 100_000,
} as const;
