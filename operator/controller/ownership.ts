import { finalizer, labels, type Kind, type OwnerReference, type Resource } from "../../crds/resource.ts";
import type { ResourceStore } from "../../crds/resource-store.ts";
import { NotFound } from "../../domain/errors.ts";

type Writes = Pick<ResourceStore, "update">;

/** Ours to clean up after, and to be found by its public id. */
export function isAdopted({ metadata }: Resource, id: string): boolean {
  return metadata.finalizers.includes(finalizer) && metadata.labels[labels.id] === id;
}

/**
 * Gives it our finalizer and its public id, before anything is made for it: what is made is then certain to be removed. Writes
 * nothing when it has both. @returns the resource as it is then @throws Conflict, NotFound
 */
export async function adopt<S, T>(store: Writes, kind: Kind<S, T>, resource: Resource<S, T>, id: string): Promise<Resource<S, T>> {
  if (isAdopted(resource, id)) return resource;
  const { metadata } = resource;
  const finalizers = metadata.finalizers.includes(finalizer) ? metadata.finalizers : [...metadata.finalizers, finalizer];
  return store.update(kind, { ...resource, metadata: { ...metadata, labels: { ...metadata.labels, [labels.id]: id }, finalizers } });
}

/**
 * Removes our finalizer, after everything made for the resource: a resource in deletion ends with it. Writes nothing when the resource
 * has no finalizer of ours, or is gone already.
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

/** For what is made for `owner` in its namespace, and is collected with it. Kubernetes "Owners and Dependents". */
export function ownedBy(owner: Resource): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, blockOwnerDeletion: true };
}
