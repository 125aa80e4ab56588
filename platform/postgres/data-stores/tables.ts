import type { ColumnType } from "kysely";

/** A store and what its owner is charged for it. Its row is locked while an operation changes it. */
export interface DataStoreTable {
  readonly id: string;
  readonly owner: string;
  /** Of the resource, in the owner's namespace. */
  readonly name: string;
  readonly entries: number;
  readonly bytes: number;
  /** Of the last change. */
  readonly version: number;
}

export interface DataStoreEntryTable {
  readonly store: string;
  readonly key: string;
  /** JSON text: `jsonb` rejects U+0000, and `json` would be parsed for nothing. */
  readonly value: string;
  /** Of key and value, UTF-8. */
  readonly bytes: number;
  readonly version: number;
  readonly updated_ms: number;
  readonly expires_ms: number | null;
}

/** Operations that were performed, so that a run that is repeated does not perform them twice. */
export interface DataStoreOperationTable {
  readonly store: string;
  readonly id: string;
  readonly at_ms: number;
  /** Of the store. */
  readonly version: number;
  readonly result: ColumnType<object, string>;
}
