import type { Generated, GeneratedAlways, JSONColumnType } from "kysely";
import type { MemberRole, Plan } from "../../api/owners/ports.ts";
import type { Scope } from "../../api/http/ports.ts";
import type { OwnerReference } from "../../crds/resource.ts";
import type { InvitationTable } from "./accounts/invitation-table.ts";
import type { OrganizationTable, UserTable } from "./accounts/owner-tables.ts";
import type { AuditLogTable } from "./audit/table.ts";
import type { ConnectionTable } from "./connections/table.ts";
import type { DataStoreEntryTable, DataStoreOperationTable, DataStoreTable } from "./data-stores/tables.ts";
import type { OwnerNamespaceTable } from "./namespaces/table.ts";
import type { PublicationTable } from "./publications/table.ts";
import type { EmailConfirmationTable, ErrorMailTable, MailCountTable } from "./mail/tables.ts";
import type { MeasureTable } from "./measures/table.ts";
import type { AttemptTable, DeadLetterTable, FailingEndpointTable } from "./history/delivery-tables.ts";
import type { DiskSampleTable } from "./storage/table.ts";
import type { WorkflowRunTable, WorkflowStepTable } from "./history/workflows/tables.ts";

/** The schema after all migrations; maintained by hand, checked by the integration tests. Names ending in `_ms` are epoch milliseconds. */
export interface Tables {
  readonly resource_head: ResourceHeadTable;
  readonly resources: ResourceTable;
  readonly resource_counts: ResourceCountTable;
  readonly resource_tombstones: ResourceTombstoneTable;
  readonly users: UserTable;
  readonly organizations: OrganizationTable;
  readonly memberships: MembershipTable;
  readonly invitations: InvitationTable;
  readonly api_keys: ApiKeyTable;
  readonly console_sessions: ConsoleSessionTable;
  readonly plans: PlanTable;
  readonly owner_plans: OwnerPlanTable;
  readonly recorder_positions: RecorderPositionTable;
  readonly recorder_partitions: RecorderPartitionTable;
  readonly ended_sources: EndedSourceTable;
  readonly usage: UsageTable;
  readonly events: EventTable;
  readonly scheduled_events: ScheduledEventTable;
  readonly event_deletions: EventDeletionTable;
  readonly runs: RunTable;
  readonly logs: LogTable;
  readonly ticks: TickTable;
  readonly workflow_runs: WorkflowRunTable;
  readonly workflow_steps: WorkflowStepTable;
  readonly measures: MeasureTable;
  readonly error_mails: ErrorMailTable;
  readonly mail_counts: MailCountTable;
  readonly email_confirmations: EmailConfirmationTable;
  readonly attempts: AttemptTable;
  readonly dead_letters: DeadLetterTable;
  readonly failing_endpoints: FailingEndpointTable;
  readonly audit_log: AuditLogTable;
  /** Written by earlier versions only, like the next. */
  readonly change_claims: { readonly change: string; readonly at_ms: number };
  readonly kubernetes_requests: { readonly id: string; readonly started_ms: number };
  readonly publications: PublicationTable;
  readonly owner_namespaces: OwnerNamespaceTable;
  readonly connections: ConnectionTable;
  readonly disk_samples: DiskSampleTable;
  readonly data_stores: DataStoreTable;
  readonly data_store_entries: DataStoreEntryTable;
  readonly data_store_operations: DataStoreOperationTable;
}

/** One row. Every write to a resource takes its version here and locks the row until it commits. */
export interface ResourceHeadTable {
  readonly version: number;
  /** Changes up to this version may be missing from the tombstones. */
  readonly pruned_version: number;
}

/** `json`, not `jsonb`: jsonb rejects U+0000, which user code and error messages may contain. */
export interface ResourceTable {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resource_version: number;
  /** Version at creation; orders lists. */
  readonly created_version: number;
  readonly generation: number;
  readonly created_at: Date;
  readonly deletion_timestamp: Date | null;
  readonly finalizers: readonly string[];
  readonly labels: JSONColumnType<Record<string, string>>;
  readonly annotations: JSONColumnType<Record<string, string>>;
  readonly owner_references: JSONColumnType<readonly OwnerReference[]> | null;
  readonly spec: JSONColumnType<object>;
  readonly status: JSONColumnType<object>;
  /** `resourceVersion` of a mirrored resource in the Kubernetes API; null where Postgres is the store. */
  readonly mirrored_version: string | null;
  /** `nameSlug` of the status, which SQL cannot read from a `json` that may hold U+0000. */
  readonly name_slug: string | null;
  /** For built components: `{definition, codeHash, updatedAt}`, readable by SQL. */
  readonly component: JSONColumnType<object> | null;
  /** For sources: fields that lists filter by. Written by triggers only. */
  readonly source_facts: JSONColumnType<object> | null;
  /** For sources, webhooks and workflows: what lists filter by. The next two are what they are sorted by. Written by triggers only. */
  readonly list_facts: JSONColumnType<object> | null;
  readonly list_name: Generated<string>;
  readonly list_updated_ms: Generated<number>;
  /** When a mirrored resource ended. Its row stays for a while so that late writes cannot restore it. Lists omit it. */
  readonly ended_at: Date | null;
  readonly public_id: GeneratedAlways<string | null>;
  readonly owner: GeneratedAlways<string | null>;
  readonly code_hash: GeneratedAlways<string | null>;
  readonly component_key: GeneratedAlways<string | null>;
}

/** Number of visible resources. Written by triggers only. */
export interface ResourceCountTable {
  readonly kind: string;
  readonly namespace: string;
  readonly n: number;
}

/** Last state of a deleted resource; `resource_version` is that of the deletion. */
export interface ResourceTombstoneTable extends Omit<
  ResourceTable,
  | "name_slug"
  | "component"
  | "source_facts"
  | "list_facts"
  | "list_name"
  | "list_updated_ms"
  | "ended_at"
  | "owner"
  | "code_hash"
  | "component_key"
> {
  readonly deleted_at: Generated<Date>;
}

export interface MembershipTable {
  readonly organization_id: string;
  readonly user_id: string;
  readonly role: Generated<MemberRole>;
}

export interface ConsoleSessionTable {
  /** SHA-256 of the token in the cookie or link, lower-case hex. */
  readonly token_hash: string;
  readonly key_hash: string;
  readonly is_link: boolean;
  readonly expires_at: Date;
}

export interface ApiKeyTable {
  /** SHA-256, lower-case hex: the key itself is not stored. */
  readonly key_hash: string;
  readonly user_id: string;
  /** The first characters, so that users can distinguish keys. */
  readonly prefix: string;
  readonly name: string;
  readonly created_at: Generated<Date>;
  readonly last_used_at: Date | null;
  readonly revoked_at: Date | null;
  /** Public id of the key. */
  readonly id: Generated<string>;
  readonly scopes: Generated<readonly Scope[]>;
  readonly expires_at: Date | null;
}

/** Null: unlimited. */
export interface PlanTable {
  readonly name: string;
  readonly form: Plan["form"];
  readonly daily_invocations: number | null;
  readonly daily_compute_ms: number | null;
  readonly weight: Generated<number>;
  readonly max_organizations: Generated<number>;
}

export interface OwnerPlanTable {
  readonly owner: string;
  readonly plan: string;
}

/** Position recorded by an earlier version, for all partitions together. */
export interface RecorderPositionTable {
  readonly stream: string;
  readonly seq: number;
}

export interface RecorderPartitionTable {
  readonly stream: string;
  readonly partition: number;
  readonly seq: number;
}

export interface EndedSourceTable {
  readonly source: string;
  readonly ended_at: Generated<Date>;
}

export interface UsageTable {
  readonly owner: string;
  /** Midnight UTC. */
  readonly day_ms: number;
  readonly runs: number;
  readonly compute_ms: number;
  readonly events: Generated<number>;
  /** Deliveries to webhooks that succeeded. */
  readonly deliveries: Generated<number>;
}

/** Payloads and records are JSON stored as text, so that they can be passed on without decoding. */
export interface EventTable {
  readonly source: string;
  /** The two numbers of the event id. */
  readonly ms: number;
  readonly seq: number;
  readonly emit_id: string;
  readonly channel: string;
  readonly dedupe_id: string | null;
  readonly summary: string | null;
  readonly ts: number;
  readonly payload: string;
  readonly run: string;
  /** Null: an earlier version wrote the row, and it was not filled in yet; "": unknown. */
  readonly owner: string | null;
}

/** An event to be emitted when it is due. */
export interface ScheduledEventTable extends Omit<EventTable, "owner"> {
  readonly due_ms: number;
}

/** Deletion of a range of a source's events. */
export interface EventDeletionTable {
  readonly n: GeneratedAlways<number>;
  readonly source: string;
  /** The requested start; null: from the first. */
  readonly start_ms: number | null;
  readonly start_seq: number | null;
  /** The last event to delete; null: there was none. */
  readonly end_ms: number | null;
  readonly end_seq: number | null;
  /** Null: all channels. */
  readonly channel: string | null;
  /** Everything before this event is processed. */
  readonly next_ms: number;
  readonly next_seq: number;
  readonly deleted: Generated<number>;
  readonly created_at: Generated<Date>;
  readonly finished_at: Date | null;
}

export interface RunTable {
  readonly source: string;
  readonly id: string;
  /** Order of recording. */
  readonly n: GeneratedAlways<number>;
  readonly owner: string;
  readonly deployment: string;
  readonly started_ms: number;
  readonly failed: boolean;
  /** JSON of the run from its commit, with `eventIds`, `error` and `traceId`, without logs. */
  readonly summary: string;
  /** The emitted event that started it; null for other triggers. */
  readonly cause_emitter: string | null;
  readonly cause_emit_id: string | null;
}

export interface LogTable {
  readonly source: string;
  readonly n: GeneratedAlways<number>;
  readonly run: string;
  readonly record: string;
  /** Index among the lines of its run; null if recorded by an earlier version. */
  readonly place: number | null;
  /** As of an event; `at_ms` is null with it. */
  readonly owner: string | null;
  readonly at_ms: number | null;
}

export interface TickTable {
  readonly source: string;
  readonly due_ms: number;
  readonly n: GeneratedAlways<number>;
  /** The run started by this tick; null: it was skipped. */
  readonly run: string | null;
  readonly started_ms: number | null;
  /** Why it was skipped; null: an earlier tick was unfinished. */
  readonly reason: string | null;
}
