import type { Kind, Resource } from "../../crds/resource.ts";

/** One state of a resource, by name: what the mirror has, or what has ended. */
export interface Mirrored {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** The table of the mirror. It never goes back: an older state than it has, or one of what has ended, changes nothing. */
export interface MirrorRows {
  /** Each resource once. @throws Unavailable when the database cannot be reached: then nothing may have been written */
  write(present: readonly Resource[], gone: readonly Mirrored[]): Promise<void>;
  /** What it has of a kind, by `namespace/name`. */
  known(kind: Kind): Promise<ReadonlyMap<string, Mirrored>>;
  /** Forgets all of a kind, what ended included: for a cluster that counts its versions anew. */
  forget(kind: Kind): Promise<void>;
}
