import type { OwnerNamespaces } from "../../crds/owner-namespaces.ts";
import { labels } from "../../crds/resource.ts";
import { Conflict, Unavailable, type HeadwaterError } from "../../domain/errors.ts";
import { isId, namespaceOfOwner } from "../../domain/ids.ts";
import type { Kubernetes } from "./connection.ts";
import { followCollection, listAll } from "./follow.ts";
import { parseObject, type KubernetesObject } from "./object.ts";
import { createOwnerMap, type OwnedNamespace } from "./owner-map.ts";
import { pathOf } from "./paths.ts";

export interface OwnerNamespacesOptions {
  /** Told of each failure that the watch goes on after. Must not throw. */
  readonly onInterrupted?: (error: HeadwaterError) => void;
}

export interface KubernetesOwnerNamespaces extends OwnerNamespaces {
  readonly onChange: (told: (namespace: string) => void) => () => void;
  /** Does it belong to an owner, as far as is known now? */
  isOwned(namespace: string): boolean;
  /** All that do. */
  list(): readonly string[];
  /** Ends the watch. */
  close(): Promise<void>;
}

const collection = pathOf(["api", "v1", "namespaces"]);
/** How long a question waits for the first list. */
const syncTimeoutMs = 30_000;
const podSecurity = "pod-security.kubernetes.io";

/**
 * One watch of the namespaces that carry the label `headwater.dev/owner`; it begins now. A namespace of any name may carry it;
 * one that we make is named after the owner and lets only restricted pods in.
 */
export function startKubernetesOwnerNamespaces(kubernetes: Kubernetes, options: OwnerNamespacesOptions = {}): KubernetesOwnerNamespaces {
  const owned = createOwnerMap();
  const listeners = new Set<(namespace: string) => void>();
  const stop = new AbortController();
  const synced = Promise.withResolvers<void>();
  const tell = (changed: readonly string[]): void => {
    for (const namespace of changed) for (const told of listeners) told(namespace);
  };
  const put = (object: KubernetesObject): void => {
    const namespace = ownedFrom(object);
    tell(namespace === undefined ? owned.delete(object.metadata.name) : owned.set(namespace));
  };
  const following = followCollection(
    kubernetes,
    { path: collection, labelSelector: labels.owner },
    {
      replace(objects) {
        tell(owned.replace(objects.map(ownedFrom).filter((each) => each !== undefined)));
        synced.resolve();
      },
      put,
      remove: ({ metadata }) => tell(owned.delete(metadata.name)),
    },
    { signal: stop.signal, ...(options.onInterrupted === undefined ? {} : { onInterrupted: options.onInterrupted }) },
  );
  synced.promise.catch(() => undefined); // Whoever asks is told.
  following.then(() => synced.reject(new Unavailable("the namespaces of owners are no longer watched")), synced.reject);
  let isSynced = false;
  const ready = async (): Promise<void> => {
    if (isSynced) return;
    await within(synced.promise, syncTimeoutMs);
    isSynced = true;
  };

  return {
    async ownerOf(namespace) {
      await ready();
      return owned.ownerOf(namespace);
    },
    async find(owner) {
      await ready();
      return owned.find(owner)?.name;
    },
    async ensure(owner) {
      const name = namespaceOfOwner(owner);
      await ready();
      const known = owned.find(owner);
      if (known?.ends === false) return known.name;
      // Labelled a moment ago, by hand or by another process: the watch may not have told yet.
      const labelSelector = `${labels.owner}=${owner}`;
      for (const object of (await listAll(kubernetes, { path: collection, labelSelector })).objects) put(object);
      const found = owned.find(owner);
      if (found?.ends === false) return found.name;
      put(await createNamespace(kubernetes, owner, name));
      return owned.find(owner)?.name ?? name;
    },
    isOwned: (namespace) => owned.ownerOf(namespace) !== undefined,
    list: () => owned.names().filter((name) => owned.ownerOf(name) !== undefined),
    onChange(told) {
      listeners.add(told);
      return () => listeners.delete(told);
    },
    async close() {
      stop.abort();
      await following.catch(() => undefined);
    },
  };
}

function ownedFrom({ metadata }: KubernetesObject): OwnedNamespace | undefined {
  const owner = metadata.labels[labels.owner];
  if (owner === undefined || !(isId("user", owner) || isId("organization", owner))) return undefined;
  return { name: metadata.name, owner, createdAt: metadata.creationTimestamp, ends: metadata.deletionTimestamp !== undefined };
}

async function createNamespace(kubernetes: Kubernetes, owner: string, name: string): Promise<KubernetesObject> {
  const restricted = Object.fromEntries(["enforce", "audit", "warn"].map((mode) => [`${podSecurity}/${mode}`, "restricted"]));
  const body = {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, labels: { [labels.owner]: owner, "app.kubernetes.io/managed-by": "headwater", ...restricted } },
  };
  try {
    return parseObject(await kubernetes.request({ method: "POST", path: collection, query: { fieldManager: "headwater" }, body }));
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
    return requireOwned(parseObject(await kubernetes.request({ method: "GET", path: `${collection}${pathOf([name])}` })), owner);
  }
}

/** Another process may have made it. One without the label was not meant for the owner, or is no longer. */
function requireOwned(object: KubernetesObject, owner: string): KubernetesObject {
  const { name, labels: given, deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined)
    throw new Unavailable(`namespace '${name}' of ${owner} is being deleted: try again when it is gone`, { code: "namespace_ends" });
  if (given[labels.owner] === owner) return object;
  throw new Conflict(
    `namespace '${name}' exists without the label ${labels.owner}=${owner}: label it, or another one, to give it to ${owner}`,
  );
}

function within(synced: Promise<void>, ms: number): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Unavailable(`the namespaces of owners could not be listed within ${ms} ms`)), ms);
  return Promise.race([synced, late.promise]).finally(() => clearTimeout(timer));
}
