import type { JSONColumnType } from "kysely";

/** A request to connect an account. Names ending in `_ms` are epoch milliseconds. */
export interface ConnectionTable {
  readonly id: string;
  readonly owner: string;
  readonly user_id: string;
  readonly session: string | null;
  readonly state_hash: string;
  readonly request: JSONColumnType<object>;
  readonly verifier: string | null;
  readonly outcome: JSONColumnType<object> | null;
  readonly is_used: boolean;
  readonly created_ms: number;
  readonly expires_ms: number;
}
