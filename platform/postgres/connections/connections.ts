import { sql } from "kysely";
import type { ConnectionOutcome, Connections, StoredConnection } from "../../../api/connections/ports.ts";
import type { ConnectionRequest } from "../../../domain/connection/connection.ts";
import { inTransaction, type Database } from "../connection.ts";

/** Unused ones of an owner, and as many used ones: enough for a team, and for people who try again. */
const maxPerOwner = 50;
/** A client that waits can read the outcome for so long after the connection has expired. */
const keptMs = 10 * 60_000;

interface Row {
  readonly id: string;
  readonly owner: string;
  readonly user_id: string;
  readonly session: string | null;
  readonly request: ConnectionRequest;
  readonly verifier: string | null;
  readonly outcome: ConnectionOutcome | null;
  readonly is_used: boolean;
  readonly created_ms: string | number;
  readonly expires_ms: string | number;
}

const columns = sql`id, owner, user_id, session, request, verifier, outcome, is_used, created_ms, expires_ms`;

export function createConnections({ db }: Pick<Database, "db">): Connections {
  return {
    async start({ id, owner, user, session, stateHash, request, verifier, createdAt, expiresAt }) {
      await inTransaction(db, async (transaction) => {
        // Each new connection deletes expired ones, so the table needs no other upkeep.
        await sql`delete from connections where expires_ms <= ${createdAt - keptMs}`.execute(transaction);
        await sql`
          delete from connections where id in (
            select id from (
              select id, row_number() over (partition by is_used order by created_ms desc, id) as number from connections where owner = ${owner}
            ) as numbered where number >= ${maxPerOwner}
          )`.execute(transaction);
        await sql`
          insert into connections (id, owner, user_id, session, state_hash, request, verifier, is_used, created_ms, expires_ms)
          values (${id}, ${owner}, ${user}, ${session}, ${stateHash}, ${JSON.stringify(request)}, ${verifier}, false, ${createdAt}, ${expiresAt})`.execute(
          transaction,
        );
      });
    },
    async find(id) {
      const { rows } = await sql<Row>`select ${columns} from connections where id = ${id}`.execute(db);
      return rows.map(storedConnection)[0];
    },
    async findByState(stateHash) {
      const { rows } = await sql<Row>`select ${columns} from connections where state_hash = ${stateHash}`.execute(db);
      return rows.map(storedConnection)[0];
    },
    async use(stateHash, now) {
      // The verifier is read as it was before: of two requests with one state, only one gets it.
      const { rows } = await sql<Row>`
        with taken as (
          select id, verifier from connections where state_hash = ${stateHash} and not is_used and expires_ms > ${now} for update
        )
        update connections set is_used = true, verifier = null from taken where connections.id = taken.id
        returning connections.id, owner, user_id, session, request, taken.verifier as verifier, outcome, is_used, created_ms, expires_ms`.execute(
        db,
      );
      return rows.map(storedConnection)[0];
    },
    async finish(id, outcome) {
      await sql`update connections set outcome = ${JSON.stringify(outcome)}, is_used = true, verifier = null where id = ${id}`.execute(db);
    },
  };
}

const storedConnection = ({ user_id: user, is_used: isUsed, created_ms, expires_ms, ...row }: Row): StoredConnection => ({
  ...row,
  user,
  isUsed,
  createdAt: Number(created_ms),
  expiresAt: Number(expires_ms),
});
