import { sql, type RawBuilder } from "kysely";
import type { ClaimedConfirmation, Confirmations } from "../../../delivery/mail/ports.ts";
import type { Clock } from "../../../domain/clock.ts";
import type { Database } from "../connection.ts";

/** How long a link can be used. */
const validForMs = 86_400_000;

/** @param clock absent: that of Postgres, which all replicas share */
export function createConfirmations({ db }: Pick<Database, "db">, clock?: Clock): Confirmations {
  const now = (): RawBuilder<unknown> =>
    clock === undefined ? sql`(extract(epoch from clock_timestamp()) * 1000)::bigint` : sql`${clock.now()}::bigint`;
  /** Only while the link is that of the claim: the owner may have requested another one. */
  const change = async ({ owner, tokenHash }: ClaimedConfirmation, set: RawBuilder<unknown>): Promise<void> => {
    await sql`update email_confirmations set ${set} where owner = ${owner} and token_hash = ${tokenHash}`.execute(db);
  };
  return {
    async hasDue() {
      const { rows } = await sql<{ due: boolean }>`
        select exists (select from email_confirmations where state = 'due' and due_ms <= ${now()}) as due`.execute(db);
      return rows[0]?.due === true;
    },
    async claim(tokenHash) {
      const { rows } = await sql<{ owner: string; email: string; failures: number; is_current: boolean }>`
        with due as (
          select owner, email from email_confirmations where state = 'due' and due_ms <= ${now()}
          order by due_ms limit 1 for update skip locked
        ),
        current as (
          select due.owner from due join users on users.id = due.owner and users.email = due.email and users.email_confirmed_at is null
          union all select due.owner from due
          join organizations on organizations.id = due.owner and organizations.email = due.email and organizations.email_confirmed_at is null
        )
        update email_confirmations as claimed
        set state = 'sending', token_hash = ${tokenHash}, expires_ms = ${now()} + ${validForMs} from due
        where claimed.owner = due.owner
        returning claimed.owner, claimed.email, claimed.failures, exists (select from current) as is_current`.execute(db);
      const [row] = rows;
      if (row === undefined) return undefined;
      const { owner, email: to, failures } = row;
      if (row.is_current) return { owner, to, failures, tokenHash };
      // The owner is gone, or has another address, or a confirmed one.
      await sql`delete from email_confirmations where owner = ${owner} and token_hash = ${tokenHash}`.execute(db);
      return "unwanted";
    },
    settle: (claimed, { state, reason = null }) => change(claimed, sql`state = ${state}, reason = ${reason}, failures = 0`),
    postpone: (claimed, waitMs, reason) =>
      change(
        claimed,
        sql`state = 'due', due_ms = ${now()} + ${Math.round(waitMs)}::bigint, failures = failures + 1, reason = ${reason}, token_hash = null, expires_ms = null`,
      ),
  };
}
