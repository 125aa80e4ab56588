import type { AuditEntry } from "../../../client/generated/operations.ts";
import { useList } from "../../api/queries.ts";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { text } from "./strings.ts";

const columns: readonly Column<AuditEntry>[] = [
  { title: text.time, parts: 2, cell: ({ at }) => <Time ms={at * 1_000} /> },
  { title: text.action, parts: 2, cell: ({ action }) => action },
  {
    title: text.what,
    parts: 4,
    cell: ({ kind, resource_name: name, resource_id: id }) => (
      <>
        {kind} <bdi>{name ?? id ?? ""}</bdi>
      </>
    ),
  },
  { title: text.who, parts: 3, isSecondary: true, cell: ({ actor }) => <bdi>{whoIs(actor)}</bdi> },
  { title: text.fields, parts: 3, isSecondary: true, cell: ({ fields }) => fields.join(", ") },
];

const whoIs = ({ kind, user_id: user, key_name: key }: AuditEntry["actor"]): string =>
  [kind === "user" ? user : kind, key].filter((part) => part !== null).join(", ");

/** The audit log of the owner. */
export function Changes() {
  const list = useList("listMyAuditLog", { query: useOwnerQuery() });
  return (
    <Section title={text.audit}>
      <p className="text-sm text-muted">{text.auditHint}</p>
      <DataTable label={text.audit} columns={columns} list={list} keyOf={({ id }) => id} empty={<EmptyState title={text.noChanges} />} />
    </Section>
  );
}
