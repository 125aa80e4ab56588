import { sql, type Kysely } from "kysely";
import type { Tables } from "../tables.ts";

export interface TombstoneLimits {
  /** A watch interrupted for longer must list again. */
  readonly keepMs: number;
  readonly keepCount: number;
}

export const defaultLimits: TombstoneLimits = { keepMs: 3_600_000, keepCount: 20_000 };

/** Deletes tombstones that are too old or too many, and records up to which version they are incomplete. */
export async function pruneTombstones(db: Kysely<Tables>, limits: TombstoneLimits = defaultLimits): Promise<void> {
  await sql`
    with surplus as (
      select resource_version from resource_tombstones order by deleted_at desc, resource_version desc offset ${limits.keepCount} limit 1
    ),
    pruned as (
      delete from resource_tombstones
      where deleted_at < now() - make_interval(secs => ${limits.keepMs / 1000}) or resource_version <= (select resource_version from surplus)
      returning resource_version
    )
    update resource_head set pruned_version = greatest(pruned_version, latest)
    from (select max(resource_version) as latest from pruned) p where latest is not null`.execute(db);
}
