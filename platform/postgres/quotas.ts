import { sql, type Kysely } from "kysely";
import type { Tables } from "./tables.ts";

/**
 * Ids of owners that have used up their plan's quota of the day starting at `dayMs`; the rule is `isUsedUp` in domain/limits/quota.ts. Owners
 * without runs that day are included only if they have an explicit plan with a quota of zero.
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

/** Weights of owners relative to the plan 'default', by owner id; owners with the same weight are omitted. */
export async function listWeights(db: Kysely<Tables>): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ owner: string; weight: number }>`
    select chosen.owner, plans.weight::float8 / usual.weight as weight
    from owner_plans chosen
    join plans on plans.name = chosen.plan
    join plans usual on usual.name = 'default'
    where plans.weight <> usual.weight`.execute(db);
  return new Map(rows.map(({ owner, weight }) => [owner, weight]));
}
