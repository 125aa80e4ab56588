import type { Generated, GeneratedAlways } from "kysely";
import type { AuditActor } from "../../../api/audit/ports.ts";

/** A row is inserted once and never updated; upkeep deletes it when its time is over. */
export interface AuditLogTable {
  /** Orders the list. */
  readonly n: GeneratedAlways<number>;
  readonly id: string;
  readonly at_ms: number;
  /** Null: the installation. */
  readonly owner: string | null;
  readonly operation: string;
  readonly action: string;
  readonly kind: string;
  readonly resource_id: string | null;
  readonly resource_name: string | null;
  readonly fields: readonly string[];
  readonly error: Generated<string | null>;
  readonly actor: AuditActor["kind"];
  readonly user_id: string | null;
  readonly key_id: string | null;
  readonly key_name: string | null;
  readonly session_id: string | null;
  readonly address: string | null;
}
