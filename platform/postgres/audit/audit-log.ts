import { sql, type Kysely, type RawBuilder, type Selectable } from "kysely";
import type { AuditEntry, AuditLog, AuditSelection, KubernetesRequest } from "../../../api/audit/ports.ts";
import { unknownCursor } from "../../../domain/page.ts";
import type { Database } from "../connection.ts";
import { plain } from "../history/columns.ts";
import type { Tables } from "../tables.ts";
import type { AuditLogTable } from "./table.ts";

type Row = Selectable<AuditLogTable> & { readonly kubernetes_user: string | null; readonly kubernetes_address: string | null };

export function createAuditLog({ db }: Pick<Database, "db">): AuditLog {
  return {
    record: (entry) => insertEntry(db, entry),
    async recordRequests(requests) {
      if (requests.length === 0) return;
      const column = <T>(read: (request: KubernetesRequest) => T): T[] => requests.map(read);
      await sql`
        insert into kubernetes_requests (id, object, deletes, started_ms, ended_ms, field_manager, kubernetes_user, address)
        select distinct on (id) * from unnest(
          ${column(({ id }) => plain(id))}::text[], ${column(({ object }) => plain(object))}::text[],
          ${column(({ isDeletion }) => isDeletion)}::boolean[], ${column(({ startedAt }) => String(startedAt))}::bigint[],
          ${column(({ endedAt }) => String(endedAt))}::bigint[], ${column(({ fieldManager }) => plain(fieldManager))}::text[],
          ${column(({ user }) => plain(user))}::text[], ${column(({ address }) => (address === null ? null : plain(address)))}::text[]
        ) as given (id, object, deletes, started_ms, ended_ms, field_manager, kubernetes_user, address)
        on conflict (id) do nothing`.execute(db);
    },
    async page(selection, { limit, cursor }) {
      const matches = matchesOf(selection);
      const backwards = cursor?.side === "before";
      const cursorRow = sql`select n from audit_log where id = ${cursor?.id ?? ""} and ${ownedBy(selection)}`;
      const beyond = cursor === null ? sql`true` : sql`n ${backwards ? sql`>` : sql`<`} (${cursorRow})`;
      const { rows } = await sql<Partial<Row> & { total: number; knows_cursor: boolean }>`
        select counted.*, page.* from (
          select count(*) as total, exists (${cursorRow}) as knows_cursor from audit_log where ${matches}
        ) counted left join (
          select audit_log.*, kubernetes_user, kubernetes_address from audit_log left join lateral ${requestOf} on true
          where ${matches} and ${beyond} order by ${backwards ? sql`n` : sql`n desc`} limit ${limit}
        ) page on true
        order by page.n desc`.execute(db);
      if (cursor !== null && rows[0]?.knows_cursor !== true) throw unknownCursor(cursor.id);
      return { items: rows.flatMap((row) => (isEntry(row) ? [entryFrom(row)] : [])), total: rows[0]?.total ?? 0 };
    },
  };
}

/** Also within the transaction of the change. */
export async function insertEntry(db: Kysely<Tables>, entry: AuditEntry): Promise<void> {
  const { id, at, owner, operation, action, kind, resourceId, resourceName, fields, error, actor } = entry;
  await sql`
    insert into audit_log (id, at_ms, owner, operation, action, kind, resource_id, resource_name, fields, error,
      actor, user_id, key_id, key_name, session_id, address, field_manager)
    values (${id}, ${at}, ${owner}, ${operation}, ${action}, ${kind}, ${resourceId}, ${resourceName === null ? null : plain(resourceName)},
      ${fields}::text[], ${error}, ${actor.kind}, ${actor.userId ?? null}, ${actor.keyId ?? null}, ${actor.keyName ?? null},
      ${actor.sessionId ?? null}, ${actor.address ?? null}, ${actor.fieldManager ?? null})`.execute(db);
}

/** How long entries are kept, unless it is configured otherwise. */
export const defaultAuditDays = 90;
const rowsPerDeletion = 5_000;

/** Deletes entries older than `keepDays`, in statements that take little time each. */
export async function pruneAuditLog(db: Kysely<Tables>, keepDays: number): Promise<void> {
  await deleteOlder(db, { table: "audit_log", key: "n", time: "at_ms", keepDays });
  // They explain entries, so they go after them.
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

/** The request of a change in the cluster. Times of changes are whole seconds, or those of the operator. */
const requestOf = sql`(
  select kubernetes_user, requests.address as kubernetes_address from kubernetes_requests requests
  where requests.object = audit_log.object and requests.deletes = (audit_log.action = 'delete')
    and audit_log.at_ms between requests.started_ms - 2000 and requests.ended_ms + 3000
    and (audit_log.field_manager is null or audit_log.field_manager = requests.field_manager)
  order by abs(audit_log.at_ms - requests.started_ms), requests.id limit 1
) request`;

const byActor = (actor: string): RawBuilder<unknown> =>
  sql`(${actor} in (actor, user_id, key_id, field_manager) or exists (select from ${requestOf} where kubernetes_user = ${actor}))`;

/** A change in the cluster that a process of Headwater made is not one by another client. */
const isByAnother = sql`(change is null or not exists (select from change_claims where change_claims.change = audit_log.change))`;

const ownedBy = ({ owner }: AuditSelection): RawBuilder<unknown> => (owner === undefined ? sql`true` : sql`owner = ${owner}`);

function matchesOf(selection: AuditSelection): RawBuilder<unknown> {
  const { kind, actor, resourceId, sinceMs } = selection;
  const conditions = [
    ownedBy(selection),
    isByAnother,
    kind === undefined ? sql`true` : sql`kind = ${kind}`,
    actor === undefined ? sql`true` : byActor(actor),
    resourceId === undefined ? sql`true` : sql`resource_id = ${resourceId}`,
    sinceMs === undefined ? sql`true` : sql`at_ms >= ${sinceMs}`,
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
    address: row.address ?? row.kubernetes_address ?? undefined,
    fieldManager: row.field_manager ?? undefined,
    kubernetesUser: row.kubernetes_user ?? undefined,
  },
});
