import { sql, type Kysely, type RawBuilder } from "kysely";
import type { Attempt } from "../../../delivery/record/ports.ts";
import type { Exchange } from "../../../domain/delivery/exchange.ts";
import { dayOf } from "../../../domain/limits/quota.ts";
import { column, integerColumn, optionalColumn } from "../columns.ts";
import { addAttempts } from "../measures/add.ts";
import type { Tables } from "../tables.ts";
import type { AttemptTable } from "./delivery-tables.ts";
import { usageFirst } from "./record.ts";

export interface AttemptFilter {
  readonly delivery?: string;
  readonly event?: string;
  readonly outcome?: Attempt["outcome"];
  /** Both inclusive. */
  readonly sinceMs?: number;
  readonly untilMs?: number;
}

/**
 * Attempts also count as measures, and deliveries that succeeded as usage, once: the counts join `inserted`, so no attempt may be in a batch
 * twice.
 */
export function insertAttempts(attempts: readonly Attempt[]): RawBuilder<unknown> {
  const equal = Map.groupBy(attempts, ({ delivery, attempt }) => `${delivery} ${attempt}`);
  const rows = [...equal.values()].flatMap((repeated) => repeated.slice(0, 1));
  const delivered = rows.filter(({ outcome }) => outcome === "delivered");
  return sql`
    with inserted as (
      insert into attempts (webhook, delivery, attempt, source, event, at_ms, record, exchange)
      select webhook, delivery, attempt, source, event, at_ms, record, exchange from unnest(
        ${column(rows, ({ webhook }) => webhook)}::text[], ${column(rows, ({ delivery }) => delivery)}::text[], ${integerColumn(rows, ({ attempt }) => attempt)}::integer[],
        ${column(rows, ({ source }) => source)}::text[], ${column(rows, ({ event }) => event)}::text[], ${integerColumn(rows, ({ at }) => at)}::bigint[],
        ${column(rows, ({ exchange: _, ...row }) => JSON.stringify(row))}::text[],
        ${optionalColumn(rows, ({ exchange }) => (exchange === undefined ? null : JSON.stringify(exchange)))}::text[]
      ) with ordinality as row (webhook, delivery, attempt, source, event, at_ms, record, exchange, place)
      order by place
      on conflict do nothing returning delivery, attempt
    ),
    new_usage as (
    insert into usage (owner, day_ms, runs, compute_ms, deliveries)
    select row.owner, row.day_ms, 0, 0, count(*)
    from unnest(
      ${column(delivered, ({ delivery }) => delivery)}::text[], ${integerColumn(delivered, ({ attempt }) => attempt)}::integer[],
      ${column(delivered, ({ owner }) => owner)}::text[], ${integerColumn(delivered, ({ at }) => dayOf(at).startMs)}::bigint[]
    ) as row (delivery, attempt, owner, day_ms) join inserted using (delivery, attempt)
    group by row.owner, row.day_ms
    order by row.owner, row.day_ms
    on conflict (owner, day_ms) do update set deliveries = usage.deliveries + excluded.deliveries returning 1
    )
    ${addAttempts(rows, usageFirst)}`;
}

/** JSON escapes quotes within strings, so the pattern matches only the record's own field. */
export function attemptConditions({ delivery, event, outcome, sinceMs, untilMs }: AttemptFilter): RawBuilder<unknown> {
  const conditions = [
    delivery === undefined ? [] : [sql`delivery = ${delivery}`],
    event === undefined ? [] : [sql`event = ${event}`],
    outcome === undefined ? [] : [sql`record like ${`%"outcome":"${outcome}"%`}`],
    sinceMs === undefined ? [] : [sql`at_ms >= ${sinceMs}`],
    untilMs === undefined ? [] : [sql`at_ms <= ${untilMs}`],
  ].flat();
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}

/** As `DeliveryRecords.readDelivery`. */
export async function readAttempts(db: Kysely<Tables>, delivery: string, limit: number): Promise<readonly Attempt[]> {
  const rows = await db
    .selectFrom("attempts")
    .select(["webhook", "record", "exchange"])
    .where("delivery", "=", delivery)
    .orderBy("attempt", "desc")
    .limit(limit)
    .execute();
  return rows.filter(({ webhook }) => webhook === rows[0]?.webhook).map(wholeAttempt);
}

// Only insertAttempts writes them, from these types.
function wholeAttempt({ record, exchange }: Pick<AttemptTable, "record" | "exchange">): Attempt {
  const attempt = JSON.parse(record) as Attempt;
  return exchange === null ? attempt : { ...attempt, exchange: JSON.parse(exchange) as Exchange };
}
