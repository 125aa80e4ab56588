import { sql } from "kysely";
import type { CountedScope, MailCounts } from "../../../delivery/mail/ports.ts";
import type { Clock } from "../../../domain/clock.ts";
import { inTransaction, type Database } from "../connection.ts";

const dayMs = 86_400_000;

interface Counted {
  readonly scope: string;
  readonly mails: number;
  readonly day_ms: number;
  readonly now_ms: number;
}

/** Ends the transaction: nothing is counted. */
class LimitReached extends Error {
  readonly row: Counted;

  constructor(row: Counted) {
    super(`${row.scope} has reached its limit`);
    this.row = row;
  }
}

/** Counts the mails of a day. @param clock absent: that of Postgres, which all replicas share */
export function createMailCounts({ db }: Pick<Database, "db">, clock?: Clock): MailCounts {
  const now = () => (clock === undefined ? sql`(extract(epoch from clock_timestamp()) * 1000)::bigint` : sql`${clock.now()}::bigint`);
  const count = async (scopes: readonly CountedScope[]): Promise<readonly Counted[]> =>
    inTransaction(db, async (transaction) => {
      // In one order, so that two mails cannot wait for each other.
      const { rows } = await sql<Counted>`
        insert into mail_counts as counted (scope, day_ms, mails)
        select scope, ${now()} / ${dayMs} * ${dayMs}, 1 from unnest(${scopes.map(({ scope }) => scope)}::text[]) as given (scope) order by scope
        on conflict (scope, day_ms) do update set mails = counted.mails + 1
        returning scope, mails, day_ms, ${now()} as now_ms`.execute(transaction);
      const max = new Map(scopes.map((each) => [each.scope, each.max]));
      const exceeded = rows.find(({ scope, mails }) => mails > (max.get(scope) ?? 0));
      if (exceeded !== undefined) throw new LimitReached(exceeded);
      // The first mail of a day removes the counts of earlier days.
      if (rows.some(({ scope, mails }) => scope === "all" && mails === 1))
        await sql`delete from mail_counts where day_ms < ${rows[0]?.day_ms ?? 0}`.execute(transaction);
      return rows;
    });
  return {
    async take(scopes) {
      try {
        const [row] = await count(scopes);
        return { dayMs: row?.day_ms ?? 0, nowMs: row?.now_ms ?? 0 };
      } catch (error) {
        if (!(error instanceof LimitReached)) throw error;
        const { scope, day_ms, now_ms } = error.row;
        const exceeded = scopes.find((each) => each.scope === scope);
        return { dayMs: day_ms, nowMs: now_ms, ...(exceeded === undefined ? {} : { exceeded }) };
      }
    },
    async giveBack(scopes, day) {
      await sql`
        update mail_counts set mails = mails - 1 from (
          select scope, day_ms from mail_counts where scope = any(${scopes.map(({ scope }) => scope)}::text[]) and day_ms = ${day}
          order by scope for update
        ) counted where mail_counts.scope = counted.scope and mail_counts.day_ms = counted.day_ms`.execute(db);
    },
  };
}
