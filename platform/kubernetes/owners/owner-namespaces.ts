import type { OwnerNamespaces } from "../../../crds/owner-namespaces.ts";
import { labels, ownFieldManager } from "../../../crds/resource.ts";
import { Conflict, Unavailable, type HeadwaterError } from "../../../domain/errors.ts";
import { waitUntil } from "../../../domain/retry.ts";
import { isId, namespaceOfOwner } from "../../../domain/ids.ts";
import type { Kubernetes } from "../access/connection.ts";
import { followCollection, listAll, type Follower } from "../resources/follow.ts";
import { parseObject, type KubernetesObject } from "../object.ts";
import { createOwnerMap, type IsConfirmed, type OwnedNamespace, type OwnerMap } from "./owner-map.ts";
import { pathOf } from "../paths.ts";

export interface OwnerNamespacesOptions {
  /** Whether the label of a namespace needs its owner's confirmation: calls wait for the first `setConfirmed`. Default: false. */
  readonly needsConfirmation?: boolean;
  /** Called with each failure that the watch recovers from. Must not throw. */
  readonly onInterrupted?: (error: HeadwaterError) => void;
}

/** Both end with a call of `setConfirmed`. */
export interface ConfirmationRecords {
  confirm(owner: string, namespace: string): Promise<void>;
  refresh(): Promise<void>;
}

export interface KubernetesOwnerNamespaces extends OwnerNamespaces {
  readonly onChange: (listener: (namespace: string) => void) => () => void;
  /** Does it belong to an owner, according to the cache? */
  isOwned(namespace: string): boolean;
  /** All namespaces with an owner. */
  list(): readonly string[];
  /** Which namespaces are confirmed. `records` confirms those that `ensure` creates. */
  readonly setConfirmed: (isConfirmed: IsConfirmed, records: ConfirmationRecords) => void;
  /** Namespaces with the owner's label, confirmed or not. */
  labelledFor(owner: string): Promise<readonly string[]>;
  /** Stops the watch. */
  close(): Promise<void>;
}

const collection = pathOf(["api", "v1", "namespaces"]);
/** How long a call waits for the first list. */
const syncTimeoutMs = 30_000;
/** How long a process of the API may take to confirm the namespace that it has created. */
const confirmedWithinMs = 3_000;
const podSecurity = "pod-security.kubernetes.io";

/**
 * Watches the namespaces with the label `headwater.dev/owner`, starting now. They may have any name; those that we create are named after
 * the owner and admit only restricted pods.
 */
export function startKubernetesOwnerNamespaces(kubernetes: Kubernetes, options: OwnerNamespacesOptions = {}): KubernetesOwnerNamespaces {
  const namespaces = new WatchedNamespaces(kubernetes, options.needsConfirmation === true);
  namespaces.start(options);
  return namespaces;
}

class WatchedNamespaces implements KubernetesOwnerNamespaces {
  readonly #kubernetes: Kubernetes;
  readonly #owned: OwnerMap;
  readonly #listeners = new Set<(namespace: string) => void>();
  readonly #stop = new AbortController();
  readonly #firstList = Promise.withResolvers<void>();
  readonly #firstConfirmations = Promise.withResolvers<void>();
  #hasSynced = false;
  #records: ConfirmationRecords | undefined;
  #following: Promise<void> = Promise.resolve();

  constructor(kubernetes: Kubernetes, needsConfirmation: boolean) {
    this.#kubernetes = kubernetes;
    this.#owned = createOwnerMap(needsConfirmation ? () => false : undefined);
    if (!needsConfirmation) this.#firstConfirmations.resolve();
  }

  start({ onInterrupted }: OwnerNamespacesOptions): void {
    const follower: Follower = {
      replace: (objects) => {
        this.#notify(this.#owned.replace(objects.map(ownedFrom).filter((each) => each !== undefined)));
        this.#firstList.resolve();
      },
      put: (object) => this.#put(object),
      remove: ({ metadata }) => this.#notify(this.#owned.delete(metadata.name)),
    };
    const options = { signal: this.#stop.signal, ...(onInterrupted === undefined ? {} : { onInterrupted }) };
    const { promise, reject } = this.#firstList;
    promise.catch(() => undefined); // Callers get the error from #untilSynced.
    this.#following = followCollection(this.#kubernetes, { path: collection, labelSelector: labels.owner }, follower, options);
    this.#following.then(() => reject(new Unavailable("the namespaces of owners are no longer watched")), reject);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#following.catch(() => undefined);
  }

  async ownerOf(namespace: string): Promise<string | undefined> {
    await this.#untilSynced();
    return this.#owned.ownerOf(namespace);
  }

  async find(owner: string): Promise<string | undefined> {
    await this.#untilSynced();
    return this.#owned.find(owner)?.name;
  }

  async ensure(owner: string): Promise<string> {
    const name = namespaceOfOwner(owner);
    await this.#untilSynced();
    const known = this.#owned.find(owner);
    if (known?.isTerminating === false) return known.name;
    // A namespace may have just been labelled, by hand or by another process, before the watch reports it.
    const labelSelector = `${labels.owner}=${owner}`;
    for (const object of (await listAll(this.#kubernetes, { path: collection, labelSelector })).objects) this.#put(object);
    const found = this.#owned.find(owner);
    if (found?.isTerminating === false) return found.name;
    const { object, isNew } = await createNamespace(this.#kubernetes, owner, name);
    this.#put(object);
    if (this.#records !== undefined) await this.#confirmCreated(owner, name, isNew, this.#records);
    return this.#owned.find(owner)?.name ?? name;
  }

  /** Another process of the API may have created it, and confirms it in a moment. Others who create one get nothing of the owner. */
  async #confirmCreated(owner: string, name: string, isNew: boolean, records: ConfirmationRecords): Promise<void> {
    if (isNew) return records.confirm(owner, name);
    const isConfirmed = async (): Promise<boolean> => {
      await records.refresh();
      return this.#owned.find(owner) !== undefined;
    };
    if (await waitUntil(isConfirmed, confirmedWithinMs, 200)) return;
    throw new Conflict(`namespace '${name}' exists, and ${owner} has not confirmed it: confirm it (POST /namespaces), or have it deleted`);
  }

  readonly setConfirmed = (isConfirmed: IsConfirmed, records: ConfirmationRecords): void => {
    this.#records = records;
    this.#notify(this.#owned.setConfirmed(isConfirmed));
    this.#firstConfirmations.resolve();
  };

  async labelledFor(owner: string): Promise<readonly string[]> {
    await this.#untilSynced();
    return this.#owned.labelledFor(owner);
  }

  isOwned(namespace: string): boolean {
    return this.#owned.ownerOf(namespace) !== undefined;
  }

  list(): readonly string[] {
    return this.#owned.names().filter((name) => this.isOwned(name));
  }

  readonly onChange = (listener: (namespace: string) => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #put(object: KubernetesObject): void {
    const namespace = ownedFrom(object);
    this.#notify(namespace === undefined ? this.#owned.delete(object.metadata.name) : this.#owned.set(namespace));
  }

  #notify(changed: readonly string[]): void {
    for (const namespace of changed) for (const listener of this.#listeners) listener(namespace);
  }

  async #untilSynced(): Promise<void> {
    if (this.#hasSynced) return;
    await withTimeout(Promise.all([this.#firstList.promise, this.#firstConfirmations.promise]), syncTimeoutMs);
    this.#hasSynced = true;
  }
}

function ownedFrom({ metadata }: KubernetesObject): OwnedNamespace | undefined {
  const owner = metadata.labels[labels.owner];
  if (owner === undefined || !(isId("user", owner) || isId("organization", owner))) return undefined;
  return { name: metadata.name, owner, createdAt: metadata.creationTimestamp, isTerminating: metadata.deletionTimestamp !== undefined };
}

interface CreatedNamespace {
  readonly object: KubernetesObject;
  readonly isNew: boolean;
}

async function createNamespace(kubernetes: Kubernetes, owner: string, name: string): Promise<CreatedNamespace> {
  const restricted = Object.fromEntries(["enforce", "audit", "warn"].map((mode) => [`${podSecurity}/${mode}`, "restricted"]));
  const body = {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, labels: { [labels.owner]: owner, "app.kubernetes.io/managed-by": "headwater", ...restricted } },
  };
  try {
    const created = await kubernetes.request({ method: "POST", path: collection, query: { fieldManager: ownFieldManager }, body });
    return { object: parseObject(created), isNew: true };
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
    const existing = parseObject(await kubernetes.request({ method: "GET", path: `${collection}${pathOf([name])}` }));
    return { object: requireOwned(existing, owner), isNew: false };
  }
}

/** Another process may have created it. Without the label it is not, or no longer, meant for the owner. */
function requireOwned(object: KubernetesObject, owner: string): KubernetesObject {
  const { name, labels: present, deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined)
    throw new Unavailable(`namespace '${name}' of ${owner} is being deleted: retry when it is gone`, { code: "namespace_ends" });
  if (present[labels.owner] === owner) return object;
  throw new Conflict(
    `namespace '${name}' exists without the label ${labels.owner}=${owner}: label it, or another one, to give it to ${owner}`,
  );
}

function withTimeout(synced: Promise<unknown>, ms: number): Promise<unknown> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Unavailable(`the namespaces of owners could not be listed within ${ms} ms`)), ms);
  return Promise.race([synced, late.promise]).finally(() => clearTimeout(timer));
}
