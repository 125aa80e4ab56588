import { sql, type Kysely, type RawBuilder, type Selectable } from "kysely";
import type { AuditEntry, AuditLog, AuditSelection } from "../../../api/audit/ports.ts";
import { Unavailable } from "../../../domain/errors.ts";
import { unknownCursor } from "../../../domain/page.ts";
import type { Database } from "../connection.ts";
import { plain } from "../columns.ts";
import { isTimeout, readWithin } from "../timed-read.ts";
import type { Tables } from "../tables.ts";
import type { AuditLogTable } from "./table.ts";

type Row = Selectable<AuditLogTable>;

export function createAuditLog({ db }: Pick<Database, "db">): AuditLog {
  return {
    record: (entry) => insertEntry(db, entry),
    async page(selection, { limit, cursor }) {
      const matches = matchesOf(selection);
      const backwards = cursor?.side === "before";
      const cursorRow = sql`select n from audit_log where id = ${cursor?.id ?? ""} and ${ownedBy(selection)}`;
      const beyond = cursor === null ? sql`true` : sql`n ${backwards ? sql`>` : sql`<`} (${cursorRow})`;
      const rows = await readEntries(
        db,
        sql`
        select counted.*, page.* from (
          select count(*) as total, exists (${cursorRow}) as knows_cursor from audit_log where ${matches}
        ) counted left join (
          select * from audit_log where ${matches} and ${beyond} order by ${backwards ? sql`n` : sql`n desc`} limit ${limit}
        ) page on true
        order by page.n desc`,
      );
      if (cursor !== null && rows[0]?.knows_cursor !== true) throw unknownCursor(cursor.id);
      return { items: rows.flatMap((row) => (isEntry(row) ? [entryFrom(row)] : [])), total: rows[0]?.total ?? 0 };
    },
  };
}

/** A filter may match few of the entries of three months. */
const maxReadMs = 10_000;

type Counted = Partial<Row> & { readonly total: number; readonly knows_cursor: boolean };

/** @throws Unavailable if it takes too long */
async function readEntries(db: Database["db"], statement: RawBuilder<unknown>): Promise<readonly Counted[]> {
  try {
    return await readWithin<Counted>(db, maxReadMs, statement);
  } catch (error) {
    if (!isTimeout(error)) throw error;
    throw new Unavailable(`reading the audit log takes more than ${maxReadMs / 1_000} s: choose a shorter time range`, { cause: error });
  }
}

/** Also within the transaction of the change. */
export async function insertEntry(db: Kysely<Tables>, entry: AuditEntry): Promise<void> {
  const { id, at, owner, operation, action, kind, resourceId, resourceName, fields, error, actor } = entry;
  await sql`
    insert into audit_log (id, at_ms, owner, operation, action, kind, resource_id, resource_name, fields, error,
      actor, user_id, key_id, key_name, session_id, address)
    values (${id}, ${at}, ${owner}, ${operation}, ${action}, ${kind}, ${resourceId}, ${resourceName === null ? null : plain(resourceName)},
      ${fields}::text[], ${error}, ${actor.kind}, ${actor.userId ?? null}, ${actor.keyId ?? null}, ${actor.keyName ?? null},
      ${actor.sessionId ?? null}, ${actor.address ?? null})`.execute(db);
}

/** How long entries are kept, unless it is configured otherwise. */
export const defaultAuditDays = 90;
const rowsPerDeletion = 5_000;

/** Deletes entries older than `keepDays`, in statements that take little time each. */
export async function pruneAuditLog(db: Kysely<Tables>, keepDays: number): Promise<void> {
  await deleteOlder(db, { table: "audit_log", key: "n", time: "at_ms", keepDays });
  // Of entries by earlier versions, which read them after a rollback. A later migration may drop both tables.
  await deleteOlder(db, { table: "change_claims", key: "change", time: "at_ms", keepDays: keepDays + 1 });
  await deleteOlder(db, { table: "kubernetes_requests", key: "id", time: "started_ms", keepDays: keepDays + 1 });
}

interface OldRows {
  readonly table: string;
  readonly key: string;
  /** Column with epoch ms. */
  readonly time: string;
  readonly keepDays: number;
}

async function deleteOlder(db: Kysely<Tables>, { table, key, time, keepDays }: OldRows): Promise<void> {
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where ${sql.ref(key)} in (
        select ${sql.ref(key)} from ${sql.table(table)}
        where ${sql.ref(time)} < extract(epoch from now() - make_interval(days => ${keepDays})) * 1000
        order by ${sql.ref(time)} limit ${rowsPerDeletion}
      )`.execute(db);
    if (numAffectedRows < BigInt(rowsPerDeletion)) return;
  }
}

/** Earlier versions also recorded changes by clients of the Kubernetes API. Upkeep deletes the last of these entries by age. */
const isByRest = sql`actor <> 'kubectl'`;

const ownedBy = ({ owner }: AuditSelection): RawBuilder<unknown> => (owner === undefined ? sql`true` : sql`owner = ${owner}`);

function matchesOf(selection: AuditSelection): RawBuilder<unknown> {
  const { kind, action, actor, name, outcome, resourceId, sinceMs, untilMs } = selection;
  const conditions = [
    ownedBy(selection),
    isByRest,
    kind === undefined ? sql`true` : sql`kind = ${kind}`,
    action === undefined ? sql`true` : sql`action = ${action}`,
    actor === undefined ? sql`true` : sql`${actor} in (actor, user_id, key_id, key_name)`,
    name === undefined ? sql`true` : sql`strpos(lower(resource_name), lower(${name})) > 0`,
    outcome === undefined ? sql`true` : sql`(error is null) = ${outcome === "ok"}`,
    resourceId === undefined ? sql`true` : sql`resource_id = ${resourceId}`,
    sinceMs === undefined ? sql`true` : sql`at_ms >= ${sinceMs}`,
    untilMs === undefined ? sql`true` : sql`at_ms <= ${untilMs}`,
  ];
  return sql.join(conditions, sql` and `);
}

/** The left join adds one row of nulls where the page is empty. */
const isEntry = (row: Partial<Row>): row is Row => typeof row.id === "string";

const entryFrom = (row: Row): AuditEntry => ({
  id: row.id,
  at: row.at_ms,
  owner: row.owner,
  operation: row.operation,
  action: row.action,
  kind: row.kind,
  resourceId: row.resource_id,
  resourceName: row.resource_name,
  fields: row.fields,
  error: row.error,
  actor: {
    kind: row.actor,
    userId: row.user_id ?? undefined,
    keyId: row.key_id ?? undefined,
    keyName: row.key_name ?? undefined,
    sessionId: row.session_id ?? undefined,
    address: row.address ?? undefined,
  },
});
