import type { Generated, JSONColumnType } from "kysely";

/** A version of a component that an admin published. */
export interface PublicationTable {
  readonly key: string;
  readonly version: string;
  /** Public id. */
  readonly id: string;
  /** SHA-256 of all of its code, lower-case hex. */
  readonly identity: string;
  /** `{code, entry, files}`; null: deleted. */
  readonly code: JSONColumnType<object> | null;
  readonly code_bytes: number;
  /** `{definition, codeHash, updatedAt}`, readable by SQL. */
  readonly component: JSONColumnType<object>;
  readonly component_bytes: number;
  readonly published_ms: number;
  readonly deprecated: string | null;
  /** Whether the key stands for this version. */
  readonly is_current: Generated<boolean>;
}
