import { finalizer, labels, type Kind, type OwnerReference, type Resource } from "../../crds/resource.ts";
import type { ResourceStore } from "../../crds/resource-store.ts";
import { NotFound } from "../../domain/errors.ts";

type Writes = Pick<ResourceStore, "update">;

/** Has our finalizer and its public id as label. */
export function isAdopted({ metadata }: Resource, id: string): boolean {
  return metadata.finalizers.includes(finalizer) && metadata.labels[labels.id] === id;
}

/**
 * Adds our finalizer and the public id, before anything is created for the resource: whatever is created is then removed with it. Writes
 * nothing when both are present. @returns the updated resource @throws Conflict, NotFound
 */
export async function adopt<S, T>(store: Writes, kind: Kind<S, T>, resource: Resource<S, T>, id: string): Promise<Resource<S, T>> {
  if (isAdopted(resource, id)) return resource;
  const { metadata } = resource;
  const finalizers = metadata.finalizers.includes(finalizer) ? metadata.finalizers : [...metadata.finalizers, finalizer];
  return store.update(kind, { ...resource, metadata: { ...metadata, labels: { ...metadata.labels, [labels.id]: id }, finalizers } });
}

/**
 * Removes our finalizer, after everything created for the resource is removed; a resource in deletion then ends. Does nothing when the
 * finalizer or the resource is gone.
 */
export async function release<S, T>(store: Writes, kind: Kind<S, T>, resource: Resource<S, T>): Promise<Resource<S, T>> {
  const { metadata } = resource;
  if (!metadata.finalizers.includes(finalizer)) return resource;
  const released = { ...resource, metadata: { ...metadata, finalizers: metadata.finalizers.filter((name) => name !== finalizer) } };
  return store.update(kind, released).catch((error: unknown) => {
    if (error instanceof NotFound) return released;
    throw error;
  });
}

/** Owner reference for resources in the namespace of `owner` that are garbage-collected with it. */
export function ownedBy(owner: Resource): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, blockOwnerDeletion: true };
}
