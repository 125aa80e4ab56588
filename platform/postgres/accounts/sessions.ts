import { sql, type Kysely } from "kysely";
import type { Sessions } from "../../../api/http/ports.ts";
import type { Tables } from "../tables.ts";

/** So many browsers of one key; a further session ends the oldest. */
const maxSessionsOfKey = 50;

/** Sessions of the console, and one-time links that begin one. Only hashes of their tokens are stored. */
export function createSessions(db: Kysely<Tables>): Sessions {
  return {
    async startSession({ hash, keyHash, expiresAt, isLink = false }, now) {
      // Each new session deletes expired ones, so the table needs no other upkeep.
      await sql`delete from console_sessions where expires_at <= ${new Date(now)}`.execute(db);
      await sql`
        delete from console_sessions where token_hash in (
          select token_hash from console_sessions where key_hash = ${keyHash} and is_link = ${isLink}
          order by expires_at desc offset ${maxSessionsOfKey - 1}
        )`.execute(db);
      await sql`
        insert into console_sessions (token_hash, key_hash, is_link, expires_at)
        values (${hash}, ${keyHash}, ${isLink}, ${new Date(expiresAt)})`.execute(db);
    },
    async findSession(hash, now) {
      const { rows } = await sql<{ readonly key_hash: string }>`
        select key_hash from console_sessions where token_hash = ${hash} and not is_link and expires_at > ${new Date(now)}`.execute(db);
      return rows[0]?.key_hash;
    },
    async useLink(hash, now) {
      const { rows } = await sql<{ readonly key_hash: string }>`
        delete from console_sessions where token_hash = ${hash} and is_link and expires_at > ${new Date(now)} returning key_hash`.execute(
        db,
      );
      return rows[0]?.key_hash;
    },
    async endSession(hash) {
      await sql`delete from console_sessions where token_hash = ${hash}`.execute(db);
    },
  };
}
