import type { Problem } from "../../domain/source/source-health.ts";

export interface Health<State> {
  readonly state: State;
  readonly problem: Problem | undefined;
}

export interface StatusHealth<State> {
  readonly state?: State | undefined;
  readonly problem?: { readonly code: string; readonly message: string; readonly since: string } | undefined;
}

/** Health in the form of a status. */
export function statusHealth<State>({ state, problem }: Health<State>) {
  return { state, problem: problem === undefined ? undefined : { ...problem, since: new Date(problem.since).toISOString() } };
}

/** States that follow from attempts or runs, which a reconciler does not read. */
const fromOutcomes: readonly unknown[] = ["degraded", "failing", "circuit_open"];

/**
 * Health fields of a status that a reconciler writes.
 * @param known health by the status before, without attempts and runs
 * @param next the same by the status to be written
 * @param isSame whether the spec, or what is deployed, stays the same: then a state that follows from attempts or runs stays until the
 * next refresh
 */
export function settledHealth<State>(before: StatusHealth<State>, known: Health<State>, next: Health<State>, isSame: boolean) {
  const isKept = isSame && known.state === "active" && next.state === "active" && fromOutcomes.includes(before.state);
  return isKept && before.state !== undefined ? { state: before.state, problem: before.problem } : statusHealth(next);
}
