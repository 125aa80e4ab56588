import { appLabelOf } from "../crds/account.ts";
import { labels, type Kind, type Resource } from "../crds/resource.ts";
import type { ResourceStore } from "../crds/resource-store.ts";
import { idPrefixes, isId, type IdKind } from "../domain/ids.ts";
import { parseKey } from "./controller/informer.ts";
import type { OperatorPorts } from "./ports.ts";

interface Identified {
  readonly id?: string | undefined;
}

type IdentityPorts = Pick<OperatorPorts, "store" | "newId" | "claimId">;

/**
 * The public id of a resource: from its status, else from its label, which the API writes when it creates the resource, else a new one.
 * Where no admission policy protects the label, users can write it too: it counts only if no other resource has that id. A resource that
 * ends without an id gets a new one, so that nothing is removed in the name of another.
 */
export async function idOf<S, T extends Identified>(
  ports: IdentityPorts,
  kind: Kind<S, T>,
  resource: Resource<S, T>,
  idKind: IdKind,
): Promise<string> {
  const { metadata, status } = resource;
  if (status.id !== undefined) return status.id;
  const labelled = metadata.labels[labels.id];
  const isCandidate = labelled !== undefined && isId(idKind, labelled) && metadata.deletionTimestamp === undefined;
  return isCandidate && (await takeId(ports, kind, resource, labelled)) ? labelled : ports.newId(idKind);
}

/** Takes the id for the resource, unless another one of the kind has it. @returns whether it has it now */
export async function takeId<S, T extends Identified>(
  { store, claimId }: Pick<OperatorPorts, "store" | "claimId">,
  kind: Kind<S, T>,
  resource: Resource<S, T>,
  id: string,
): Promise<boolean> {
  return !(await isTaken(store, kind, resource, id)) && claimId(kind.kind, id, resource.metadata.uid);
}

/** The kind of public ids that resources of the kind have: `autoSubscription` of AutoSubscription. Undefined: they have none. */
export function idKindOf({ kind }: Pick<Kind, "kind">): IdKind | undefined {
  return Object.keys(idPrefixes).find((idKind): idKind is IdKind => idKind.toLowerCase() === kind.toLowerCase());
}

/** Reads a resource for which nothing external is created, with its id. Undefined when it is missing or being deleted. */
export async function findIdentified<S, T extends Identified>(
  ports: IdentityPorts & Pick<OperatorPorts, "owners">,
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
async function isTaken<S, T extends Identified>(
  store: Pick<ResourceStore, "findById">,
  kind: Kind<S, T>,
  { metadata }: Resource<S, T>,
  id: string,
): Promise<boolean> {
  const other = await store.findById(kind, id);
  return other !== undefined && other.metadata.uid !== metadata.uid && other.status.id === id;
}

/** Adds the id as label if it is missing. No finalizer: nothing external is created for it. */
export const labelWithId = <S, T>(store: Updates, kind: Kind<S, T>, resource: Resource<S, T>, id: string): Promise<Resource<S, T>> =>
  withLabel(store, kind, resource, labels.id, id);

/** Lets lists select the resources of an app. */
export const labelWithApp = <S, T>(store: Updates, kind: Kind<S, T>, resource: Resource<S, T>, app: string): Promise<Resource<S, T>> =>
  withLabel(store, kind, resource, labels.app, appLabelOf(app));

type Updates = Pick<ResourceStore, "update">;

async function withLabel<S, T>(store: Updates, kind: Kind<S, T>, resource: Resource<S, T>, label: string, value: string) {
  const { metadata } = resource;
  if (metadata.labels[label] === value) return resource;
  return store.update(kind, { ...resource, metadata: { ...metadata, labels: { ...metadata.labels, [label]: value } } });
}

/**
 * Verdict for a resource in a namespace without an owner. It is transient: the owner of a new namespace may become known a moment later,
 * and a client that waits for the resource must not see a failure.
 */
export function namespaceHasNoOwner(namespace: string) {
  return {
    ready: false,
    transient: true,
    reason: "NamespaceHasNoOwner",
    message: `namespace ${namespace} has no owner: label it headwater.dev/owner=<id of a user or organization>, and let that owner confirm it (hw namespaces confirm ${namespace}); an owner has one namespace`,
  } as const;
}
