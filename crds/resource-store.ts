import type { Kind, OwnerReference, Resource } from "./resource.ts";

/**
 * Stores resources: in the Kubernetes API in a cluster, in Postgres on one machine. Both pass test/conformance/resource-store.ts.
 *
 * Writes validate the spec with the kind's schema (InvalidInput). A stale `resourceVersion` is a Conflict, an unknown name NotFound.
 */
export interface ResourceStore {
  /** @throws NotFound */
  get<S, T>(kind: Kind<S, T>, namespace: string, name: string): Promise<Resource<S, T>>;
  find<S, T>(kind: Kind<S, T>, namespace: string, name: string): Promise<Resource<S, T> | undefined>;
  /** Finds by the label `headwater.dev/id`, over all namespaces; if several have it, the oldest. */
  findById<S, T>(kind: Kind<S, T>, id: string): Promise<Resource<S, T> | undefined>;
  /**
   * Lists page by page, each resource once; a watch from `resourceVersion` continues without a gap. Postgres returns the newest first,
   * Kubernetes, which has no other order, sorts by namespace and name.
   * @throws Gone when `continue` has expired: start again from the first page
   */
  list<S, T>(kind: Kind<S, T>, options?: ListOptions): Promise<ResourceList<S, T>>;
  /** Starts with generation 1, an empty status and the given labels and finalizers. @throws Conflict when the name is taken */
  create<S, T>(kind: Kind<S, T>, resource: NewResource<S>): Promise<Resource<S, T>>;
  /**
   * Replaces spec, labels, annotations and finalizers, and the owner references if given; the generation grows if the spec differs.
   * Unknown fields that others wrote stay. Removing the last finalizer of a resource in deletion deletes it.
   * @throws Conflict, NotFound
   */
  update<S, T>(kind: Kind<S, T>, resource: Resource<S, T>): Promise<Resource<S, T>>;
  /** Replaces only the status; the generation stays. @throws Conflict, NotFound */
  updateStatus<S, T>(kind: Kind<S, T>, resource: Resource<S, T>): Promise<Resource<S, T>>;
  /**
   * Deletes the resource, or sets `deletionTimestamp` while it has finalizers; deleting twice is allowed. Resources that it owns are
   * deleted too, in Kubernetes a moment later. @throws NotFound
   */
  delete<S, T>(kind: Kind<S, T>, namespace: string, name: string): Promise<void>;
  /**
   * Yields every change after `resourceVersion`, in order, each at least once, until the signal aborts. Several changes of one
   * resource may be combined into the last one. @throws Gone when that version is no longer known: list again
   */
  watch<S, T>(kind: Kind<S, T>, resourceVersion: string, signal: AbortSignal): AsyncIterable<WatchEvent<S, T>>;
}

export interface ListOptions {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** 1 to 1,000; default 1,000, or fewer if a page of this kind would be too large. */
  readonly limit?: number;
  /** `continue` of the previous page. */
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
  /** Nothing changed up to this version: a watch can continue from it. */
  | { readonly type: "bookmark"; readonly resourceVersion: string };

/** All resources that a list returns, page by page. @throws what `list` throws */
export async function* allOf<S, T>(
  store: Pick<ResourceStore, "list">,
  kind: Kind<S, T>,
  options: Omit<ListOptions, "continue"> = {},
): AsyncIterable<Resource<S, T>> {
  let next: string | undefined;
  do {
    const page = await store.list(kind, { ...options, ...(next === undefined ? {} : { continue: next }) });
    yield* page.items;
    next = page.continue;
  } while (next !== undefined);
}
