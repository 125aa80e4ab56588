import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { ReconnectMails } from "../../../operator/ports.ts";
import type { Database } from "../connection.ts";
import { asUnavailable } from "../failures.ts";

/** Rows beside those of the recorder: one for each connection of an account that has ended. Delivery deletes them after a day. */
export const createReconnectMails = ({ db }: Pick<Database, "db">): ReconnectMails => ({
  async request(occurrence, connectedAt) {
    const { code, emitter, owner, at } = occurrence;
    // Without the message, which may vary between passes.
    const fingerprint = createHash("sha256")
      .update(JSON.stringify([code, connectedAt]))
      .digest("hex");
    try {
      await sql`
        insert into error_mails (emitter, fingerprint, owner, occurrences, first, last_ms)
        values (${emitter}, ${fingerprint}, ${owner}, 1, ${JSON.stringify(occurrence)}, ${at}) on conflict do nothing`.execute(db);
    } catch (error) {
      throw asUnavailable(error);
    }
  },
});
