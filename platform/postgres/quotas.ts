import { sql, type Kysely } from "kysely";
import type { Tables } from "./tables.ts";

/**
 * Ids of those who have used up what their plan gives them of the day that begins at `dayMs`; the rule is `isUsedUp` of domain/quota.ts.
 * Who has run nothing that day counts where a plan gives nothing at all, if it was chosen for them: who there is on the plan 'default'
 * is not known here.
 */
export async function listOverQuota(db: Kysely<Tables>, dayMs: number): Promise<readonly string[]> {
  const { rows } = await sql<{ owner: string }>`
    select coalesce(used.owner, chosen.owner) as owner
    from (select owner, runs, compute_ms from usage where day_ms = ${dayMs}) used
    full join owner_plans chosen on chosen.owner = used.owner
    join plans on plans.name = coalesce(chosen.plan, 'default') and (plans.daily_invocations is not null or plans.daily_compute_ms is not null)
    where coalesce(used.runs, 0) >= plans.daily_invocations or coalesce(used.compute_ms, 0) >= plans.daily_compute_ms`.execute(db);
  return rows.map(({ owner }) => owner);
}

/** How much owners weigh beside those on the plan 'default', by their ids; who weighs as much as these is left out. */
export async function listWeights(db: Kysely<Tables>): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ owner: string; weight: number }>`
    select chosen.owner, plans.weight::float8 / usual.weight as weight
    from owner_plans chosen
    join plans on plans.name = chosen.plan
    join plans usual on usual.name = 'default'
    where plans.weight <> usual.weight`.execute(db);
  return new Map(rows.map(({ owner, weight }) => [owner, weight]));
}
