/** A change of a resource by a client of the Kubernetes API other than Headwater. Without values: they may be secrets. */
export interface ObservedChange {
  /** Identifies the change: recording it again has no effect. */
  readonly change: string;
  /** Identifies the last write of a client within a second. An operator that starts knows only these; null: no client is known. */
  readonly write: string | null;
  /** Of the resource. */
  readonly uid: string;
  /** Epoch ms. */
  readonly at: number;
  readonly action: "create" | "update" | "delete";
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Public id; null until the operator has assigned it. */
  readonly resourceId: string | null;
  readonly resourceName: string;
  /** Names of the top-level fields of the spec that differ, and `labels` or `annotations`. */
  readonly fields: readonly string[];
  /** Field manager of the client; null when Kubernetes does not record it. */
  readonly fieldManager: string | null;
}

export interface OwnedChange extends ObservedChange {
  /** Null: the installation. */
  readonly owner: string | null;
}

/** A public id that was assigned after the first change of a resource. */
export interface AssignedId {
  readonly uid: string;
  readonly resourceId: string;
}

export interface ChangeLog {
  /** @throws Unavailable when the database is unreachable; repeat the call then */
  record(changes: readonly OwnedChange[]): Promise<void>;
  /** Adds the ids to changes without one. @throws Unavailable */
  assignIds(ids: readonly AssignedId[]): Promise<void>;
}
