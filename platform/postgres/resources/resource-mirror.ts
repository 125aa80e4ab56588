import { sql, type RawBuilder } from "kysely";
import type { Metadata, Resource } from "../../../crds/resource.ts";
import { canonicalJson } from "../../../domain/canonical-json.ts";
import { InvalidInput } from "../../../domain/errors.ts";
import type { Mirrored, MirrorRows } from "../../../operator/mirror/rows.ts";
import type { Database } from "../connection.ts";
import { plain } from "../columns.ts";
import { columnList, columnNames } from "./row.ts";
import { encodeStatus } from "./validate.ts";

/** Upper bound for a write in progress about a resource that has ended in the meantime. */
const keepEndedMs = 3_600_000;
const pruneEveryMs = 60_000;

/**
 * The copy of the cluster's resources that lists read. The leading operator writes all resources, the API those it has just changed.
 * Versions are compared as numbers: an older state never replaces a newer one, and an ended resource does not come back, in whatever order
 * writes arrive. Not used where Postgres is the store.
 */
export function createResourceMirror({ db }: Pick<Database, "db">): MirrorRows {
  let prunedAt = Number.NEGATIVE_INFINITY;
  return {
    async write(present, gone) {
      if (present.length > 0) await upsert(present).execute(db);
      if (gone.length === 0) return;
      await markEnded(gone).execute(db);
      if (performance.now() - prunedAt < pruneEveryMs) return;
      prunedAt = performance.now();
      await sql`delete from resources where ended_at < now() - make_interval(secs => ${keepEndedMs / 1000})`.execute(db);
    },
    async known(kind) {
      const { rows } = await sql<Mirrored>`
        select kind, namespace, name, uid, mirrored_version as "resourceVersion" from resources
        where kind = ${kind.kind} and mirrored_version is not null and ended_at is null`.execute(db);
      return new Map(rows.map((row) => [`${row.namespace}/${row.name}`, row]));
    },
    async forget(kind) {
      await sql`delete from resources where kind = ${kind.kind} and mirrored_version is not null`.execute(db);
    },
  };
}

function upsert(resources: readonly Resource[]): RawBuilder<unknown> {
  return sql`
    insert into resources (${columns})
    select kind, namespace, name, uid, version::bigint, extract(epoch from created_at), generation, created_at, deletion_timestamp,
      array(select jsonb_array_elements_text(finalizers)), labels, annotations, owner_references, spec::json, status::json, version,
      name_slug, component, null
    from ${rowsOf(resources)}
    on conflict (name, namespace, kind) do update set ${sql.join(replaced)}
    where resources.resource_version < excluded.resource_version and not (resources.ended_at is not null and resources.uid = excluded.uid)`;
}

/**
 * An ended resource stays as an empty row, which lists omit, until no older write can be in progress. Its uid is never reused. That also
 * holds if the given version is not its last one, which the API cannot know.
 */
function markEnded(gone: readonly Mirrored[]): RawBuilder<unknown> {
  const sorted = gone.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return sql`
    insert into resources (${columns})
    select kind, namespace, name, uid, version::bigint, 0, 0, now(), null, '{}', '{}', '{}', null, '{}', '{}', version, null, null, now()
    from unnest(
      ${sorted.map(({ kind }) => kind)}::text[], ${sorted.map(({ namespace }) => namespace)}::text[], ${sorted.map(({ name }) => name)}::text[],
      ${sorted.map(({ uid }) => uid)}::uuid[], ${sorted.map(({ resourceVersion }) => numberOf(resourceVersion))}::text[]
    ) as given (kind, namespace, name, uid, version)
    on conflict (name, namespace, kind) do update set
      uid = excluded.uid, ended_at = excluded.ended_at, mirrored_version = excluded.mirrored_version,
      resource_version = greatest(resources.resource_version, excluded.resource_version),
      spec = excluded.spec, status = excluded.status, name_slug = null, component = null
    where (resources.uid = excluded.uid and resources.resource_version <= excluded.resource_version)
      or (resources.uid = excluded.uid and resources.ended_at is null)
      or resources.resource_version < excluded.resource_version`;
}

/** In the order of the values in the statements above. */
const mirroredNames = [...columnNames, "name_slug", "component", "ended_at"];
const columns = columnList(mirroredNames);
const replaced = mirroredNames.slice(3).map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`);

/** One array per column: the statement's text does not depend on the number of rows. Sorted, so that two writers never deadlock. */
function rowsOf(resources: readonly Resource[]): RawBuilder<unknown> {
  const sorted = resources.toSorted((a, b) => (keyOf({ ...a.metadata, kind: a.kind }) < keyOf({ ...b.metadata, kind: b.kind }) ? -1 : 1));
  const column = (read: (resource: Resource) => string | null): (string | null)[] => sorted.map(read);
  const statuses = sorted.map(({ status }) => encodeStatus(status ?? {}));
  return sql`unnest(
    ${column(({ kind }) => kind)}::text[], ${column(({ metadata }) => metadata.namespace)}::text[],
    ${column(({ metadata }) => metadata.name)}::text[], ${column(({ metadata }) => metadata.uid)}::uuid[],
    ${column(({ metadata }) => numberOf(metadata.resourceVersion))}::text[],
    ${column(({ metadata }) => String(metadata.generation))}::bigint[],
    ${column(({ metadata }) => metadata.creationTimestamp)}::timestamptz[],
    ${column(({ metadata }) => metadata.deletionTimestamp ?? null)}::timestamptz[],
    ${column(({ metadata }) => canonicalJson(metadata.finalizers))}::jsonb[], ${column(({ metadata }) => canonicalJson(metadata.labels))}::jsonb[],
    ${column(({ metadata }) => annotationsOf(metadata))}::jsonb[],
    ${column(({ metadata: { ownerReferences } }) => (ownerReferences === undefined ? null : canonicalJson(ownerReferences)))}::jsonb[],
    ${column(({ spec }) => canonicalJson(spec ?? {}))}::text[],
    ${statuses.map(({ json }) => json)}::text[], ${statuses.map(({ nameSlug }) => nameSlug)}::text[],
    ${statuses.map(({ component }) => component)}::jsonb[]
  ) as given (kind, namespace, name, uid, version, generation, created_at, deletion_timestamp, finalizers, labels, annotations, owner_references, spec, status, name_slug, component)`;
}

/** Kubernetes accepts U+0000 in annotations; such a resource must not be missing from lists. */
function annotationsOf({ annotations }: Metadata): string {
  return canonicalJson(Object.fromEntries(Object.entries(annotations).map(([name, text]) => [name, plain(text)])));
}

const keyOf = ({ kind, namespace, name }: Pick<Mirrored, "kind" | "namespace" | "name">): string => `${kind}/${namespace}/${name}`;

/** Kubernetes versions are growing decimal numbers (KEP-5504). */
function numberOf(version: string): string {
  if (/^\d{1,18}$/.test(version)) return version;
  throw new InvalidInput(`resourceVersion '${version}' is not a decimal number: this API server's versions cannot be ordered`);
}
