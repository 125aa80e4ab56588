import { isDeepStrictEqual } from "node:util";
import { deletionId, unattributedChangeId } from "../../crds/change.ts";
import { labels, ownFieldManager, ownPrefix, type Resource, type Writer } from "../../crds/resource.ts";
import { idOfResourceName } from "../../domain/ids.ts";
import type { Mirrored } from "../mirror/rows.ts";
import type { ObservedChange } from "./change.ts";

/** Kubernetes' garbage collector only follows the deletion of an owner. */
const systemManagers = ["kube-controller-manager"];

/**
 * The changes between two versions of a resource that others made. A client that wrote has a new time in managedFields. Kubernetes records
 * no writer where a client only removes fields, writes twice within a second, or deletes.
 */
export function changesOf(before: Resource | undefined, after: Resource, now: number): readonly ObservedChange[] {
  if (before !== undefined && before.metadata.uid !== after.metadata.uid)
    return [...deletionsOf(before, before.metadata, now), ...changesOf(undefined, after, now)];
  const fields = changedFields(before, after);
  const known = before?.metadata.writers ?? [];
  const wrote = (after.metadata.writers ?? []).filter((writer) => known.every((old) => !isSameWrite(old, writer)));
  const others = wrote.filter(isOther);
  const { uid, resourceVersion } = after.metadata;
  const written = others.map((writer) => ({
    ...changeBy(writer, after, fields),
    change: `${uid}/v${resourceVersion}/${writer.manager}/${writer.operation}`,
  }));
  const deletions = before?.metadata.deletionTimestamp === undefined ? requestedDeletion(after) : [];
  if (before === undefined || written.length > 0 || wrote.length > others.length || fields.length === 0) return [...written, ...deletions];
  return [...unattributed(after, fields, now), ...deletions];
}

/** The last write of each client, for an operator that starts. */
export function lastChangesOf(resource: Resource): readonly ObservedChange[] {
  const writers = (resource.metadata.writers ?? []).filter(isOther);
  return [...writers.map((writer) => changeBy(writer, resource, [])), ...requestedDeletion(resource)];
}

/** @param before the last version that was cached */
export function deletionsOf(last: Resource, before: Resource["metadata"] | undefined, now: number): readonly ObservedChange[] {
  // With finalizers, the deletion was recorded when it was requested.
  return before?.deletionTimestamp === undefined ? deletion(last, now) : [];
}

/** A deletion while no operator led: only the mirror still knows the resource. */
export const missedDeletion = ({ kind, namespace, name, uid }: Mirrored, at: number): ObservedChange => ({
  uid,
  kind,
  namespace,
  name,
  resourceId: idOfResourceName(name) ?? null,
  resourceName: name,
  ...deletionFields(uid, at),
});

const deletionFields = (uid: string, at: number) =>
  ({ change: deletionId({ uid }), write: null, at, action: "delete", fields: [], fieldManager: null }) as const;

const requestedDeletion = (resource: Resource): readonly ObservedChange[] => {
  const { deletionTimestamp } = resource.metadata;
  return deletionTimestamp === undefined ? [] : deletion(resource, Date.parse(deletionTimestamp));
};

/** What belongs to another resource is deleted with it. */
function deletion(resource: Resource, at: number): readonly ObservedChange[] {
  if (isOwned(resource)) return [];
  return [{ ...subjectOf(resource), ...deletionFields(resource.metadata.uid, at) }];
}

function changeBy(writer: Writer, resource: Resource, fields: readonly string[]): ObservedChange {
  const { uid, creationTimestamp } = resource.metadata;
  const isCreator = writer.at === Date.parse(creationTimestamp) && firstWriter(resource) === writer;
  const write = `${uid}/${writer.manager}/${writer.operation}/${writer.at / 1_000}`;
  return {
    ...subjectOf(resource),
    change: write,
    write,
    at: writer.at,
    action: isCreator ? "create" : "update",
    fields: isCreator ? changedFields(undefined, resource) : fields,
    fieldManager: writer.manager,
  };
}

/** Resources of another resource are written by the operator. */
function unattributed(resource: Resource, fields: readonly string[], now: number): readonly ObservedChange[] {
  if (isOwned(resource)) return [];
  // Labels have no generation; only other clients write them without the spec.
  const isSpec = fields.some((field) => field !== "labels" && field !== "annotations");
  const { uid, resourceVersion } = resource.metadata;
  const change = isSpec ? unattributedChangeId(resource.metadata) : `${uid}/v${resourceVersion}`;
  return [{ ...subjectOf(resource), change, write: null, at: now, action: "update", fields, fieldManager: null }];
}

function subjectOf(resource: Resource) {
  const { kind, metadata, spec } = resource;
  const { name } = recordOf(spec);
  return {
    uid: metadata.uid,
    kind,
    namespace: metadata.namespace,
    name: metadata.name,
    resourceId: publicIdOf(resource) ?? null,
    resourceName: typeof name === "string" && name !== "" ? name : metadata.name,
  };
}

/** The label is set when the operator has seen the resource. */
export function publicIdOf({ metadata, status }: Resource): string | undefined {
  const { id } = recordOf(status);
  return typeof id === "string" ? id : (metadata.labels[labels.id] ?? idOfResourceName(metadata.name));
}

function changedFields(before: Resource | undefined, after: Resource): readonly string[] {
  const [old, now] = [recordOf(before?.spec), recordOf(after.spec)];
  const spec = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((name) => !isDeepStrictEqual(old[name], now[name]));
  const metadata = (["labels", "annotations"] as const).filter(
    (name) => !isDeepStrictEqual(othersOf(before?.metadata[name]), othersOf(after.metadata[name])),
  );
  return [...spec, ...metadata].toSorted();
}

const othersOf = (entries: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(entries).filter(([name]) => !name.startsWith(ownPrefix)));

const firstWriter = ({ metadata }: Resource): Writer | undefined => (metadata.writers ?? []).toSorted((a, b) => a.at - b.at)[0];
const isOther = ({ manager }: Writer): boolean => manager !== ownFieldManager && !systemManagers.includes(manager);
const isSameWrite = (a: Writer, b: Writer): boolean => a.manager === b.manager && a.operation === b.operation && a.at === b.at;
const isOwned = ({ metadata }: Resource): boolean => (metadata.ownerReferences ?? []).length > 0;
const recordOf = (value: unknown): Readonly<Record<string, unknown>> => (typeof value === "object" && value !== null ? { ...value } : {});
