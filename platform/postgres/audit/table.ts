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
  readonly operation: string | null;
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
  readonly field_manager: string | null;
  /** Of a change by a client of the Kubernetes API, see operator/audit/change.ts. */
  readonly change: Generated<string | null>;
  /** Identifies the write of a client within a second. */
  readonly write: Generated<string | null>;
  readonly uid: Generated<string | null>;
  /** `<kind>/<namespace>/<name>`. */
  readonly object: Generated<string | null>;
}

/** Changes that Headwater made and that managedFields do not show as its own: lists leave them out of the changes by others. */
export interface ChangeClaimsTable {
  readonly change: string;
  readonly at_ms: number;
}

/** A request that changed a resource, from the audit events of the API server. */
export interface KubernetesRequestsTable {
  /** The event's `auditID`. */
  readonly id: string;
  /** `<kind>/<namespace>/<name>`. */
  readonly object: string;
  readonly deletes: boolean;
  readonly started_ms: number;
  readonly ended_ms: number;
  readonly field_manager: string;
  readonly kubernetes_user: string;
  readonly address: string | null;
}
