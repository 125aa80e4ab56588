import { sql, type RawBuilder } from "kysely";
import type { CheckedMetadata, EncodedStatus } from "./validate.ts";
import { columns, columnsOf, type ResourceRow } from "./row.ts";

/**
 * Each write is one statement, and so one transaction, and takes its version from the single row of `resource_head`. That row stays locked
 * until the transaction ends, so versions become visible in order: after version 7 no 6 can appear, which a sequence would allow. The price
 * is that writes are serialized, as NOTIFY does at commit anyway.
 *
 * The snapshot of a statement is older than the lock it waits for. Therefore conditions are on the written row (Postgres evaluates them
 * again after a wait), and the caller checks the outcome.
 */
export const resourceChannel = "headwater_resources";

export interface Key {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** `current` is the stored state when nothing was written. */
export type WriteRow = ResourceRow & { readonly outcome: "written" | "ended" | "current"; readonly same: boolean };

const at = (key: Key): RawBuilder<unknown> => sql`kind = ${key.kind} and namespace = ${key.namespace} and name = ${key.name}`;

export function insertResource(
  key: Key,
  metadata: CheckedMetadata,
  content: { spec: string; status: string; uid: string },
): RawBuilder<ResourceRow> {
  return sql<ResourceRow>`
    with head as (update resource_head set version = version + 1 returning version),
    created as (
      insert into resources (${columns})
      select ${key.kind}::text, ${key.namespace}::text, ${key.name}::text, ${content.uid}::uuid, version, version, 1, clock_timestamp(), null,
        ${metadata.finalizers}::text[], ${metadata.labels}::jsonb, ${metadata.annotations}::jsonb, ${metadata.ownerReferences}::jsonb,
        ${content.spec}::json, ${content.status}::json, null
      from head
      on conflict (kind, namespace, name) do nothing
      returning ${columns}
    )
    select created.*, pg_notify(${resourceChannel}, ${key.kind}) from created`;
}

/** Replaces everything but the status; removing the last finalizer of a resource in deletion ends it. Writes nothing if nothing differs. */
export function replaceSpec(key: Key, version: number, metadata: CheckedMetadata, spec: string): RawBuilder<WriteRow> {
  const ends = sql`(deletion_timestamp is not null and cardinality(${metadata.finalizers}::text[]) = 0)`;
  const owners = sql`coalesce(${metadata.ownerReferences}::jsonb, owner_references)`;
  const same = sql`(spec::text = ${spec} and labels = ${metadata.labels}::jsonb and annotations = ${metadata.annotations}::jsonb and finalizers = ${metadata.finalizers}::text[]
    and owner_references is not distinct from ${owners} and not ${ends})`;
  return sql<WriteRow>`
    with ${currentAndHead(key, sql`resource_version = ${version}`, same)},
    ended as (delete from resources using head where ${at(key)} and resource_version = ${version} and ${ends} returning ${columnsOf("resources")}),
    changed as (
      update resources set
        generation = generation + (spec::text <> ${spec})::int, spec = ${spec}::json,
        labels = ${metadata.labels}::jsonb, annotations = ${metadata.annotations}::jsonb, finalizers = ${metadata.finalizers}::text[],
        owner_references = ${owners}, resource_version = head.version
      from head where ${at(key)} and resource_version = ${version} and not ${ends}
      returning ${columnsOf("resources")}
    ),
    ${tombstone}
    ${outcome(key)}`;
}

export function replaceStatus(key: Key, version: number, status: EncodedStatus): RawBuilder<WriteRow> {
  return sql<WriteRow>`
    with ${currentAndHead(key, sql`resource_version = ${version}`, sql`(status::text = ${status.json})`)},
    changed as (
      update resources set status = ${status.json}::json, name_slug = ${status.nameSlug}::text,
        component = ${status.component}::jsonb, resource_version = head.version
      from head where ${at(key)} and resource_version = ${version}
      returning ${columnsOf("resources")}
    ),
    ended as (select * from changed where false)
    ${outcome(key)}`;
}

/** Deletes the row, or sets its deletion timestamp while it has finalizers. `current` with `same`: that was set before. */
export function deleteResource(key: Key): RawBuilder<WriteRow> {
  const free = sql`cardinality(finalizers) = 0`;
  return sql<WriteRow>`
    with ${currentAndHead(key, sql`true`, sql`(deletion_timestamp is not null and not ${free})`)},
    ended as (delete from resources using head where ${at(key)} and ${free} returning ${columnsOf("resources")}),
    changed as (
      update resources set deletion_timestamp = clock_timestamp(), generation = generation + 1, resource_version = head.version
      from head where ${at(key)} and not ${free} and deletion_timestamp is null
      returning ${columnsOf("resources")}
    ),
    ${tombstone}
    ${outcome(key)}`;
}

function currentAndHead(key: Key, matches: RawBuilder<unknown>, same: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`current as (select ${columns}, ${same} as same from resources where ${at(key)}),
    head as (
      update resource_head set version = version + 1
      where exists (select 1 from current where ${matches} and not same)
      returning version
    )`;
}

const tombstoneColumns = sql`kind, namespace, name, uid, resource_version, created_version, generation, created_at, deletion_timestamp, finalizers, labels, annotations, owner_references, spec, status, mirrored_version`;
const tombstone = sql`tombstone as (
      insert into resource_tombstones (${tombstoneColumns})
      select ended.kind, namespace, name, uid, head.version, created_version, generation, created_at, deletion_timestamp, finalizers, labels, annotations, owner_references, spec, status, mirrored_version
      from ended, head
    )`;

function outcome(key: Key): RawBuilder<unknown> {
  return sql`
    select 'written' as outcome, false as same, ${columns}, pg_notify(${resourceChannel}, ${key.kind}) from changed
    union all select 'ended', false, ${columns}, pg_notify(${resourceChannel}, ${key.kind}) from ended
    union all select 'current', same, ${columns}, null from current
      where not exists (select 1 from changed) and not exists (select 1 from ended)`;
}
