import type { SourceState } from "../domain/commit.ts";
import type { Ran } from "./compose.ts";

/** What was run before its turn, and what it remembered. */
export interface RanAhead {
  readonly ran: Ran;
  readonly db: SourceState["db"];
}

/** It is as if it had been run now: what it remembered is what there is now. */
export function isStillRight({ ran, db }: RanAhead, deployment: string, state: SourceState): boolean {
  return ran.deployment.id === deployment && JSON.stringify(db) === JSON.stringify(state.db);
}
