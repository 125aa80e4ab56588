import { sql, type RawBuilder, type Selectable } from "kysely";
import { apiVersion, type Kind, type Resource } from "../../../crds/resource.ts";
import { issuesOf, sayIssues } from "../../../crds/validate.ts";
import { workflowKind } from "../../../crds/workflow.ts";
import type { ResourceTable } from "../tables.ts";

/** The columns of a resource, in the order in which all statements return them. */
export const columnNames = [
  "kind",
  "namespace",
  "name",
  "uid",
  "resource_version",
  "created_version",
  "generation",
  "created_at",
  "deletion_timestamp",
  "finalizers",
  "labels",
  "annotations",
  "owner_references",
  "spec",
  "status",
  "mirrored_version",
] as const;

export const columns: RawBuilder<unknown> = columnList(columnNames);
/** The same, qualified with a table or alias. */
export const columnsOf = (table: string): RawBuilder<unknown> => sql.join(columnNames.map((name) => sql.ref(`${table}.${name}`)));

export function columnList(of: readonly string[]): RawBuilder<unknown> {
  return sql.join(of.map((name) => sql.ref(name)));
}

export type ResourceRow = Pick<Selectable<ResourceTable>, (typeof columnNames)[number]>;

/** Spec and status were validated before they were written, so a row of that kind has its types. */
export function resourceFrom<S, T>(row: ResourceRow): Resource<S, T> {
  return {
    apiVersion,
    kind: row.kind,
    metadata: {
      name: row.name,
      namespace: row.namespace,
      uid: row.uid,
      resourceVersion: row.mirrored_version ?? String(row.resource_version),
      generation: row.generation,
      creationTimestamp: row.created_at.toISOString(),
      ...(row.deletion_timestamp === null ? {} : { deletionTimestamp: row.deletion_timestamp.toISOString() }),
      finalizers: row.finalizers,
      labels: row.labels,
      annotations: row.annotations,
      ...(row.owner_references === null ? {} : { ownerReferences: row.owner_references }),
    },
    ...specFrom<S>(row),
    status: row.status as T,
  };
}

/** Kinds whose specs have got fields with defaults since a release: stored specs may lack them. */
const grownKinds: ReadonlyMap<string, Kind> = new Map([[workflowKind.kind, workflowKind]]);

function specFrom<S>({ kind: name, spec }: ResourceRow): Pick<Resource<S>, "spec" | "invalid"> {
  const kind = grownKinds.get(name);
  if (kind === undefined) return { spec: spec as S };
  const parsed = kind.spec.safeParse(spec);
  if (parsed.success) return { spec: parsed.data as S };
  // The spec violates the kind's type, which `invalid` reports.
  return { spec: spec as S, invalid: sayIssues(issuesOf("spec", parsed.error)) };
}
