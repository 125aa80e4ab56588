import type { Kind, OwnerReference, Resource } from "./resource.ts";

/**
 * Where resources live: the Kubernetes API in a cluster, Postgres on one machine. Both pass test/conformance/resource-store.ts.
 *
 * Writes validate the spec with the kind's schema (InvalidInput). A stale `resourceVersion` is a Conflict, an unknown name NotFound.
 */
export interface ResourceStore {
  /** @throws NotFound */
  get<S, T>(kind: Kind<S, T>, namespace: string, name: string): Promise<Resource<S, T>>;
  find<S, T>(kind: Kind<S, T>, namespace: string, name: string): Promise<Resource<S, T> | undefined>;
  /** By the label `headwater.dev/id`, over all namespaces; the oldest, should several carry it. */
  findById<S, T>(kind: Kind<S, T>, id: string): Promise<Resource<S, T> | undefined>;
  /**
   * A page at a time, each resource once; `resourceVersion` is where a watch continues without a gap. The order is the store's:
   * newest first in Postgres, by namespace and name in Kubernetes, which knows no other. @throws Gone when `continue` is from
   * too long ago: begin again
   */
  list<S, T>(kind: Kind<S, T>, options?: ListOptions): Promise<ResourceList<S, T>>;
  /** Starts with generation 1, an empty status and the given labels and finalizers. @throws Conflict when the name is taken */
  create<S, T>(kind: Kind<S, T>, resource: NewResource<S>): Promise<Resource<S, T>>;
  /**
   * Replaces spec, labels, annotations and finalizers, and the owner references when there are any; the generation grows when the
   * spec differs. What others wrote of which we know nothing stays. Removing the last finalizer of a resource in deletion ends it.
   * @throws Conflict, NotFound
   */
  update<S, T>(kind: Kind<S, T>, resource: Resource<S, T>): Promise<Resource<S, T>>;
  /** Replaces the status alone; never touches the generation. @throws Conflict, NotFound */
  updateStatus<S, T>(kind: Kind<S, T>, resource: Resource<S, T>): Promise<Resource<S, T>>;
  /**
   * Ends the resource, or sets `deletionTimestamp` while it has finalizers; deleting twice is fine. What it owns ends with it, in
   * Kubernetes a moment later. @throws NotFound
   */
  delete<S, T>(kind: Kind<S, T>, namespace: string, name: string): Promise<void>;
  /**
   * Every change after `resourceVersion`, in order, each at least once, until the signal aborts. Several changes of one resource
   * may be told as the last one. @throws Gone when that version is no longer known: list again.
   */
  watch<S, T>(kind: Kind<S, T>, resourceVersion: string, signal: AbortSignal): AsyncIterable<WatchEvent<S, T>>;
}

export interface ListOptions {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** 1 to 1,000; default 1,000, or fewer where that many of a whole kind would be too large at once. */
  readonly limit?: number;
  /** From a former page's `continue`. */
  readonly continue?: string;
}

export interface ResourceList<S, T> {
  readonly items: readonly Resource<S, T>[];
  readonly resourceVersion: string;
  /** Absent on the last page. */
  readonly continue?: string;
}

export interface NewResource<S> {
  readonly name: string;
  readonly namespace: string;
  readonly spec: S;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
}

export type WatchEvent<S, T> =
  | { readonly type: "added" | "modified"; readonly resource: Resource<S, T> }
  | { readonly type: "deleted"; readonly resource: Resource<S, T> }
  /** Nothing changed up to this version: a place to continue from. */
  | { readonly type: "bookmark"; readonly resourceVersion: string };
