import { sql } from "kysely";
import type { DayUse } from "../../../domain/limits/quota.ts";
import type { Database } from "../connection.ts";

type Db = Database["db"];

/** As `History.readUsage`. */
export async function readUsage(
  db: Db,
  owner: string,
  fromMs: number,
  untilMs: number = fromMs + 1,
): Promise<{ readonly runs: number; readonly computeMs: number }> {
  const { rows } = await sql<{ runs: number; compute_ms: number }>`
    select coalesce(sum(runs), 0)::bigint as runs, coalesce(sum(compute_ms), 0)::bigint as compute_ms from usage
    where owner = ${owner} and day_ms >= ${fromMs} and day_ms < ${untilMs}`.execute(db);
  return { runs: rows[0]?.runs ?? 0, computeMs: rows[0]?.compute_ms ?? 0 };
}

/** As `History.readDay`. */
export async function readDay(db: Db, owner: string, dayMs: number): Promise<DayUse> {
  const row = await db.selectFrom("usage").selectAll().where("owner", "=", owner).where("day_ms", "=", dayMs).executeTakeFirst();
  return { runs: row?.runs ?? 0, computeMs: row?.compute_ms ?? 0, events: row?.events ?? 0, deliveries: row?.deliveries ?? 0 };
}
