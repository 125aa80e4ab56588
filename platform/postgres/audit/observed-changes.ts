import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { newId } from "../../../domain/ids.ts";
import type { ChangeLog, OwnedChange } from "../../../operator/audit/change.ts";
import type { Database } from "../connection.ts";
import { plain } from "../history/columns.ts";

/** Changes by clients of the Kubernetes API, as the operator observes them. */
export function createChangeLog({ db }: Pick<Database, "db">): ChangeLog {
  return {
    async record(changes) {
      const column = <T>(read: (change: OwnedChange) => T): T[] => changes.map(read);
      // A write is recorded by the change that was observed, or as the last one of its client by an operator that started after it.
      // Resources that belong to another one are deleted with it. Whether a deleted resource did, only its row in the mirror knows.
      await sql`
        insert into audit_log (id, at_ms, owner, action, kind, resource_id, resource_name, fields, actor, field_manager, change, write, uid, object)
        select id, at_ms, owner, action, kind, resource_id, resource_name, string_to_array(fields, ','), 'kubectl', field_manager,
          change, write, uid, kind || '/' || namespace || '/' || name
        from unnest(
          ${column(() => newId("auditEntry", randomBytes))}::text[], ${column(({ at }) => String(at))}::bigint[],
          ${column(({ owner }) => owner)}::text[], ${column(({ action }) => action)}::text[], ${column(({ kind }) => kind)}::text[],
          ${column(({ resourceId }) => resourceId)}::text[], ${column(({ resourceName }) => plain(resourceName))}::text[],
          ${column(({ fields }) => fields.join(","))}::text[],
          ${column(({ fieldManager }) => (fieldManager === null ? null : plain(fieldManager)))}::text[],
          ${column(({ change }) => plain(change))}::text[], ${column(({ write }) => (write === null ? null : plain(write)))}::text[],
          ${column(({ uid }) => uid)}::text[],
          ${column(({ namespace }) => namespace)}::text[], ${column(({ name }) => name)}::text[]
        ) with ordinality as given
          (id, at_ms, owner, action, kind, resource_id, resource_name, fields, field_manager, change, write, uid, namespace, name, position)
        where not exists (
          select from audit_log recorded where recorded.write = given.change or recorded.change = given.write
        ) and (action <> 'delete' or not exists (
          select from resources
          where (resources.name, resources.namespace, resources.kind) = (given.name, given.namespace, given.kind)
            and resources.uid::text = given.uid and owner_references is not null
        ))
        order by position
        on conflict (change) where change is not null do nothing`.execute(db);
    },
    async assignIds(ids) {
      await sql`
        update audit_log set resource_id = given.resource_id
        from unnest(${ids.map(({ uid }) => uid)}::text[], ${ids.map(({ resourceId }) => resourceId)}::text[]) as given (uid, resource_id)
        where audit_log.uid = given.uid and audit_log.resource_id is null`.execute(db);
    },
  };
}
