import type { AuditEntry } from "../../../client/generated/operations.ts";
import type { List } from "../../api/queries.ts";
import { Button } from "../button.tsx";
import { DataTable, type Column } from "../data-table.tsx";
import { formatCount } from "../format.ts";
import { EmptyState } from "../notices.tsx";
import { State } from "../state.tsx";
import { Time } from "../time.tsx";
import { FilterForm } from "./filter-form.tsx";
import type { AuditFilters, SetAuditFilters } from "./filters.ts";
import { text } from "./strings.ts";

const columns: readonly Column<AuditEntry>[] = [
  { title: text.time, parts: 2, cell: ({ at }) => <Time ms={at * 1_000} /> },
  { title: text.action, parts: 2, cell: ({ action }) => action },
  {
    title: text.what,
    parts: 4,
    cell: ({ kind, resource_name: name, resource_id: id }) => (
      <>
        {kind} <bdi title={id ?? undefined}>{name ?? id ?? ""}</bdi>
      </>
    ),
  },
  {
    title: text.who,
    parts: 3,
    isSecondary: true,
    cell: ({ actor }) => <bdi title={actor.address ?? undefined}>{whoIs(actor)}</bdi>,
  },
  {
    title: text.outcome,
    parts: 2,
    isSecondary: true,
    cell: ({ error }) => <State state={error === null ? "ok" : "failed"} label={error ?? text.outcomes.ok} />,
  },
  { title: text.fields, parts: 3, isSecondary: true, cell: ({ fields }) => fields.join(", ") },
];

const whoIs = ({ kind, user_id: user, key_name: key }: AuditEntry["actor"]): string =>
  [kind === "user" ? user : kind, key].filter((part) => part !== null).join(", ");

const ownerColumn: Column<AuditEntry> = {
  title: text.owner,
  parts: 2,
  isSecondary: true,
  cell: ({ owner_id: owner }) => <bdi>{owner ?? ""}</bdi>,
};

interface AuditLogProps {
  readonly list: List<AuditEntry>;
  readonly filters: AuditFilters;
  readonly setFilters: SetAuditFilters;
  readonly hasOwners?: boolean;
}

/** Changes with their filters. */
export function AuditLog({ list, filters, setFilters, hasOwners = false }: AuditLogProps) {
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <FilterForm filters={filters} setFilters={setFilters} hasOwners={hasOwners} />
      {list.total !== undefined && (
        <p role="status" className="text-sm text-muted">
          {text.count(formatCount(list.total))}
        </p>
      )}
      <DataTable
        label={text.title}
        columns={hasOwners ? columns.toSpliced(3, 0, ownerColumn) : columns}
        list={list}
        keyOf={({ id }) => id}
        empty={
          isFiltered ? (
            <EmptyState title={text.noMatch}>
              <Button onClick={() => setFilters({})}>{text.clear}</Button>
            </EmptyState>
          ) : (
            <EmptyState title={text.none} />
          )
        }
      />
    </>
  );
}
