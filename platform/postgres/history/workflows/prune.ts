import { sql, type Kysely } from "kysely";
import type { WorkflowProgress } from "../../../../domain/workflow/run-commit.ts";
import { hasEnded, runStatuses } from "../../../../domain/workflow/run-state.ts";
import type { Tables } from "../../tables.ts";
import type { Kept } from "../kept.ts";
import type { SequencedCommit } from "../record.ts";

/** A commit after which its workflow may have more runs of one status. */
export const changesRuns = ({ number, status }: WorkflowProgress): boolean => number === 1 || hasEnded(status);

/** Deletes all but the newest runs of each status, with their steps: a failed run is kept however many others succeed after it. */
export async function pruneRuns(db: Kysely<Tables>, workflows: readonly string[], kept: Kept): Promise<void> {
  if (workflows.length === 0) return;
  const keep = runStatuses.map((status) => (hasEnded(status) ? kept.runs : kept.unendedRuns));
  await sql`
    with wanted as (
      select workflow, status, keep from unnest(${workflows}::text[]) as workflow,
        unnest(${runStatuses}::text[], ${keep}::integer[]) as bounds (status, keep)
    ), gone as (
      delete from workflow_runs old
      using wanted, lateral (
        select n from workflow_runs kept where kept.workflow = wanted.workflow and kept.status = wanted.status
        order by n desc offset wanted.keep limit 1
      ) surplus
      where old.workflow = wanted.workflow and old.status = wanted.status and old.n <= surplus.n
      returning old.workflow, old.id
    )
    delete from workflow_steps using gone where workflow_steps.workflow = gone.workflow and workflow_steps.run = gone.id`.execute(db);
}

/** So many commits of a run may be recorded between two prunes of its attempts. */
const commitsPerPrune = 500;

/** Deletes attempts of runs with very many commits, except the last attempt of each step. */
export async function pruneAttempts(db: Kysely<Tables>, batch: readonly SequencedCommit[], { attempts }: Kept): Promise<void> {
  for (const { commit } of batch) {
    const { source, run, workflow: { number = 0 } = {} } = commit;
    if (number <= attempts || number % commitsPerPrune !== 0) continue;
    await sql`
      delete from workflow_steps old where workflow = ${source} and run = ${run.id} and number <= ${number - attempts} and exists (
        select from workflow_steps later
        where later.workflow = old.workflow and later.run = old.run and later.place = old.place and later.number > old.number
      )`.execute(db);
  }
}
