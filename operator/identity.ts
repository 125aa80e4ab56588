import { labels, type Kind, type Resource } from "../crds/resource.ts";
import type { ResourceStore } from "../crds/resource-store.ts";
import { idOfResourceName, isId, type IdKind } from "../domain/ids.ts";
import { parseKey } from "./controller/informer.ts";
import type { OperatorPorts } from "./ports.ts";

interface Identified {
  readonly id?: string | undefined;
}

/**
 * The public id of a resource: what its status says, else its label, else what it is named after, else a new one. A label or a name
 * counts only where nobody else has that id: anybody can write both.
 */
export async function idOf<S, T extends Identified>(
  { store, newId }: Pick<OperatorPorts, "store" | "newId">,
  kind: Kind<S, T>,
  resource: Resource<S, T>,
  idKind: IdKind,
): Promise<string> {
  const { metadata, status } = resource;
  if (status.id !== undefined) return status.id;
  for (const id of [metadata.labels[labels.id], idOfResourceName(metadata.name)]) {
    if (id !== undefined && isId(idKind, id) && !(await isTaken(store, kind, resource, id))) return id;
  }
  return newId(idKind);
}

/**
 * A resource of which nothing is made that would have to be taken away, with its id; undefined when there is none or it is being
 * deleted.
 */
export async function findIdentified<S, T extends Identified>(
  ports: Pick<OperatorPorts, "store" | "newId" | "owners">,
  kind: Kind<S, T>,
  key: string,
  idKind: IdKind,
): Promise<{ readonly id: string; readonly resource: Resource<S, T>; readonly hasOwner: boolean } | undefined> {
  const { namespace, name } = parseKey(key);
  const found = await ports.store.find(kind, namespace, name);
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined;
  const id = await idOf(ports, kind, found, idKind);
  const resource = await labelWithId(ports.store, kind, found, id);
  return { id, resource, hasOwner: (await ports.owners.ownerOf(namespace)) !== undefined };
}

/** Does another resource of the kind have this id? */
export async function isTaken<S, T extends Identified>(
  store: Pick<ResourceStore, "findById">,
  kind: Kind<S, T>,
  { metadata }: Resource<S, T>,
  id: string,
): Promise<boolean> {
  const other = await store.findById(kind, id);
  return other !== undefined && other.metadata.uid !== metadata.uid && other.status.id === id;
}

/** Has it found by its id. Writes nothing when it is; takes no finalizer, as nothing outside is made for it. */
export async function labelWithId<S, T>(
  store: Pick<ResourceStore, "update">,
  kind: Kind<S, T>,
  resource: Resource<S, T>,
  id: string,
): Promise<Resource<S, T>> {
  const { metadata } = resource;
  if (metadata.labels[labels.id] === id) return resource;
  return store.update(kind, { ...resource, metadata: { ...metadata, labels: { ...metadata.labels, [labels.id]: id } } });
}

/**
 * What is told of a resource in a namespace without an owner. It passes: the namespace of whoever makes their first resource may be
 * known a moment later than that, and who waits for the resource is not to be told that it failed.
 */
export function namespaceHasNoOwner(namespace: string) {
  return {
    ready: false,
    passing: true,
    reason: "NamespaceHasNoOwner",
    message: `namespace ${namespace} belongs to nobody: label it headwater.dev/owner=<id of a user or organization>, each of which has one namespace`,
  } as const;
}

/** Where nobody tells of a change of the namespace's label, it is looked for this often. */
export const lookForOwnerMs = 30_000;
