import { sql, type Kysely, type RawBuilder } from "kysely";
import type { ClaimedMail, ErrorMails, Recipient } from "../../../delivery/mail/ports.ts";
import type { Clock } from "../../../domain/clock.ts";
import type { ErrorOccurrence } from "../../../domain/mail/error-occurrence.ts";
import type { Database } from "../connection.ts";
import type { Tables } from "../tables.ts";

const dayMs = 86_400_000;
const maxDeleted = 1_000;

/** @param clock absent: that of Postgres, which all replicas share */
export function createErrorMails({ db }: Pick<Database, "db">, clock?: Clock): ErrorMails {
  const now = (): RawBuilder<unknown> =>
    clock === undefined ? sql`(extract(epoch from clock_timestamp()) * 1000)::bigint` : sql`${clock.now()}::bigint`;
  return {
    async hasDue() {
      await deleteEnded(db, now());
      const { rows } = await sql<{ due: boolean }>`
        select exists (select from error_mails where due_ms <= ${now()} and occurrences > 0) as due`.execute(db);
      return rows[0]?.due === true;
    },
    claim: () => claim(db, now()),
    async settle({ emitter, fingerprint, mailedAt }, result) {
      await sql`
        update error_mails set state = ${result.state}, reason = ${result.reason ?? null}, failures = 0
        where emitter = ${emitter} and fingerprint = ${fingerprint} and state = 'sending' and mailed_ms = ${mailedAt}`.execute(db);
    },
    async postpone(mail, waitMs, reason) {
      const { emitter, fingerprint, mailedAt, report } = mail;
      await sql`
        update error_mails set state = 'due', due_ms = ${now()} + ${Math.round(waitMs)}::bigint, occurrences = occurrences + ${report.count},
          first = ${JSON.stringify(report.first)}, mailed_ms = ${report.mailedAt}, failures = failures + 1, reason = ${reason}
        where emitter = ${emitter} and fingerprint = ${fingerprint} and state = 'sending' and mailed_ms = ${mailedAt}`.execute(db);
    },
  };
}

/** Errors that did not happen again within their 24 hours. */
async function deleteEnded(db: Kysely<Tables>, now: RawBuilder<unknown>): Promise<void> {
  // Skipped rows are locked by a recorder, which counts another occurrence.
  await sql`
    delete from error_mails where (emitter, fingerprint) in (
      select emitter, fingerprint from error_mails where due_ms <= ${now} and occurrences = 0 limit ${maxDeleted} for update skip locked
    )`.execute(db);
}

interface Due {
  readonly emitter: string;
  readonly fingerprint: string;
  readonly occurrences: number;
  readonly first: string;
  readonly last_ms: number;
  readonly mailed_ms: number | null;
  readonly failures: number;
  readonly claimed_ms: number;
  readonly email: string | null;
}

/** Takes one due row: sets its next 24 hours, or deletes it if its owner wants no mails, has no confirmed address, or is gone. */
async function claim(db: Kysely<Tables>, now: RawBuilder<unknown>): Promise<ClaimedMail | "unwanted" | undefined> {
  const { rows } = await sql<Due>`
    with due as (
      select emitter, fingerprint, owner, occurrences, first, last_ms, mailed_ms, failures, ${now} as claimed_ms from error_mails
      where due_ms <= ${now} and occurrences > 0 order by due_ms limit 1 for update skip locked
    ),
    recipient as (
      select email from users join due on users.id = due.owner where users.error_mails and users.email_confirmed_at is not null
      union all select email from organizations join due on organizations.id = due.owner
      where organizations.error_mails and organizations.email_confirmed_at is not null
    ),
    unwanted as (
      delete from error_mails using due
      where error_mails.emitter = due.emitter and error_mails.fingerprint = due.fingerprint and not exists (select from recipient)
    ),
    claimed as (
      update error_mails set state = 'sending', due_ms = due.claimed_ms + ${dayMs}, occurrences = 0, mailed_ms = due.claimed_ms from due
      where error_mails.emitter = due.emitter and error_mails.fingerprint = due.fingerprint and exists (select from recipient)
    )
    select due.*, recipient.email from due left join recipient on true`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  return row.email === null ? "unwanted" : claimedFrom(row, row.email);
}

function claimedFrom(row: Due, to: string): ClaimedMail {
  const { emitter, fingerprint, occurrences, first, last_ms, mailed_ms, failures, claimed_ms } = row;
  const report = {
    first: JSON.parse(first) as ErrorOccurrence, // Written by `countErrors`.
    count: occurrences,
    lastAt: last_ms,
    mailedAt: mailed_ms,
    isOverflow: fingerprint === "",
  };
  return { emitter, fingerprint, mailedAt: claimed_ms, to, failures, report };
}

/** Addresses of owners, for `$.send.email`. */
export async function recipientOf({ db }: Pick<Database, "db">, owner: string): Promise<Recipient | undefined> {
  const { rows } = await sql<Recipient>`
    select email as address, email_confirmed_at is not null as "isConfirmed" from users where id = ${owner}
    union all select email, email_confirmed_at is not null from organizations where id = ${owner}`.execute(db);
  return rows[0];
}
