import type { PageRequest } from "../../domain/page.ts";

/** The credential with which a change was made. */
export const actorKinds = ["user", "admin"] as const;

export interface AuditActor {
  /** `user`: an API key or a session; `admin`: the admin token. */
  readonly kind: (typeof actorKinds)[number];
  readonly userId?: string | undefined;
  readonly keyId?: string | undefined;
  readonly keyName?: string | undefined;
  readonly sessionId?: string | undefined;
  /** IP address of the client. */
  readonly address?: string | undefined;
}

/** Values are never part of an entry: they may be secrets. */
export interface AuditEntry {
  /** `al_…`. */
  readonly id: string;
  /** Epoch ms. */
  readonly at: number;
  /** The user or organization that owns what changed; null: the installation. */
  readonly owner: string | null;
  /** Id of the operation in the OpenAPI document. */
  readonly operation: string;
  /** `create`, `update`, `delete` or what else the operation does. */
  readonly action: string;
  readonly kind: string;
  readonly resourceId: string | null;
  readonly resourceName: string | null;
  /** Names of the fields that the request set. */
  readonly fields: readonly string[];
  /** Code of the error with which the operation failed after it had changed something. */
  readonly error: string | null;
  readonly actor: AuditActor;
}

/** `failed`: the request returned an error after it had changed something. */
export const auditOutcomes = ["ok", "failed"] as const;

/** Filters of the list; all of them apply. */
export interface AuditSelection {
  /** Undefined: of all owners. */
  readonly owner?: string | undefined;
  readonly kind?: string | undefined;
  readonly action?: string | undefined;
  /** Id of a user or a key, name of a key, or a kind of actor. */
  readonly actor?: string | undefined;
  /** Part of the resource's name, in any case. */
  readonly name?: string | undefined;
  readonly outcome?: (typeof auditOutcomes)[number] | undefined;
  readonly resourceId?: string | undefined;
  /** Both inclusive. */
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
}

export interface AuditLog {
  record(entry: AuditEntry): Promise<void>;
  /** Newest first. @throws InvalidInput for a cursor that is not in the list */
  page(selection: AuditSelection, page: PageRequest): Promise<{ readonly items: readonly AuditEntry[]; readonly total: number }>;
}
