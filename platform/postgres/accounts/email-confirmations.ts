import { sql, type Kysely } from "kysely";
import type { EmailConfirmations, OwnerEmail } from "../../../api/owners/ports.ts";
import { NotFound, QuotaUsedUp } from "../../../domain/errors.ts";
import { createMailCounts } from "../mail/mail-counts.ts";
import type { Tables } from "../tables.ts";
import { inTransaction } from "../connection.ts";

/** In a day: each is a mail to someone who may not have asked for it. */
const [maxToAddress, maxByUser] = [3, 10];

const nowMs = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

export function createEmailConfirmations(db: Kysely<Tables>): EmailConfirmations {
  return {
    requestEmailConfirmation: (owner, by) => inTransaction(db, (transaction) => request(transaction, owner, by)),
    confirmEmail: (tokenHash) => confirm(db, tokenHash),
  };
}

/** Call it in a transaction, which an error ends: nothing is counted then. */
async function request(transaction: Kysely<Tables>, owner: string, by: string): Promise<OwnerEmail> {
  const { rows } = await sql<OwnerEmail>`
    select email, email_confirmed_at is not null as "isEmailConfirmed" from users where id = ${owner}
    union all select email, email_confirmed_at is not null from organizations where id = ${owner}`.execute(transaction);
  const [found] = rows;
  if (found === undefined) throw new NotFound(`${owner} does not exist`);
  if (found.isEmailConfirmed) return found;
  const {
    exceeded,
    dayMs,
    nowMs: now,
  } = await createMailCounts({ db: transaction }).take([
    { scope: `confirmation to ${found.email.toLowerCase()}`, max: maxToAddress, what: `confirmations a day to ${found.email}` },
    { scope: `confirmations by ${by}`, max: maxByUser, what: `confirmations a day that ${by} requests` },
  ]);
  if (exceeded !== undefined) {
    const leftMs = dayMs + 86_400_000 - now;
    throw new QuotaUsedUp(`the limit of ${exceeded.max} ${exceeded.what} is used up: look for an earlier mail, or wait`, leftMs, {
      code: "too_many_confirmations",
    });
  }
  await sql`
    insert into email_confirmations (owner, email, due_ms) values (${owner}, ${found.email}, ${nowMs})
    on conflict (owner) do update
      set email = excluded.email, state = 'due', due_ms = excluded.due_ms, failures = 0, token_hash = null, expires_ms = null, reason = null`.execute(
    transaction,
  );
  return found;
}

async function confirm(db: Kysely<Tables>, tokenHash: string): Promise<string | undefined> {
  const { rows } = await sql<{ email: string }>`
    with used as (
      delete from email_confirmations where token_hash = ${tokenHash} and expires_ms > ${nowMs} returning owner, email
    ),
    confirmed_user as (
      update users set email_confirmed_at = now() from used where users.id = used.owner and users.email = used.email returning users.email
    ),
    confirmed_organization as (
      update organizations set email_confirmed_at = now() from used
      where organizations.id = used.owner and organizations.email = used.email returning organizations.email
    )
    select email from confirmed_user union all select email from confirmed_organization`.execute(db);
  return rows[0]?.email;
}
