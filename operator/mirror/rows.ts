import type { Kind, Resource } from "../../crds/resource.ts";

/** One version of a resource, as the mirror stores it. */
export interface Mirrored {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** The mirror table. A write older than the stored version, or of an ended resource, has no effect. */
export interface MirrorRows {
  /** Each resource at most once. @throws Unavailable when the database is unreachable; nothing may have been written then */
  write(present: readonly Resource[], gone: readonly Mirrored[]): Promise<void>;
  /** Stored versions of a kind, by `namespace/name`. */
  known(kind: Kind): Promise<ReadonlyMap<string, Mirrored>>;
  /** Drops all rows of a kind, including ended resources: the cluster has restarted its versions. */
  forget(kind: Kind): Promise<void>;
}
