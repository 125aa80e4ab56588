// Written by `npm run generate` from the operations of api/. Changes go there.

export type AdminPageInfo = {
  /** Number of items in the whole list. */ readonly total_count: number;
  /** Number of items on this page. */ readonly count: number;
  /** `before` for the previous page. */ readonly start_cursor: string | null;
  /** `after` for the next page. */ readonly end_cursor: string | null;
  /** Number of items that this page omits because they are being deleted. */ readonly excluded_count: number;
};

export type AdminUser = {
  /** `u_…`. */ readonly id: string;
  readonly username: string;
  readonly email: string;
  readonly email_confirmed: boolean;
  /** Name of a plan. */ readonly plan: string;
  /** Epoch seconds. */ readonly created_at: number;
};

export type AdminWarning = {
  /** For programs: stable, snake_case. */ readonly code: string;
  /** What was found, and how to fix it. */ readonly message: string;
  /** A field of the request, or a path in the component's definition, such as `props.count.default`. */ readonly path: string;
};

export type AdminError = {
  /** For people: what failed, with which value, and what would be valid. */ readonly error: string;
  /** For programs: stable, snake_case. */ readonly code: string;
  /** More about the error, depending on its code: fields, props, lines. */ readonly details?: unknown;
  /** With the code observation_error: the errors of hooks. */ readonly observations?: readonly (AdminObservation)[] | undefined;
};

export type AdminObservation = {
  readonly k: "error";
  /** The hook that failed. */ readonly h: "deploy" | "activate" | "deactivate";
  /** Epoch milliseconds. */ readonly ts: number;
  readonly err: AdminThrown;
};

export type AdminThrown = {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
  /** Code of the limit or rule that ended the run. */ readonly code?: string | undefined;
};

export type Ending = {
  /** `u_…` or `o_…`. */ readonly id: string;
  /** Nothing is left: the user, or an organization without members, can be deleted. */ readonly ended: boolean;
  /** By owner and kind. */ readonly remaining: readonly ({
    /** The user, or an organization of which the user is the only member. */ readonly owner_id: string;
    readonly kind: string;
    /** How many are still being deleted; of at most 1,000. */ readonly count: number;
  })[];
};

export type AdminKey = {
  /** `pk_…`. */ readonly id: string;
  readonly name: string;
  /** The first characters of the key. */ readonly prefix: string;
  readonly scopes: readonly ("read" | "write")[];
  /** Epoch seconds. */ readonly created_at: number;
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
};

export type AdminCreatedKey = {
  /** `pk_…`. */ readonly id: string;
  readonly name: string;
  /** The first characters of the key. */ readonly prefix: string;
  readonly scopes: readonly ("read" | "write")[];
  /** Epoch seconds. */ readonly created_at: number;
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
  /** `hw_…`, only in this response. */ readonly key: string;
};

export type Plan = {
  readonly name: string;
  readonly form: "free" | "paid";
  /** Null: no limit. */ readonly daily_invocations_quota: number | null;
  /** Milliseconds; null: no limit. */ readonly daily_compute_time_quota: number | null;
  /** 1 to 100: the share of queued runs that its owners get, relative to weight 1. */ readonly weight: number;
  /** Maximum organizations that one user can create. */ readonly max_organizations: number;
};

export type AdminOrganization = {
  /** `o_…`. */ readonly id: string;
  readonly name: string;
  readonly orgname: string;
  readonly email: string;
  readonly email_confirmed: boolean;
  /** Name of a plan. */ readonly plan: string;
  /** Epoch seconds. */ readonly created_at: number;
};

export type AdminMember = {
  /** `u_…`. */ readonly user_id: string;
  readonly username: string;
  readonly role: "admin" | "member";
  readonly email: string;
};

export type AdminNamespace = {
  readonly name: string;
  /** `u_…` or `o_…`. */ readonly owner: string;
  /** Null: not confirmed, so nothing of the owner is written to it and its resources wait. */ readonly confirmed_at: number | null;
  /** Whether its label `headwater.dev/owner` names the owner. */ readonly labelled: boolean;
  /** Whether it is the namespace of the owner's resources. An owner has one. */ readonly in_use: boolean;
};

export type AdminPublishedComponent = {
  /** `sc_…`. */ readonly id: string;
  readonly code: string;
  /** Path of the file with the code, if it has one. */ readonly entry: string | null;
  /** Paths of the other files. */ readonly files: readonly (string)[];
  /** SHA-256 of the code, hex. */ readonly code_hash: string;
  readonly name: string | null;
  readonly version: string | null;
  readonly configurable_props: readonly (AdminProp)[];
  /** Of a component that came from npm; otherwise null. */ readonly origin: {
    /** As it was requested. */ readonly url: string;
    readonly package: string;
    /** The version that was found, which stays until you save it again. */ readonly version: string;
    /** Hash of its tarball, which pins it. */ readonly integrity: string;
  } | null;
  /** Epoch seconds. */ readonly created_at: number;
  /** Epoch seconds. */ readonly updated_at: number;
  readonly key: string;
  /** Why this version is deprecated, and what to use instead; null: it is not. */ readonly deprecated: string | null;
};

export type AdminProp = {
  readonly name: string;
  readonly type: string;
};

export type AdminVariable = {
  /** Steps read it as `{{ env.NAME }}`, inline code as `process.env.NAME`. */ readonly name: string;
  /** Null if it is secret. */ readonly value: string | null;
  readonly secret: boolean;
  /** `own`: of the owner; `shared`: of the installation, for all owners. An own one of the same name counts. */ readonly origin: "own" | "shared";
  /** Whether runs read it. Null until that is known. */ readonly healthy: boolean | null;
  /** Why runs do not read it. */ readonly problem: string | null;
  /** ISO 8601, UTC. */ readonly updated_at: string;
};

export type AdminAuditEntry = {
  /** `al_…`. */ readonly id: string;
  /** Epoch seconds. */ readonly at: number;
  /** The user or organization that owns what changed. */ readonly owner_id: string | null;
  /** `operationId` in this document. */ readonly operation: string;
  /** `create`, `update`, `delete`, or another verb such as `run`. */ readonly action: string;
  /** Such as `Source`, `Account`, `ApiKey` or `Member`. */ readonly kind: string;
  readonly resource_id: string | null;
  readonly resource_name: string | null;
  /** Names of the fields that the request set. Values are not recorded. */ readonly fields: readonly (string)[];
  /** Code of the error that the request returned although something changed. */ readonly error: string | null;
  readonly actor: AdminAuditActor;
};

export type AdminAuditActor = {
  /** `user`: with an API key or a session; `admin`: with the admin token. */ readonly kind: "user" | "admin";
  /** `u_…`. */ readonly user_id: string | null;
  /** `pk_…`. */ readonly key_id: string | null;
  readonly key_name: string | null;
  /** Of the web console. */ readonly session_id: string | null;
  /** IP address of the client. */ readonly address: string | null;
};

export type InstallationStatus = {
  /** Version of Headwater. */ readonly version: string;
  readonly nats_version: string;
  /** Every check is `ok`. */ readonly ready: boolean;
  /** `ok`, or what is missing, by name. */ readonly checks: Readonly<Record<string, string>>;
  /** What needs an operator now; by limits of the alerts, which wait until they last. */ readonly problems: readonly ({
    /** Such as `stream_full`. */ readonly code: string;
    readonly message: string;
    /** The section of docs/runbooks.md that says what to check and what to do. */ readonly runbook: string;
  })[];
  /** How far delivery and the recorder are behind; null: it cannot be read. */ readonly lag: {
    /** When the oldest invocation was accepted whose run has not ended, epoch milliseconds; null: there is none. */ readonly oldest_invocation_at: number | null;
    /** Commits whose events are not all routed. */ readonly unrouted: number;
    /** Deliveries that are due. */ readonly due: number;
    /** Deliveries whose next attempt is later. */ readonly scheduled: number;
    /** Deliveries queued for ordered webhooks. */ readonly ordered: number;
    /** Commits that are not in Postgres: lists do not show them yet. */ readonly unrecorded: number;
  } | null;
  /** Accepted invocations that are not finished. */ readonly backlog: number;
  readonly streams: readonly ({
    readonly name: string;
    readonly messages: number;
    readonly bytes: number;
    /** The stream refuses messages above it; null: no limit. */ readonly max_bytes: number | null;
    /** `max_bytes`, or the share of the store that is intended for a stream without a limit; null: neither. */ readonly limit_bytes: number | null;
    /** NATS servers that store it. */ readonly replicas: number;
  })[];
  /** Runner pools with live runners. */ readonly pools: readonly ({
    readonly name: string;
    readonly runners: readonly ({
      readonly id: string;
      /** Share of its memory limit in use, 0 to 1; null without a limit. */ readonly memory_share: number | null;
      /** Sources whose backlog is full: they accept no more invocations. */ readonly full_sources: number;
    })[];
  })[];
  /** Live replicas of the delivery role. */ readonly deliveries: readonly ({
    readonly id: string;
    /** Partitions whose events it routes. */ readonly partitions: readonly (number)[];
  })[];
};

export type StorageUse = {
  /** Of the stream; buckets and the object store are streams too. `postgres`: the database. */ readonly name: string;
  readonly kind: "stream" | "database";
  readonly bytes: number;
  /** Its limit or intended share; of the database, its size with the free bytes of its disk. Null: none, or unknown. */ readonly limit_bytes: number | null;
  /** `steady`: it does not grow. `unknown`: there are too few samples, of less than six hours. */ readonly forecast: "unknown" | "steady" | "growing";
  /** Of `growing`: how much it grows. */ readonly bytes_per_day: number | null;
  /** Of `growing`: when it reaches the limit if it grows as in the samples, epoch milliseconds. Null: not within a year. */ readonly full_at: number | null;
};

export type AdminMetrics = {
  /** The source, workflow, webhook, user or organization; `installation`: all owners. */ readonly id: string;
  readonly step: "minute" | "5_minutes" | "15_minutes" | "hour" | "day";
  /** Length of a step in milliseconds. */ readonly step_ms: number;
  /** Start of the first step, epoch milliseconds. */ readonly from_ms: number;
  /** End of the last step, epoch milliseconds. */ readonly to_ms: number;
  readonly total: AdminMeasured;
  /** One for each step, in order, also for those in which nothing happened. */ readonly points: readonly (AdminMetricsPoint)[];
};

export type AdminMeasured = {
  /** Runs that ended. */ readonly runs: number;
  /** Runs that failed. */ readonly errors: number;
  /** Emitted events. */ readonly events: number;
  /** Milliseconds in which code ran. */ readonly compute_ms: number;
  /** Milliseconds; null: none. Median duration of runs; of a webhook, of attempts. Within 19 %. */ readonly p50_ms: number | null;
  /** Milliseconds; null: none. The duration that 95 % do not exceed. Within 19 %. */ readonly p95_ms: number | null;
  /** Milliseconds; null: none. The longest duration. */ readonly max_ms: number | null;
  /** Milliseconds; null: none. Mean time from the acceptance of an invocation to the start of its run. */ readonly wait_avg_ms: number | null;
  /** Milliseconds; null: none. The longest of these times. */ readonly wait_max_ms: number | null;
  /** Attempts at webhooks, and of what runs of workflows send. */ readonly attempts: number;
  /** Attempts that failed. */ readonly failed_attempts: number;
  /** Deliveries that succeeded. */ readonly deliveries: number;
  /** Deliveries whose last attempt failed. */ readonly dead_letters: number;
};

export type AdminMetricsPoint = {
  /** Start of the step, epoch milliseconds. */ readonly at_ms: number;
  /** Runs that ended. */ readonly runs: number;
  /** Runs that failed. */ readonly errors: number;
  /** Emitted events. */ readonly events: number;
  /** Milliseconds in which code ran. */ readonly compute_ms: number;
  /** Milliseconds; null: none. Median duration of runs; of a webhook, of attempts. Within 19 %. */ readonly p50_ms: number | null;
  /** Milliseconds; null: none. The duration that 95 % do not exceed. Within 19 %. */ readonly p95_ms: number | null;
  /** Milliseconds; null: none. The longest duration. */ readonly max_ms: number | null;
  /** Milliseconds; null: none. Mean time from the acceptance of an invocation to the start of its run. */ readonly wait_avg_ms: number | null;
  /** Milliseconds; null: none. The longest of these times. */ readonly wait_max_ms: number | null;
  /** Attempts at webhooks, and of what runs of workflows send. */ readonly attempts: number;
  /** Attempts that failed. */ readonly failed_attempts: number;
  /** Deliveries that succeeded. */ readonly deliveries: number;
  /** Deliveries whose last attempt failed. */ readonly dead_letters: number;
};

export type OwnerSettings = {
  /** Whether mails about errors of its workflows and sources go to its address. */ readonly error_mails: boolean;
};

export type WorkflowStepFields = {
  /** Id of a saved component, `sc_…`. */ readonly component_id?: string | null | undefined;
  /** Code of the component; together with component_files, its entry. */ readonly component_code?: string | null | undefined;
  /** Address of the code, also `npm:<package>@<version>/<file>` or `npm:<package>@<version>#action/<name>`; together with code, only its origin. */ readonly component_url?: string | null | undefined;
  /** Texts of the files by path. */ readonly component_files?: Readonly<Record<string, string>> | null | undefined;
  /** Path of the file that exports the component; optional with a single file. */ readonly component_entry?: string | null | undefined;
  /** The same as component_key. */ readonly key?: string | null | undefined;
  /** Of a step that is renamed: its id, `c_…`. */ readonly id?: string | null | undefined;
  /** Later steps and expressions read its exports as `steps.<name>`. */ readonly name: string;
  /** Key of a component: of yours, otherwise of the registry. */ readonly component_key?: string | null | undefined;
  /** Values by name of the prop. Texts may have expressions: `{{ steps.trigger.event.body }}`. */ readonly props?: Readonly<Record<string, unknown>> | null | undefined;
  /** The same as props. */ readonly configured_props?: Readonly<Record<string, unknown>> | null | undefined;
  /** True: a failure does not end the run. */ readonly continue_on_error?: boolean | null | undefined;
  /** Number of attempts after the first one has failed. */ readonly retries?: number | null | undefined;
  /** Time of one attempt. */ readonly timeout_ms?: number | null | undefined;
  /** Runs `then` if this expression is true, such as `{{ steps.order.total > 100 }}`. */ readonly if?: string | null | undefined;
  /** Of `if`. */ readonly then?: readonly (WorkflowStepFields)[] | null | undefined;
  /** Of `if`: further conditions, in order. */ readonly else_if?: readonly ({
    readonly if: string;
    readonly then: readonly (WorkflowStepFields)[];
  })[] | null | undefined;
  /** Of `if`: if no condition is true. */ readonly else?: readonly (WorkflowStepFields)[] | null | undefined;
  /** Runs the first of `cases` that fits the value of this expression. */ readonly switch?: string | null | undefined;
  /** Of `switch`: each has `equals`, a value, or `when`, an expression. */ readonly cases?: readonly ({
    readonly equals?: unknown;
    readonly when?: string | null | undefined;
    readonly steps: readonly (WorkflowStepFields)[];
  })[] | null | undefined;
  /** Of `switch`: if no case fits. */ readonly default?: readonly (WorkflowStepFields)[] | null | undefined;
  /** Runs `steps` for each item of the list that this expression gives, in order. */ readonly for_each?: string | null | undefined;
  /** Of `for_each`: how many items are under way at a time. Default: 1. */ readonly concurrency?: number | null | undefined;
  /** Of `for_each`: its steps read `steps.<as>.item` and `steps.<as>.index`. Default: `item`. */ readonly as?: string | null | undefined;
  /** Of `for_each`: a longer list is an error. Default: 1,000. */ readonly max_items?: number | null | undefined;
  /** Of `for_each`: `continue`: an item that fails is a result with `$error`. */ readonly on_error?: "stop" | "continue" | null | undefined;
  /** Lists of steps that run side by side; the run goes on when all have ended. */ readonly parallel?: readonly (readonly (WorkflowStepFields)[])[] | null | undefined;
  /** Runs `steps` as long as this expression is true. */ readonly while?: string | null | undefined;
  /** Of `while`: more rounds are an error. Default: 1,000. */ readonly max_iterations?: number | null | undefined;
  /** Of `for_each` and `while`. */ readonly steps?: readonly (WorkflowStepFields)[] | null | undefined;
  /** Steps whose failure `catch` or `finally` handles. */ readonly try?: readonly (WorkflowStepFields)[] | null | undefined;
  /** Of `try`: after a failure, `steps.<name>.$error`. */ readonly catch?: readonly (WorkflowStepFields)[] | null | undefined;
  /** Of `try`: in any case, at last. */ readonly finally?: readonly (WorkflowStepFields)[] | null | undefined;
  /** Runs another workflow of the owner, by id or name; the step returns what its last step returned. */ readonly workflow?: string | null | undefined;
  /** Of `workflow`: the event of its run, a JSON value with expressions. Default: `{}`. */ readonly event?: unknown;
  /** Of `workflow`: false: the run goes on at once, and the step returns null. Default: true. */ readonly wait?: boolean | null | undefined;
  /** Ends the run as `exited`, with this reason, which may contain expressions. */ readonly stop?: string | null | undefined;
};

export type User = {
  /** `u_…`. */ readonly id: string;
  readonly username: string;
  readonly email: string;
  /** False: only the mail with the link that confirms it goes to the address. */ readonly email_confirmed: boolean;
  readonly orgs: readonly (Organization)[];
  /** Milliseconds. */ readonly daily_compute_time_quota?: number | undefined;
  /** Milliseconds since midnight UTC. */ readonly daily_compute_time_used?: number | undefined;
  readonly daily_invocations_quota?: number | undefined;
  readonly daily_invocations_used?: number | undefined;
  /** Epoch seconds. */ readonly billing_period_start_ts?: number | undefined;
  /** Epoch seconds. */ readonly billing_period_end_ts?: number | undefined;
  readonly billing_period_invocations?: number | undefined;
  /** Epoch seconds. Present while a daily quota is used up: until then, new work waits, and runs afterwards. */ readonly quota_exceeded_until?: number | undefined;
};

export type Organization = {
  readonly name: string;
  /** `o_…`. */ readonly id: string;
  readonly orgname: string;
  readonly email: string;
  /** False: only the mail with the link that confirms it goes to the address. */ readonly email_confirmed: boolean;
  /** Epoch seconds. Present while a daily quota is used up: until then, new work waits, and runs afterwards. */ readonly quota_exceeded_until?: number | undefined;
};

export type Warning = {
  /** For programs: stable, snake_case. */ readonly code: string;
  /** What was found, and how to fix it. */ readonly message: string;
  /** A field of the request, or a path in the component's definition, such as `props.count.default`. */ readonly path: string;
};

export type Error = {
  /** For people: what failed, with which value, and what would be valid. */ readonly error: string;
  /** For programs: stable, snake_case. */ readonly code: string;
  /** More about the error, depending on its code: fields, props, lines. */ readonly details?: unknown;
  /** With the code observation_error: the errors of hooks. */ readonly observations?: readonly (Observation)[] | undefined;
};

export type Observation = {
  readonly k: "error";
  /** The hook that failed. */ readonly h: "deploy" | "activate" | "deactivate";
  /** Epoch milliseconds. */ readonly ts: number;
  readonly err: Thrown;
};

export type Thrown = {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
  /** Code of the limit or rule that ended the run. */ readonly code?: string | undefined;
};

export type Usage = {
  /** The user or organization. */ readonly owner_id: string;
  /** Name of the plan. */ readonly plan: string;
  /** Epoch seconds: midnight UTC, when the day began. */ readonly period_start_ts: number;
  /** Epoch seconds: the next midnight UTC, when usage starts again at 0. */ readonly reset_ts: number;
  readonly invocations: {
    /** Runs that started today. */ readonly used: number;
    /** Runs a day; null: unlimited. */ readonly quota: number | null;
  };
  readonly run_time_ms: {
    /** Milliseconds that these runs took. */ readonly used: number;
    /** Milliseconds a day; null: unlimited. */ readonly quota: number | null;
  };
  readonly events: {
    /** Events emitted today. */ readonly used: number;
  };
  readonly deliveries: {
    /** Deliveries to webhooks that succeeded today. */ readonly used: number;
  };
  /** Epoch seconds until which new work waits; null: no quota is used up. */ readonly quota_exceeded_until: number | null;
};

export type EmailConfirmation = {
  readonly email: string;
  /** False: only the mail with the link that confirms it goes to the address. */ readonly email_confirmed: boolean;
};

export type Key = {
  /** `pk_…`. */ readonly id: string;
  readonly name: string;
  /** The first characters of the key. */ readonly prefix: string;
  readonly scopes: readonly ("read" | "write")[];
  /** Epoch seconds. */ readonly created_at: number;
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
};

export type CreatedKey = {
  /** `pk_…`. */ readonly id: string;
  readonly name: string;
  /** The first characters of the key. */ readonly prefix: string;
  readonly scopes: readonly ("read" | "write")[];
  /** Epoch seconds. */ readonly created_at: number;
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
  /** `hw_…`, only in this response. */ readonly key: string;
};

export type Member = {
  /** `u_…`. */ readonly user_id: string;
  readonly username: string;
  readonly role: "admin" | "member";
};

export type Invitation = {
  /** `inv_…`. */ readonly id: string;
  /** `o_…`. */ readonly org_id: string;
  readonly org_name: string;
  /** The user as invited: one of `user_id`, `username` and `email`; the others are null. */ readonly user_id: string | null;
  readonly username: string | null;
  readonly email: string | null;
  readonly role: "admin" | "member";
  /** Epoch seconds. */ readonly created_at: number;
  /** Epoch seconds. */ readonly expires_at: number;
};

export type Namespace = {
  readonly name: string;
  /** `u_…` or `o_…`. */ readonly owner: string;
  /** Null: not confirmed, so nothing of the owner is written to it and its resources wait. */ readonly confirmed_at: number | null;
  /** Whether its label `headwater.dev/owner` names the owner. */ readonly labelled: boolean;
  /** Whether it is the namespace of the owner's resources. An owner has one. */ readonly in_use: boolean;
};

export type PageInfo = {
  /** Number of items in the whole list. */ readonly total_count: number;
  /** Number of items on this page. */ readonly count: number;
  /** `before` for the previous page. */ readonly start_cursor: string | null;
  /** `after` for the next page. */ readonly end_cursor: string | null;
  /** Number of items that this page omits because they are being deleted. */ readonly excluded_count: number;
};

export type AuditEntry = {
  /** `al_…`. */ readonly id: string;
  /** Epoch seconds. */ readonly at: number;
  /** The user or organization that owns what changed. */ readonly owner_id: string | null;
  /** `operationId` in this document. */ readonly operation: string;
  /** `create`, `update`, `delete`, or another verb such as `run`. */ readonly action: string;
  /** Such as `Source`, `Account`, `ApiKey` or `Member`. */ readonly kind: string;
  readonly resource_id: string | null;
  readonly resource_name: string | null;
  /** Names of the fields that the request set. Values are not recorded. */ readonly fields: readonly (string)[];
  /** Code of the error that the request returned although something changed. */ readonly error: string | null;
  readonly actor: AuditActor;
};

export type AuditActor = {
  /** `user`: with an API key or a session; `admin`: with the admin token. */ readonly kind: "user" | "admin";
  /** `u_…`. */ readonly user_id: string | null;
  /** `pk_…`. */ readonly key_id: string | null;
  readonly key_name: string | null;
  /** Of the web console. */ readonly session_id: string | null;
  /** IP address of the client. */ readonly address: string | null;
};

export type ListedComponent = {
  /** `sc_…`. */ readonly id: string;
  readonly key: string | null;
  /** SHA-256 of the code, hex. */ readonly code_hash: string;
  readonly name: string;
  readonly version: string | null;
  readonly description: string | null;
  readonly type: "source" | "action";
  readonly configurable_props: readonly (Prop)[];
  /** Whether it is part of the registry. */ readonly registry: boolean;
  /** Epoch seconds. */ readonly created_at: number;
  /** Epoch seconds. */ readonly updated_at: number;
};

export type Prop = {
  readonly name: string;
  readonly type: string;
};

export type Component = {
  /** `sc_…`. */ readonly id: string;
  readonly code: string;
  /** Path of the file with the code, if it has one. */ readonly entry: string | null;
  /** Paths of the other files. */ readonly files: readonly (string)[];
  /** SHA-256 of the code, hex. */ readonly code_hash: string;
  readonly name: string | null;
  readonly version: string | null;
  readonly configurable_props: readonly (Prop)[];
  /** Of a component that came from npm; otherwise null. */ readonly origin: {
    /** As it was requested. */ readonly url: string;
    readonly package: string;
    /** The version that was found, which stays until you save it again. */ readonly version: string;
    /** Hash of its tarball, which pins it. */ readonly integrity: string;
  } | null;
  /** Epoch seconds. */ readonly created_at: number;
  /** Epoch seconds. */ readonly updated_at: number;
};

export type FoundKeys = {
  readonly sources: readonly (string)[];
  readonly actions: readonly (string)[];
};

export type PublishedComponent = {
  /** `sc_…`. */ readonly id: string;
  readonly code: string;
  /** Path of the file with the code, if it has one. */ readonly entry: string | null;
  /** Paths of the other files. */ readonly files: readonly (string)[];
  /** SHA-256 of the code, hex. */ readonly code_hash: string;
  readonly name: string | null;
  readonly version: string | null;
  readonly configurable_props: readonly (Prop)[];
  /** Of a component that came from npm; otherwise null. */ readonly origin: {
    /** As it was requested. */ readonly url: string;
    readonly package: string;
    /** The version that was found, which stays until you save it again. */ readonly version: string;
    /** Hash of its tarball, which pins it. */ readonly integrity: string;
  } | null;
  /** Epoch seconds. */ readonly created_at: number;
  /** Epoch seconds. */ readonly updated_at: number;
  readonly key: string;
  /** Why this version is deprecated, and what to use instead; null: it is not. */ readonly deprecated: string | null;
};

export type PublishedVersion = {
  /** `sc_…`. */ readonly id: string;
  readonly key: string | null;
  /** SHA-256 of the code, hex. */ readonly code_hash: string;
  readonly name: string;
  readonly version: string | null;
  readonly description: string | null;
  readonly type: "source" | "action";
  readonly configurable_props: readonly (Prop)[];
  /** Whether it is part of the registry. */ readonly registry: boolean;
  /** Epoch seconds. */ readonly created_at: number;
  /** Epoch seconds. */ readonly updated_at: number;
  /** Why this version is deprecated, and what to use instead; null: it is not. */ readonly deprecated: string | null;
};

export type Options = {
  /** Values, or `{label, value}`. */ readonly options: readonly (unknown)[];
  /** The prev_context of the next page; null if there is none. */ readonly context: unknown;
  /** There were more options than the limit. */ readonly truncated?: true | undefined;
};

export type Props = {
  readonly configurable_props: readonly (Prop)[];
};

export type Package = {
  readonly name: string;
  /** The version that npm finds for the requested one. */ readonly version: string;
  /** Hash of its tarball, by which components of it are pinned. */ readonly integrity: string;
  /** What its publisher says of a version that should not be used any more. */ readonly deprecated: string | null;
  /** What is in it; `piece`: a piece of Activepieces. */ readonly kind: "components" | "piece" | "component" | "none";
  readonly display_name: string | null;
  readonly description: string | null;
  /** Slug of the app whose accounts it uses. */ readonly app: string | null;
  /** The ways in which it authenticates. */ readonly auth: readonly ({
    readonly kind: "oauth2" | "secret_text" | "basic" | "custom" | "oidc";
    readonly authorization_url: string | null;
    readonly token_url: string | null;
    readonly scopes: readonly (string)[];
    readonly fields: readonly ({
      readonly name: string;
      readonly label: string;
      readonly secret: boolean;
      readonly optional: boolean;
    })[];
  })[];
  readonly actions: number;
  readonly sources: number;
  /** Why its code cannot be loaded here. */ readonly problem: string | null;
};

export type PackageComponent = {
  /** Its address, which POST /components, sources and steps take. */ readonly component_url: string;
  readonly type: "source" | "action";
  readonly name: string;
  readonly key: string | null;
  readonly version: string | null;
  readonly description: string | null;
  /** How a trigger of a piece receives events. */ readonly trigger: "polling" | "webhook" | "app_webhook" | "manual" | null;
  /** Why it cannot work here, or what it needs. */ readonly problem: string | null;
};

export type Connector = {
  readonly package: string;
  /** The version that was read; newer ones may exist. */ readonly version: string;
  readonly name: string;
  /** Slug of the app whose accounts it uses. */ readonly app: string;
  /** The ways in which it authenticates. */ readonly auth: readonly (string)[];
  readonly actions: number;
  readonly triggers: number;
  /** Its triggers and actions that contain the words, at most 20. */ readonly matches: readonly ({
    readonly component_url: string;
    readonly type: "source" | "action";
    readonly name: string;
  })[];
};

export type SourceTest = {
  /** `r_…`. */ readonly id: string;
  readonly status: "succeeded" | "failed";
  readonly trigger: "timer" | "http" | "email" | "event" | "manual" | "hook" | "configure" | "dry-run" | "resume" | "control";
  /** Epoch seconds. */ readonly started_at: number;
  /** Epoch milliseconds. */ readonly started_at_ms: number;
  readonly duration_ms: number;
  readonly cpu_ms: number;
  readonly logs: readonly ({
    /** Kind: `console.log` …, `hook`, `error`. */ readonly k: string;
    /** Epoch milliseconds. */ readonly ts: number;
    readonly msg?: string | undefined;
    /** Name of the hook. */ readonly h?: string | undefined;
    readonly err?: Thrown | undefined;
  })[];
  readonly error: Thrown | null;
  /** Return value; null if it is not JSON of at most 64 KiB. */ readonly result: unknown;
  readonly dry_run: true;
  readonly emits: readonly (JudgedEmit)[];
  readonly db_writes: readonly ({
    readonly prop: string;
    readonly key: string;
    readonly value?: unknown;
    readonly deleted?: true | undefined;
  })[];
  /** Argument of http.respond(). */ readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string | readonly (string)[]>>;
    readonly body: string;
    readonly base64?: boolean | undefined;
  } | null;
  /** The component that ran, `sc_…`. */ readonly component_id: string;
};

export type JudgedEmit = {
  /** `duplicate`: dedupe has seen its id; `refused`: dedupe cannot compare it. */ readonly verdict: "emitted" | "duplicate" | "refused";
  /** The id given to `$emit`. */ readonly id: string | null;
  /** The channel; empty is the default one. */ readonly name: string;
  readonly summary: string | null;
  /** Epoch milliseconds. */ readonly ts: number;
  readonly delivery_ts?: number | undefined;
  readonly event: unknown;
};

export type Source = {
  /** `dc_…`. */ readonly id: string;
  /** Only in responses to requests that create or change it. */ readonly user_id?: string | undefined;
  /** Present only if an organization owns it. */ readonly owner_id?: string | undefined;
  readonly component_id: string | null;
  /** Only for components with additional props. */ readonly configurable_props?: readonly (Prop)[] | undefined;
  /** Values by prop, without secret ones. */ readonly configured_props: Readonly<Record<string, unknown>>;
  readonly active: boolean;
  /** Epoch seconds. */ readonly created_at: number;
  /** Epoch seconds. */ readonly updated_at: number;
  readonly name: string;
  readonly name_slug: string;
  /** State of the source; `paused` exactly if `active` is false. */ readonly state: "active" | "paused" | "failing" | "disabled" | "deploying";
  /** Current problem; null if there is none. */ readonly problem: {
    /** Stable: the code of the run's error (`run_failed` if it has none), or the reason why it is not deployed. */ readonly code: string;
    readonly message: string;
    /** Epoch seconds. */ readonly since: number;
  } | null;
  /** Start of its last run, epoch seconds; null before the first. */ readonly last_run_at: number | null;
  /** Error of the last stored failed run, which may be older than the last run. */ readonly last_error: {
    /** Null: the component's code threw it. */ readonly code: string | null;
    readonly message: string;
    /** Epoch seconds. */ readonly at: number;
  } | null;
  /** Next tick of its timers, epoch seconds; null: no timer will tick. */ readonly next_tick_at: number | null;
  /** Accepted invocations that are not finished; null while NATS does not respond. */ readonly backlog: number | null;
};

export type SearchPage = {
  /** Newest first. */ readonly items: readonly (SearchItem)[];
  /** `cursor` of the request that searches further back. Null: all was searched. */ readonly cursor: string | null;
  /** Everything after this time was searched, epoch milliseconds, also if there are fewer items than `limit`. Null: all was searched. */ readonly searched_to_ms: number | null;
};

export type SearchItem = {
  /** `error` is a run that failed. */ readonly kind: "event" | "log" | "run" | "error";
  /** Of an event or a run its id; of a line, one that is unique within its source. */ readonly id: string;
  /** Epoch milliseconds: of an event or line, its own; of a run, its start. */ readonly at_ms: number;
  /** The source or workflow, `dc_…` or `p_…`. */ readonly source_id: string;
  readonly source_name: string;
  /** The run itself, or the one that an event or line is of. */ readonly run_id: string;
  /** `GET /traces/{id}` shows the trace of the item. */ readonly trace_id: string;
  /** Of a line of a console; `error` of an error. */ readonly level: "error" | "warn" | "info" | "log" | "debug" | null;
  /** Of a run or error. */ readonly status: "running" | "suspended" | "succeeded" | "exited" | "failed" | "canceled" | null;
  /** Of an event; `""` is the default channel. */ readonly channel: string | null;
  /** The text around the first match, on one line, at most 240 characters. */ readonly excerpt: string;
};

export type Trace = {
  /** The span that was asked for. */ readonly focus_id: string;
  /** At most 1,000, depth first: each follows its parent, siblings are in order of time. */ readonly spans: readonly (Span)[];
  /** True: some spans are missing, because there are too many. See `has_more`. */ readonly cut: boolean;
  /** Id of the OpenTelemetry trace. Null: tracing is off. */ readonly otel_trace_id: string | null;
};

export type Span = {
  /** Unique within the trace. */ readonly id: string;
  /** The span that caused it, or of which it is a part. Null: the first one. */ readonly parent_id: string | null;
  /** Number of spans above it. */ readonly depth: number;
  /** `queue` and `start`: of a run, before it started, and before its code began to run. */ readonly kind: "event" | "run" | "queue" | "start" | "step" | "wait" | "delivery" | "attempt";
  /** For people. Null: the span belongs to another owner, or its source was deleted. */ readonly name: string | null;
  /** What distinguishes it from others of its name. */ readonly detail?: string | undefined;
  readonly status?: "succeeded" | "failed" | "running" | "waiting" | "canceled" | undefined;
  /** Epoch milliseconds. Null: unknown. */ readonly started_at_ms: number | null;
  /** Epoch milliseconds. Null: it has not ended, or is unknown. */ readonly ended_at_ms: number | null;
  readonly cpu_ms?: number | undefined;
  readonly source_id?: string | undefined;
  readonly workflow_id?: string | undefined;
  readonly webhook_id?: string | undefined;
  readonly run_id?: string | undefined;
  readonly event_id?: string | undefined;
  readonly delivery_id?: string | undefined;
  readonly step_id?: string | undefined;
  readonly attempt?: number | undefined;
  /** Of a run: the version of the code, `d_…`. */ readonly deployment_id?: string | undefined;
  /** The run that it repeats: `r_…`. */ readonly repeats?: string | undefined;
  /** Under this id, `GET /traces/{id}` shows it: of a run, event or delivery. */ readonly trace_id?: string | undefined;
  /** It belongs to another owner, or its source was deleted: nothing else is shown. */ readonly hidden?: true | undefined;
  /** It is no longer stored. */ readonly gone?: true | undefined;
  /** Some of what is below it may be missing: ask for its trace with `below=true`. */ readonly has_more?: true | undefined;
};

export type Run = {
  /** `r_…`. */ readonly id: string;
  readonly source_id: string;
  readonly status: "succeeded" | "failed";
  readonly trigger: "timer" | "http" | "email" | "event" | "manual" | "hook" | "configure" | "dry-run" | "resume" | "control";
  readonly hook?: "deploy" | "activate" | "deactivate" | undefined;
  /** Epoch seconds. */ readonly started_at: number;
  /** Epoch milliseconds. */ readonly started_at_ms: number;
  readonly duration_ms: number;
  readonly cpu_ms: number;
  readonly event_ids: readonly (string)[];
  /** Only in the response for a single run. */ readonly logs?: readonly ({
    /** Kind: `console.log` …, `hook`, `error`. */ readonly k: string;
    /** Epoch milliseconds. */ readonly ts: number;
    readonly msg?: string | undefined;
    /** Name of the hook. */ readonly h?: string | undefined;
    readonly err?: Thrown | undefined;
  })[] | undefined;
  readonly error: Thrown | null;
  /** Return value; null if it is not JSON of at most 64 KiB. */ readonly result: unknown;
  /** Of a failed run, the event that it received. Only in the response for a single run. */ readonly event?: unknown;
  /** The emitted event that started it. */ readonly cause?: {
    readonly emitter_id: string;
    readonly emit_id: string;
  } | undefined;
  /** Time in the queue before it started. */ readonly queued_ms?: number | undefined;
  /** Time from its start until its code began to run. */ readonly start_ms?: number | undefined;
  /** Number of its emits that dedupe had seen before. */ readonly duplicates?: number | undefined;
  /** The first ten keys of `$.service.db` that it changed, without their values. */ readonly db_changes?: readonly ({
    readonly prop: string;
    readonly key: string;
    readonly change: "added" | "changed" | "deleted";
    /** Size of the new value's JSON; absent: it was deleted. */ readonly bytes?: number | undefined;
  })[] | undefined;
};

export type DryRun = {
  /** `r_…`. */ readonly id: string;
  readonly source_id: string;
  readonly status: "succeeded" | "failed";
  readonly trigger: "timer" | "http" | "email" | "event" | "manual" | "hook" | "configure" | "dry-run" | "resume" | "control";
  /** Epoch seconds. */ readonly started_at: number;
  /** Epoch milliseconds. */ readonly started_at_ms: number;
  readonly duration_ms: number;
  readonly cpu_ms: number;
  readonly logs: readonly ({
    /** Kind: `console.log` …, `hook`, `error`. */ readonly k: string;
    /** Epoch milliseconds. */ readonly ts: number;
    readonly msg?: string | undefined;
    /** Name of the hook. */ readonly h?: string | undefined;
    readonly err?: Thrown | undefined;
  })[];
  readonly error: Thrown | null;
  /** Return value; null if it is not JSON of at most 64 KiB. */ readonly result: unknown;
  readonly dry_run: true;
  readonly emits: readonly (JudgedEmit)[];
  readonly db_writes: readonly ({
    readonly prop: string;
    readonly key: string;
    readonly value?: unknown;
    readonly deleted?: true | undefined;
  })[];
  /** Argument of http.respond(). */ readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string | readonly (string)[]>>;
    readonly body: string;
    readonly base64?: boolean | undefined;
  } | null;
};

export type StartedRun = {
  /** `r_…`. */ readonly id: string;
  readonly source_id: string;
  readonly status: "running";
  readonly trigger: "timer" | "http" | "email" | "event" | "manual" | "hook" | "configure" | "dry-run" | "resume" | "control";
};

export type Tick = {
  /** `<epoch milliseconds>-<number>`. */ readonly id: string;
  /** Epoch seconds. */ readonly due_at: number;
  /** Epoch milliseconds. */ readonly due_at_ms: number;
  /** `late`: its run started more than 1 s after it was due. */ readonly state: "fired" | "late" | "skipped";
  /** `waited`: for an earlier run, its owner's share or a runner; `earlier_tick_unfinished`: an earlier tick was still queued, or its run had not ended; `missed`: Headwater was down. */ readonly reason: "waited" | "earlier_tick_unfinished" | "missed" | null;
  /** Null if it was skipped. */ readonly run_id: string | null;
  /** Epoch seconds. */ readonly started_at: number | null;
  /** Start of that run. */ readonly started_at_ms: number | null;
  /** Delay from the due time to the start of the run. */ readonly late_ms: number | null;
};

export type LogLine = {
  /** Kind: `console.log` …, `hook`, `error`. */ readonly k: string;
  /** Epoch milliseconds. */ readonly ts: number;
  readonly msg?: string | undefined;
  /** Name of the hook. */ readonly h?: string | undefined;
  readonly err?: Thrown | undefined;
  readonly run_id: string;
};

export type RunInputs = {
  readonly run_id: string;
  readonly source_id: string;
  /** The version that ran, `d_…`. */ readonly deployment_id: string;
  readonly component_id: string;
  /** Path of the component's code in `files`. */ readonly entry: string;
  /** Code by path. */ readonly files: Readonly<Record<string, string>>;
  readonly bundle: {
    readonly hash: string;
    /** The script that runs in the sandbox. */ readonly code: string;
    /** Its source map as JSON, without the code of its sources. */ readonly source_map: string | null;
    readonly needs_node: boolean;
  };
  /** Argument of `run`; of a tick that succeeded, made from the first timer and the start of the run. Absent: it is not stored. */ readonly event?: unknown;
  /** Second argument of `run`. */ readonly metadata?: unknown;
  /** Values on `this`, without secrets and accounts. */ readonly props: Readonly<Record<string, unknown>>;
  /** Secret props and accounts, whose values the API does not return. */ readonly missing_props: readonly ({
    readonly name: string;
    readonly type: string;
    readonly app?: string | undefined;
  })[];
  readonly additional_props: readonly ({
    readonly name: string;
    readonly type: string;
    readonly app?: string | undefined;
  })[];
  /** `$.service.db` before the run, by prop and key. Null: it is not stored any more. */ readonly db: Readonly<Record<string, Readonly<Record<string, unknown>>>> | null;
  readonly dedupe: "unique" | "greatest" | "last" | null;
  readonly endpoint: string | null;
};

export type Event = {
  /** `<epoch milliseconds>-<sequence>`. */ readonly id: string;
  /** Epoch milliseconds. */ readonly indexed_at_ms: number;
  /** The emitted value; truncated above 1 KiB unless `expand=event` is given. */ readonly event: unknown;
  readonly metadata: EventMetadata;
};

export type EventMetadata = {
  /** The event id in deliveries. */ readonly emit_id: string;
  /** The channel; empty is the default one. */ readonly name: string;
  readonly emitter_id: string;
  /** The id given to `$emit`, or absent. */ readonly id?: string | undefined;
  /** The summary given to `$emit`, or absent. */ readonly summary?: string | undefined;
  /** Epoch milliseconds. */ readonly ts: number;
  /** When the event is due; only in the list of scheduled events, `event_name=$in`. */ readonly delivery_ts?: number | undefined;
};

export type LegacyEvent = {
  readonly id: string;
  /** The emitted value. */ readonly e: unknown;
  readonly k: "emit";
  /** Epoch milliseconds. */ readonly ts: number;
  readonly metadata: EventMetadata;
};

export type EventDeletion = {
  /** `ed_…`. */ readonly id: string;
  readonly status: "pending" | "finished";
  /** Null: from the first. */ readonly start_id: string | null;
  /** The last event to delete: as requested, or the newest at that time. Null: there was none. */ readonly end_id: string | null;
  /** Null: all channels. */ readonly event_name: string | null;
  /** Number of deleted events. */ readonly deleted: number;
  /** Epoch milliseconds. */ readonly created_at_ms: number;
  readonly finished_at_ms: number | null;
  readonly source_id: string;
};

export type Replay = {
  /** `rp_…`. */ readonly id: string;
  readonly source_id: string;
  /** Number of events that are delivered again. */ readonly events: number;
  readonly start_id: string | null;
  readonly end_id: string | null;
  readonly event_name: string | null;
  readonly listener_id: string | null;
};

export type Workflow = {
  /** `p_…`. */ readonly id: string;
  /** Present only if an organization owns it. */ readonly owner_id?: string | undefined;
  readonly name: string;
  readonly active: boolean;
  /** Version, `d_…`: each change that is deployed has another. Null until the first one. */ readonly deployment_id: string | null;
  /** Epoch seconds. */ readonly created_at: number;
  /** Epoch seconds. */ readonly updated_at: number;
  readonly triggers: readonly (WorkflowTrigger)[];
  readonly steps: readonly (WorkflowStep)[];
  readonly settings: WorkflowSettings;
  /** State of the workflow; `paused` if its running version is switched off. */ readonly state: "active" | "paused" | "failing" | "disabled" | "deploying" | "degraded";
  /** Current problem; null if there is none. */ readonly problem: {
    /** Stable. */ readonly code: string;
    readonly message: string;
    /** Epoch seconds. */ readonly since: number;
  } | null;
  /** Share of the runs of its version that succeeded, of the last 100 that ended within an hour; null without any. */ readonly success_rate: number | null;
};

export type WorkflowTrigger = {
  /** The source's id, or a derived one that stays the same: `hi_…`, `ti_…` or `ei_…`. */ readonly id: string;
  readonly type: "source" | "http" | "timer" | "email";
  /** Of a source. Null until a source that is referred to by name exists. */ readonly source_id?: string | null | undefined;
  /** Of `http`. Null until the workflow is deployed. */ readonly endpoint_url?: string | null | undefined;
  /** Of `email`. Null until the workflow is deployed. */ readonly address?: string | null | undefined;
  /** Of `http`, if it is set. */ readonly custom_response?: boolean | undefined;
  /** Of `timer`. */ readonly cron?: string | undefined;
  /** Of `timer`. */ readonly interval_seconds?: number | undefined;
  /** Of `timer` with `cron`. */ readonly timezone?: string | undefined;
  /** Of `timer`, if it is set. */ readonly jitter_seconds?: number | undefined;
  /** Of `timer`, if it is set. */ readonly overlap?: "allow" | "skip" | "queue" | "cancel" | undefined;
  /** Of `timer`, if it is set. */ readonly catch_up?: number | undefined;
};

export type WorkflowStep = {
  /** `c_…`: errors name it as `cellId`. */ readonly id: string;
  readonly name: string;
  readonly component_id: string | null;
  /** If the component has a key. */ readonly component_key?: string | undefined;
  /** Values by prop, without secret ones. */ readonly props: Readonly<Record<string, unknown>>;
  readonly configurable_props: readonly (Prop)[];
  readonly continue_on_error: boolean;
  readonly retries: number;
  /** Null: the run timeout of the installation. */ readonly timeout_ms: number | null;
  readonly if?: string | undefined;
  readonly then?: readonly (Readonly<Record<string, unknown>>)[] | undefined;
  readonly else_if?: readonly ({
    readonly if: string;
    readonly then?: readonly (Readonly<Record<string, unknown>>)[] | undefined;
  })[] | undefined;
  readonly else?: readonly (Readonly<Record<string, unknown>>)[] | undefined;
  readonly switch?: string | undefined;
  readonly cases?: readonly ({
    readonly equals?: unknown;
    readonly when?: string | undefined;
    readonly steps?: readonly (Readonly<Record<string, unknown>>)[] | undefined;
  })[] | undefined;
  readonly default?: readonly (Readonly<Record<string, unknown>>)[] | undefined;
  readonly for_each?: string | undefined;
  readonly as?: string | undefined;
  readonly max_items?: number | undefined;
  readonly on_error?: "stop" | "continue" | undefined;
  readonly concurrency?: number | undefined;
  readonly parallel?: readonly (readonly (Readonly<Record<string, unknown>>)[])[] | undefined;
  readonly while?: string | undefined;
  readonly max_iterations?: number | undefined;
  /** Of `for_each` and `while`: steps in this form, as in the other lists. */ readonly steps?: readonly (Readonly<Record<string, unknown>>)[] | undefined;
  readonly try?: readonly (Readonly<Record<string, unknown>>)[] | undefined;
  readonly catch?: readonly (Readonly<Record<string, unknown>>)[] | undefined;
  readonly finally?: readonly (Readonly<Record<string, unknown>>)[] | undefined;
  readonly stop?: string | undefined;
  /** Id of the workflow that it runs. */ readonly workflow?: string | undefined;
  readonly event?: unknown;
  readonly wait?: boolean | undefined;
};

export type WorkflowSettings = {
  /** Maximum runs at once; null: no limit. */ readonly concurrency: number | null;
  /** Maximum runs that start within the interval. */ readonly throttle: {
    readonly runs: number;
    readonly interval_seconds: number;
  } | null;
  /** Maximum runs that wait; null: the limit of the installation. */ readonly queue_size: number | null;
  /** Runs are executed one at a time, in the order of their events. */ readonly ordered: boolean;
  /** Whether its errors are mailed to the owner. */ readonly error_mails: boolean;
};

export type WorkflowRun = {
  /** `r_…`. */ readonly id: string;
  readonly workflow_id: string;
  /** The version with which the run began, and finishes: `d_…`. */ readonly deployment_id: string;
  readonly status: "running" | "suspended" | "succeeded" | "exited" | "failed" | "canceled";
  readonly trigger: "timer" | "http" | "email" | "event" | "manual" | "hook" | "configure" | "dry-run" | "resume" | "control";
  /** The emitted event that started the run; null for other triggers. */ readonly cause: {
    /** The source or workflow that emitted it. */ readonly emitter_id: string;
    readonly emit_id: string;
    /** Its id among the events of the emitter; null if it is no longer stored. Only in the response for a single run. */ readonly event_id?: string | null | undefined;
  } | null;
  /** Epoch seconds. */ readonly started_at: number;
  /** Epoch milliseconds. */ readonly started_at_ms: number;
  /** Null: the run has not ended. */ readonly ended_at: number | null;
  readonly ended_at_ms: number | null;
  /** From its start to its end, with the time that it was suspended. */ readonly duration_ms: number | null;
  /** Time of its steps. */ readonly compute_ms: number;
  /** While suspended: when the run continues, or is canceled if nothing has resumed it. */ readonly resume_at: number | null;
  readonly resume_at_ms: number | null;
  readonly step_count: number;
  /** Number of steps that will not run again. */ readonly steps_done: number;
  /** The run that it repeats: `r_…`. */ readonly repeats: string | null;
  /** Why the run exited, was canceled, or is paused. */ readonly reason: string | null;
  /** The step that failed the run: `c_…`. */ readonly failed_step_id: string | null;
  readonly error: Thrown | null;
};

export type StartedWorkflowRun = {
  /** `r_…`. */ readonly id: string;
  readonly workflow_id: string;
  readonly status: "running";
  readonly trigger: "manual";
};

export type RepeatedRuns = {
  readonly repeated: readonly ({
    /** The run. */ readonly run_id: string;
    /** The new one. */ readonly id: string | null;
  })[];
  readonly refused: readonly ({
    readonly run_id: string;
    readonly code: string;
    readonly error: string;
  })[];
};

export type WorkflowRunDetails = {
  /** `r_…`. */ readonly id: string;
  readonly workflow_id: string;
  /** The version with which the run began, and finishes: `d_…`. */ readonly deployment_id: string;
  readonly status: "running" | "suspended" | "succeeded" | "exited" | "failed" | "canceled";
  readonly trigger: "timer" | "http" | "email" | "event" | "manual" | "hook" | "configure" | "dry-run" | "resume" | "control";
  /** The emitted event that started the run; null for other triggers. */ readonly cause: {
    /** The source or workflow that emitted it. */ readonly emitter_id: string;
    readonly emit_id: string;
    /** Its id among the events of the emitter; null if it is no longer stored. Only in the response for a single run. */ readonly event_id?: string | null | undefined;
  } | null;
  /** Epoch seconds. */ readonly started_at: number;
  /** Epoch milliseconds. */ readonly started_at_ms: number;
  /** Null: the run has not ended. */ readonly ended_at: number | null;
  readonly ended_at_ms: number | null;
  /** From its start to its end, with the time that it was suspended. */ readonly duration_ms: number | null;
  /** Time of its steps. */ readonly compute_ms: number;
  /** While suspended: when the run continues, or is canceled if nothing has resumed it. */ readonly resume_at: number | null;
  readonly resume_at_ms: number | null;
  readonly step_count: number;
  /** Number of steps that will not run again. */ readonly steps_done: number;
  /** The run that it repeats: `r_…`. */ readonly repeats: string | null;
  /** Why the run exited, was canceled, or is paused. */ readonly reason: string | null;
  /** The step that failed the run: `c_…`. */ readonly failed_step_id: string | null;
  readonly error: Thrown | null;
  /** The event that started the run; null if it has more than 64 KiB. */ readonly event: unknown;
  /** Attempts of its steps, in the order in which they ended. */ readonly steps: readonly (StepAttempt)[];
  /** Attempts to carry out what `$.send` asked for, newest first; of many, the last 100. */ readonly sends: readonly (SendAttempt)[];
  /** Events that the run emitted and that are still stored. */ readonly event_ids: readonly (string)[];
};

export type StepAttempt = {
  /** Id of the step: `c_…`. */ readonly id: string;
  readonly name: string;
  /** From 1. Retries and reruns count, and attempts that a crash has interrupted. */ readonly attempt: number;
  /** `retried`: it failed, and runs again later. `continued`: it failed, and the run continued. `rerun`: it asked to run again. */ readonly outcome: "succeeded" | "suspended" | "rerun" | "exited" | "retried" | "continued" | "failed";
  /** Epoch milliseconds. */ readonly started_at_ms: number;
  readonly duration_ms: number;
  readonly cpu_ms: number;
  /** Its props, with expressions evaluated; null if they have more than 64 KiB. */ readonly inputs: unknown;
  /** By name. Of more than 64 KiB, only the beginning is stored, as `$truncated`. */ readonly exports: unknown;
  readonly return_value: unknown;
  /** The export `$summary`, or null. */ readonly summary: unknown;
  readonly error: Thrown | null;
  readonly logs: readonly ({
    /** Kind: `console.log` …, `hook`, `error`. */ readonly k: string;
    /** Epoch milliseconds. */ readonly ts: number;
    readonly msg?: string | undefined;
    /** Name of the hook. */ readonly h?: string | undefined;
    readonly err?: Thrown | undefined;
  })[];
};

export type SendAttempt = {
  readonly delivery_id: string;
  /** `http`, `email` or `s3`. */ readonly send: string;
  /** The first is 1. */ readonly attempt: number;
  readonly outcome: "delivered" | "retry" | "dead";
  /** Epoch milliseconds. */ readonly at_ms: number;
  readonly duration_ms: number;
  /** HTTP status of the endpoint's response; null: there was none. */ readonly response_status: number | null;
  /** Why it failed; null: it was delivered. */ readonly cause: string | null;
};

export type Backfill = {
  readonly workflow_id: string;
  readonly trigger_id: string;
  /** Number of runs: one for each tick in the range. */ readonly runs: number;
  /** Time of the first tick, epoch milliseconds. */ readonly first_at_ms: number;
  /** Time of the last one. */ readonly last_at_ms: number;
};

export type WorkflowEventDeletion = {
  /** `ed_…`. */ readonly id: string;
  readonly status: "pending" | "finished";
  /** Null: from the first. */ readonly start_id: string | null;
  /** The last event to delete: as requested, or the newest at that time. Null: there was none. */ readonly end_id: string | null;
  /** Null: all channels. */ readonly event_name: string | null;
  /** Number of deleted events. */ readonly deleted: number;
  /** Epoch milliseconds. */ readonly created_at_ms: number;
  readonly finished_at_ms: number | null;
  readonly workflow_id: string;
};

export type WorkflowTest = {
  /** `r_…`. */ readonly id: string;
  readonly workflow_id: string;
  readonly test: true;
  /** `exited`: a step called `$.flow.exit`. */ readonly status: "succeeded" | "exited" | "failed";
  /** Epoch milliseconds. */ readonly started_at_ms: number;
  readonly duration_ms: number;
  readonly cpu_ms: number;
  /** The executed steps, in order. */ readonly steps: readonly (TestedStep)[];
  /** Argument of `$.respond`. */ readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string | readonly (string)[]>>;
    readonly body: string;
    readonly base64?: boolean | undefined;
  } | null;
  /** The error of the step that failed, or why no step could be executed. */ readonly error: Thrown | null;
};

export type TestedStep = {
  /** `c_…`. */ readonly id: string;
  readonly name: string;
  readonly outcome: "succeeded" | "suspended" | "rerun" | "exited" | "retried" | "continued" | "failed";
  /** Epoch milliseconds. */ readonly started_at_ms: number;
  readonly duration_ms: number;
  readonly cpu_ms: number;
  /** Values of the props that contain expressions; null: there are none, or they have more than 64 KiB. */ readonly inputs: unknown;
  /** What the step exported, by name. */ readonly exports: Readonly<Record<string, unknown>>;
  /** What it returned. */ readonly $return_value?: unknown;
  /** Its summary. */ readonly $summary?: unknown;
  /** Its call of `$.flow`, which a test does not wait for. */ readonly flow: {
    readonly kind: "exit" | "delay" | "suspend" | "rerun";
    readonly ms?: number | null | undefined;
    readonly reason?: string | null | undefined;
  } | null;
  /** What `$.send` would have sent. */ readonly sends: readonly ({
    readonly kind: "http" | "email" | "s3" | "emit" | "sse";
    readonly argument: unknown;
    /** Epoch milliseconds. */ readonly at_ms: number;
  })[];
  readonly logs: readonly ({
    /** Kind: `console.log` …, `hook`, `error`. */ readonly k: string;
    /** Epoch milliseconds. */ readonly ts: number;
    readonly msg?: string | undefined;
    /** Name of the hook. */ readonly h?: string | undefined;
    readonly err?: Thrown | undefined;
  })[];
  readonly error: Thrown | null;
};

export type Metrics = {
  /** The source, workflow, webhook, user or organization; `installation`: all owners. */ readonly id: string;
  readonly step: "minute" | "5_minutes" | "15_minutes" | "hour" | "day";
  /** Length of a step in milliseconds. */ readonly step_ms: number;
  /** Start of the first step, epoch milliseconds. */ readonly from_ms: number;
  /** End of the last step, epoch milliseconds. */ readonly to_ms: number;
  readonly total: Measured;
  /** One for each step, in order, also for those in which nothing happened. */ readonly points: readonly (MetricsPoint)[];
};

export type Measured = {
  /** Runs that ended. */ readonly runs: number;
  /** Runs that failed. */ readonly errors: number;
  /** Emitted events. */ readonly events: number;
  /** Milliseconds in which code ran. */ readonly compute_ms: number;
  /** Milliseconds; null: none. Median duration of runs; of a webhook, of attempts. Within 19 %. */ readonly p50_ms: number | null;
  /** Milliseconds; null: none. The duration that 95 % do not exceed. Within 19 %. */ readonly p95_ms: number | null;
  /** Milliseconds; null: none. The longest duration. */ readonly max_ms: number | null;
  /** Milliseconds; null: none. Mean time from the acceptance of an invocation to the start of its run. */ readonly wait_avg_ms: number | null;
  /** Milliseconds; null: none. The longest of these times. */ readonly wait_max_ms: number | null;
  /** Attempts at webhooks, and of what runs of workflows send. */ readonly attempts: number;
  /** Attempts that failed. */ readonly failed_attempts: number;
  /** Deliveries that succeeded. */ readonly deliveries: number;
  /** Deliveries whose last attempt failed. */ readonly dead_letters: number;
};

export type MetricsPoint = {
  /** Start of the step, epoch milliseconds. */ readonly at_ms: number;
  /** Runs that ended. */ readonly runs: number;
  /** Runs that failed. */ readonly errors: number;
  /** Emitted events. */ readonly events: number;
  /** Milliseconds in which code ran. */ readonly compute_ms: number;
  /** Milliseconds; null: none. Median duration of runs; of a webhook, of attempts. Within 19 %. */ readonly p50_ms: number | null;
  /** Milliseconds; null: none. The duration that 95 % do not exceed. Within 19 %. */ readonly p95_ms: number | null;
  /** Milliseconds; null: none. The longest duration. */ readonly max_ms: number | null;
  /** Milliseconds; null: none. Mean time from the acceptance of an invocation to the start of its run. */ readonly wait_avg_ms: number | null;
  /** Milliseconds; null: none. The longest of these times. */ readonly wait_max_ms: number | null;
  /** Attempts at webhooks, and of what runs of workflows send. */ readonly attempts: number;
  /** Attempts that failed. */ readonly failed_attempts: number;
  /** Deliveries that succeeded. */ readonly deliveries: number;
  /** Deliveries whose last attempt failed. */ readonly dead_letters: number;
};

export type ConnectableApp = {
  /** `app_…`. */ readonly id: string;
  /** Such as `slack`. */ readonly name_slug: string;
  readonly name: string;
  readonly description: string | null;
  /** The kind, as clients of the known service read it. */ readonly auth_type: "oauth" | "keys" | "none";
  /** The kind. */ readonly kind: "oauth2" | "keys" | "basic" | "none";
  /** JSON: an array of the fields that a person enters, with name, label, description and optional. */ readonly custom_fields_json: string;
  readonly categories: readonly (string)[];
  /** Page of the service on registering a client, or on its credentials. */ readonly documentation_url: string | null;
  readonly oauth: AppOauth | null;
  /** `own`: an App of the owner. `shared`: of the owner whose apps count for everybody. `built_in`: it comes with Headwater. */ readonly origin: "own" | "shared" | "built_in";
  /** Whether accounts are connected by signing in at the service. */ readonly connectable: boolean;
  /** Whether an OAuth client for it exists, of the owner or of the installation. */ readonly has_client: boolean;
};

export type AppOauth = {
  readonly grant: "authorization_code" | "client_credentials";
  readonly authorization_url: string | null;
  readonly token_url: string;
  readonly refresh_url: string | null;
  readonly revocation_url: string | null;
  readonly issuer: string | null;
  readonly pkce: boolean;
  readonly scopes: readonly (string)[];
  readonly scope_parameter: string;
  readonly scope_separator: string;
  readonly authorization_params: Readonly<Record<string, string>>;
  readonly client_authentication: "basic" | "body";
  readonly request_format: "form" | "json";
  readonly token_params: Readonly<Record<string, string>>;
  readonly token_path: string | null;
  readonly void_grant_errors: readonly (string)[];
  readonly token_fields: readonly (string)[];
  readonly test_url: string | null;
  readonly test_name: string | null;
  readonly test_picture: string | null;
};

export type OAuthClient = {
  /** `oac_…`. */ readonly id: string;
  /** Name slug of the app. */ readonly app: string;
  readonly name: string | null;
  readonly client_id: string;
  /** Whether it has a secret, which no response shows. */ readonly has_secret: boolean;
  /** Scopes that it requests; null: those of the app. */ readonly scopes: readonly (string)[] | null;
  /** Register this address at the service: it redirects browsers to it. */ readonly redirect_uri: string;
  /** Null until it was checked. */ readonly healthy: boolean | null;
  /** Why it is not healthy. */ readonly problem: string | null;
  /** ISO 8601, UTC. */ readonly created_at: string;
  /** ISO 8601, UTC. */ readonly updated_at: string;
};

export type StartedConnection = {
  /** `con_…`: GET /connections/{id} returns how it ended. */ readonly connection_id: string;
  /** Open it in a browser, and sign in there. */ readonly url: string;
  /** ISO 8601, UTC. */ readonly expires_at: string;
};

export type Connection = {
  /** `con_…`. */ readonly id: string;
  /** Name slug of the app. */ readonly app: string;
  readonly status: "pending" | "connected" | "failed";
  /** The account, once it is connected. */ readonly account_id: string | null;
  /** Requested scopes that were not granted. */ readonly missing_scopes: readonly (string)[];
  readonly problem: {
    readonly code: "access_denied" | "expired" | "other_session" | "other_user" | "issuer_mismatch" | "service_error" | "token_refused" | "token_endpoint_unavailable" | "client_changed" | "account_deleted" | "not_stored";
    /** What happened and what to do, for people. */ readonly message: string;
  } | null;
  /** ISO 8601, UTC. */ readonly expires_at: string;
};

export type Account = {
  /** `apn_…`. */ readonly id: string;
  readonly app: App | null;
  readonly name: string;
  /** Null until it was checked. */ readonly healthy: boolean | null;
  /** Why it is not healthy. */ readonly problem: string | null;
  /** Whether a person must connect it again: POST /accounts/{id}/reconnect. */ readonly needs_reconnect: boolean;
  /** How its access token is requested: with a refresh token, or with the id and secret of a client. Null: it is not. */ readonly grant_type: "refresh_token" | "client_credentials" | null;
  /** How it was connected by an OAuth client; null: its credentials were given. */ readonly connection: AccountConnection | null;
  /** When its access token was last refreshed. ISO 8601, UTC. */ readonly refreshed_at: string | null;
  /** ISO 8601, UTC. */ readonly created_at: string;
  /** ISO 8601, UTC. */ readonly updated_at: string;
};

export type App = {
  /** `app_…`. */ readonly id: string;
  /** Such as `github`. */ readonly name_slug: string;
  readonly name: string;
};

export type AccountConnection = {
  /** `oac_…`. */ readonly oauth_client_id: string;
  /** Its name at the service. */ readonly name: string | null;
  /** Address of its picture at the service. */ readonly picture: string | null;
  /** Granted scopes. */ readonly scopes: readonly (string)[];
  /** ISO 8601, UTC. */ readonly connected_at: string;
};

export type AccountUse = {
  readonly kind: "source" | "workflow";
  /** `dc_…` or `p_…`. */ readonly id: string;
  readonly name: string;
};

export type Variable = {
  /** Steps read it as `{{ env.NAME }}`, inline code as `process.env.NAME`. */ readonly name: string;
  /** Null if it is secret. */ readonly value: string | null;
  readonly secret: boolean;
  /** `own`: of the owner; `shared`: of the installation, for all owners. An own one of the same name counts. */ readonly origin: "own" | "shared";
  /** Whether runs read it. Null until that is known. */ readonly healthy: boolean | null;
  /** Why runs do not read it. */ readonly problem: string | null;
  /** ISO 8601, UTC. */ readonly updated_at: string;
};

export type DataStore = {
  /** `ds_…`: the value of a prop of type `data_store`. */ readonly id: string;
  readonly name: string;
  readonly description: string | null;
  /** Also those that have expired within the last minute. */ readonly entries: number;
  /** Of all keys and values, UTF-8. */ readonly bytes: number;
  /** ISO 8601, UTC. */ readonly created_at: string;
  /** ISO 8601, UTC. */ readonly updated_at: string;
};

export type DataStoreEntry = {
  readonly key: string;
  /** JSON. Absent with `values=false`. */ readonly value?: unknown;
  /** Another one after each change. */ readonly version: number;
  /** Of key and value, UTF-8. */ readonly bytes: number;
  /** ISO 8601, UTC. */ readonly updated_at: string;
  /** Null: it stays. */ readonly expires_at: string | null;
};

export type SetDataStoreEntry = {
  readonly key: string;
  readonly version: number;
};

export type Webhook = {
  /** `wh_…`. */ readonly id: string;
  /** Only in responses to requests that create or change it. */ readonly user_id?: string | undefined;
  /** Present only if an organization owns it. */ readonly owner_id?: string | undefined;
  readonly name: string | null;
  readonly description: string | null;
  readonly url: string;
  /** Whether events are posted. */ readonly active: boolean;
  /** Whether the events of each source arrive in the order of their commits, one at a time. */ readonly ordered: boolean;
  /** Present while nothing is posted because the endpoint returned 410 Gone or has failed for days; PUT with `active: true` ends that. */ readonly disabled?: {
    /** Epoch seconds. */ readonly at: number;
    readonly reason: "EndpointGone" | "EndpointFailing";
    readonly message: string;
  } | undefined;
  /** Epoch seconds. */ readonly created_at: number;
  /** Epoch seconds. */ readonly updated_at: number;
  /** State of its deliveries; `paused` if its owner switched it off. */ readonly state: "active" | "paused" | "degraded" | "failing" | "circuit_open" | "disabled";
  /** Current problem; null if there is none. */ readonly problem: {
    /** Stable. */ readonly code: string;
    readonly message: string;
    /** Epoch seconds. */ readonly since: number;
  } | null;
  /** Share of the attempts that succeeded, of the last 100 within an hour; null without any. */ readonly success_rate: number | null;
  /** Time until which nothing is posted, because many attempts in a row have failed, epoch seconds; null: no such wait. */ readonly circuit_open_until: number | null;
};

export type CreatedWebhook = {
  /** `wh_…`. */ readonly id: string;
  /** Only in responses to requests that create or change it. */ readonly user_id?: string | undefined;
  /** Present only if an organization owns it. */ readonly owner_id?: string | undefined;
  readonly name: string | null;
  readonly description: string | null;
  readonly url: string;
  /** Whether events are posted. */ readonly active: boolean;
  /** Whether the events of each source arrive in the order of their commits, one at a time. */ readonly ordered: boolean;
  /** Present while nothing is posted because the endpoint returned 410 Gone or has failed for days; PUT with `active: true` ends that. */ readonly disabled?: {
    /** Epoch seconds. */ readonly at: number;
    readonly reason: "EndpointGone" | "EndpointFailing";
    readonly message: string;
  } | undefined;
  /** Epoch seconds. */ readonly created_at: number;
  /** Epoch seconds. */ readonly updated_at: number;
  /** State of its deliveries; `paused` if its owner switched it off. */ readonly state: "active" | "paused" | "degraded" | "failing" | "circuit_open" | "disabled";
  /** Current problem; null if there is none. */ readonly problem: {
    /** Stable. */ readonly code: string;
    readonly message: string;
    /** Epoch seconds. */ readonly since: number;
  } | null;
  /** Share of the attempts that succeeded, of the last 100 within an hour; null without any. */ readonly success_rate: number | null;
  /** Time until which nothing is posted, because many attempts in a row have failed, epoch seconds; null: no such wait. */ readonly circuit_open_until: number | null;
  /** `whsec_…`, only in this response. */ readonly signing_key: string;
};

export type RotatedWebhook = {
  /** `wh_…`. */ readonly id: string;
  /** Only in responses to requests that create or change it. */ readonly user_id?: string | undefined;
  /** Present only if an organization owns it. */ readonly owner_id?: string | undefined;
  readonly name: string | null;
  readonly description: string | null;
  readonly url: string;
  /** Whether events are posted. */ readonly active: boolean;
  /** Whether the events of each source arrive in the order of their commits, one at a time. */ readonly ordered: boolean;
  /** Present while nothing is posted because the endpoint returned 410 Gone or has failed for days; PUT with `active: true` ends that. */ readonly disabled?: {
    /** Epoch seconds. */ readonly at: number;
    readonly reason: "EndpointGone" | "EndpointFailing";
    readonly message: string;
  } | undefined;
  /** Epoch seconds. */ readonly created_at: number;
  /** Epoch seconds. */ readonly updated_at: number;
  /** State of its deliveries; `paused` if its owner switched it off. */ readonly state: "active" | "paused" | "degraded" | "failing" | "circuit_open" | "disabled";
  /** Current problem; null if there is none. */ readonly problem: {
    /** Stable. */ readonly code: string;
    readonly message: string;
    /** Epoch seconds. */ readonly since: number;
  } | null;
  /** Share of the attempts that succeeded, of the last 100 within an hour; null without any. */ readonly success_rate: number | null;
  /** Time until which nothing is posted, because many attempts in a row have failed, epoch seconds; null: no such wait. */ readonly circuit_open_until: number | null;
  /** `whsec_…`, only in this response. */ readonly signing_key?: string | undefined;
  /** Time until which the previous key also signs, epoch seconds; null: only the new one signs. */ readonly previous_key_until: number | null;
};

export type TestedWebhook = {
  readonly delivery_id: string;
  readonly outcome: "delivered" | "failed";
  /** Epoch milliseconds. */ readonly at_ms: number;
  readonly duration_ms: number;
  /** HTTP status of the endpoint's response; null: there was none. */ readonly response_status: number | null;
  /** Why it failed; null: it was delivered. */ readonly cause: string | null;
};

export type Subscription = {
  /** `sub_…`. */ readonly id: string;
  readonly emitter_id: string | null;
  readonly listener_id: string | null;
  /** A channel; empty is the default one. */ readonly event_name: string;
};

export type AutoSubscription = {
  /** `asub_…`. */ readonly id: string;
  readonly listener_id: string | null;
  readonly event_name: "$errors" | "$logs" | null;
};

export type Backlog = {
  /** Deliveries that are due and wait to be attempted. */ readonly due: number;
  /** Deliveries that wait for a retry or for the event's delivery time. */ readonly scheduled: {
    readonly count: number;
    /** The earliest of their times; null: there is none, or there are too many to read. */ readonly next_at_ms: number | null;
  };
  /** The queues of an ordered webhook, one for each source. */ readonly line: {
    readonly count: number;
    readonly head: LineHead | null;
  };
};

export type LineHead = {
  readonly delivery_id: string;
  readonly event_id: string;
  /** Null for a test. */ readonly source_id: string | null;
  /** Null for a test. */ readonly subscription_id: string | null;
  /** The channel; empty is the default one. */ readonly event_name: string;
  /** Attempts so far. */ readonly attempts: number;
  /** Start of the wait in the queue, epoch milliseconds. */ readonly waiting_since_ms: number;
  /** Null: it is attempted as soon as a permit is free. */ readonly next_attempt_at_ms: number | null;
  /** Its result; null if there was none, or it is not recorded yet. */ readonly last_attempt: {
    /** Epoch milliseconds. */ readonly at_ms: number;
    readonly duration_ms: number;
    /** HTTP status of the endpoint's response; null: there was none. */ readonly response_status: number | null;
    /** Why it failed; null: it was delivered. */ readonly cause: string | null;
  } | null;
};

export type Attempt = {
  readonly delivery_id: string;
  readonly event_id: string;
  /** Null for a test. */ readonly source_id: string | null;
  /** Null for a test. */ readonly subscription_id: string | null;
  /** The channel; empty is the default one. */ readonly event_name: string;
  /** The first is 1. */ readonly attempt: number;
  readonly outcome: "delivered" | "retry" | "dead";
  /** Epoch milliseconds. */ readonly at_ms: number;
  readonly duration_ms: number;
  /** HTTP status of the endpoint's response; null: there was none. */ readonly response_status: number | null;
  /** Why it failed; null: it was delivered. */ readonly cause: string | null;
};

export type DeadLetter = {
  readonly delivery_id: string;
  readonly event_id: string;
  /** Null for a test. */ readonly source_id: string | null;
  /** Null for a test. */ readonly subscription_id: string | null;
  /** The channel; empty is the default one. */ readonly event_name: string;
  readonly attempts: number;
  /** Epoch milliseconds. */ readonly died_at_ms: number;
  readonly cause: string;
  /** With `expand=event`. */ readonly event?: unknown;
};

export type Purged = {
  readonly deleted: number;
};

export type Redriven = {
  /** Number of selected dead letters. */ readonly matching: number;
  /** Of them, those that are redelivered: all, or none with `dry_run`. */ readonly queued: number;
};

export type ListedSendAttempt = {
  readonly delivery_id: string;
  readonly run_id: string;
  readonly send: "http" | "email" | "s3";
  /** The first is 1. */ readonly attempt: number;
  readonly outcome: "delivered" | "retry" | "dead";
  /** Epoch milliseconds. */ readonly at_ms: number;
  readonly duration_ms: number;
  /** HTTP status of the endpoint's response; null: there was none. */ readonly response_status: number | null;
  /** Why it failed; null: it was delivered. */ readonly cause: string | null;
};

export type FailedSend = {
  readonly delivery_id: string;
  /** Null for an event. */ readonly run_id: string | null;
  /** Null for an event. */ readonly send: "http" | "email" | "s3" | null;
  /** An event that could not wait for the workflow to become active. */ readonly event?: {
    readonly event_id: string;
    readonly source_id: string;
    readonly subscription_id: string;
    /** The channel; empty is the default one. */ readonly event_name: string;
  } | undefined;
  readonly attempts: number;
  /** Epoch milliseconds. */ readonly died_at_ms: number;
  readonly cause: string;
  /** The event, or the argument of `$.send`, of http with `***` in place of header values and the URL's path. */ readonly argument: unknown;
};

export type Delivery = {
  readonly delivery_id: string;
  readonly event_id: string;
  /** Null for a test. */ readonly source_id: string | null;
  /** Null for a test. */ readonly subscription_id: string | null;
  /** The channel; empty is the default one. */ readonly event_name: string;
  readonly webhook_id: string;
  /** `waiting`: for the next attempt. `ended`: it failed, or is being attempted again. */ readonly state: "delivered" | "waiting" | "dead" | "ended";
  /** The body of every request, exactly as it is sent. Null: the event is no longer stored, or its emitter is not yours. */ readonly body: string | null;
  /** The last 20, newest first. */ readonly attempts: readonly (WholeAttempt)[];
};

export type WholeAttempt = {
  /** The first is 1. */ readonly attempt: number;
  readonly outcome: "delivered" | "retry" | "dead";
  /** Epoch milliseconds. */ readonly at_ms: number;
  readonly duration_ms: number;
  /** HTTP status of the endpoint's response; null: there was none. */ readonly response_status: number | null;
  /** Why it failed; null: it was delivered. */ readonly cause: string | null;
  /** Null: it was not recorded. */ readonly request: {
    readonly method: "POST";
    /** Without credentials. */ readonly url: string;
    /** Without `host`, `connection` and `content-length`. `***` stands for credentials. */ readonly headers: readonly ({
      readonly name: string;
      readonly value: string;
    })[];
  } | null;
  /** Null: there was none, or it was not recorded. */ readonly response: {
    /** `***` stands for cookies, other credentials, and secrets of the webhook. */ readonly headers: readonly ({
      readonly name: string;
      readonly value: string;
    })[];
    /** True: there were more than 100, or they had more than 16 Ki characters. */ readonly headers_cut: boolean;
    /** The first 16 KiB, not decompressed. `***` stands for secrets of the webhook. */ readonly body: string;
    /** `base64`: the body is not UTF-8, or has control characters. */ readonly body_encoding: "utf-8" | "base64";
    /** True: more followed, or the body ended early. */ readonly body_cut: boolean;
  } | null;
};

export type Retried = {
  readonly delivery_id: string;
  readonly webhook_id?: string | undefined;
  /** In place of a webhook, if `$.send` of the workflow asked for it. */ readonly workflow_id?: string | undefined;
  readonly status: "queued";
};

export type Token = {
  /** The API key. */ readonly access_token: string;
  readonly token_type: "Bearer";
  /** Seconds, at most 3600: then request it again. */ readonly expires_in: number;
  /** Epoch seconds. */ readonly created_at: number;
  /** Scopes of the key, separated by spaces. */ readonly scope: string;
};

export type TokenError = {
  /** For programs: RFC 6749, section 5.2. */ readonly error: "invalid_request" | "invalid_client" | "unsupported_grant_type" | "temporarily_unavailable";
  /** For people. */ readonly error_description: string;
};

/** Parameters, body and response of each operation, by its id. */
export interface Operations {
  /** Get the caller with their organizations and usage */
  readonly getMe: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: User;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Choose whether to get mails about errors */
  readonly updateMe: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: OwnerSettings;
    readonly response: {
      readonly data: OwnerSettings;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get the caller's usage of today, with quotas */
  readonly getMyUsage: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Usage;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get an organization's usage of today, with quotas */
  readonly getUsage: {
    readonly path: { readonly org_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Usage;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Have a link mailed that confirms the caller's address */
  readonly confirmMyEmail: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: EmailConfirmation;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the caller's API keys */
  readonly listKeys: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: readonly (Key)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Create an API key */
  readonly createKey: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Display name. */ readonly name: string;
      /** `read` and `write`; by default those of the key that creates it, or both with the admin token. */ readonly scopes?: readonly ("read" | "write")[] | null | undefined;
      /** Epoch seconds; by default that of the key that creates it, or never with the admin token. */ readonly expires_at?: number | null | undefined;
    };
    readonly response: {
      readonly data: CreatedKey;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Revoke an API key */
  readonly revokeKey: {
    readonly path: { readonly id: string; };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly response: undefined;
  };
  /** Create an organization */
  readonly createOrganization: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Display name. */ readonly name: string;
      /** Unique: letters, digits, dots, dashes and underscores; by default derived from the name. */ readonly orgname?: "" | string | null | undefined;
      /** Contact address; by default the caller's. */ readonly email?: "" | string | null | undefined;
    };
    readonly response: {
      readonly data: Organization;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get an organization of the caller */
  readonly getOrganization: {
    readonly path: { readonly org_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Organization;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Choose whether the organization gets mails about errors */
  readonly updateOrganization: {
    readonly path: { readonly org_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: OwnerSettings;
    readonly response: {
      readonly data: OwnerSettings;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Delete an organization that owns nothing and has no other member */
  readonly deleteOrganization: {
    readonly path: { readonly org_id: string; };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly response: undefined;
  };
  /** Have a link mailed that confirms the organization's address */
  readonly confirmOrganizationEmail: {
    readonly path: { readonly org_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: EmailConfirmation;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the members of an organization */
  readonly listMembers: {
    readonly path: { readonly org_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: readonly (Member)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Invite a user by id, username or email address */
  readonly inviteMember: {
    readonly path: { readonly org_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Id of the user, `u_…`. */ readonly user_id?: string | null | undefined;
      /** Exact username. */ readonly username?: string | null | undefined;
      /** Email address of the user's account. */ readonly email?: string | null | undefined;
      /** `admin` or `member` (default); admins manage members. */ readonly role?: "admin" | "member" | null | undefined;
    };
    readonly response: {
      readonly data: Invitation;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the open invitations of an organization */
  readonly listInvitations: {
    readonly path: { readonly org_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: readonly (Invitation)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Withdraw an invitation */
  readonly withdrawInvitation: {
    readonly path: { readonly org_id: string; readonly invitation_id: string; };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly response: undefined;
  };
  /** List the invitations to the caller */
  readonly listMyInvitations: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: readonly (Invitation)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Accept an invitation, and become a member */
  readonly acceptInvitation: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Invitation;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Decline an invitation */
  readonly declineInvitation: {
    readonly path: { readonly id: string; };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly response: undefined;
  };
  /** Change the role of a member */
  readonly putMember: {
    readonly path: { readonly org_id: string; readonly user_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** `admin` or `member`; admins manage members. */ readonly role: "admin" | "member";
    };
    readonly response: {
      readonly data: Member;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Remove a member, or leave an organization */
  readonly removeMember: {
    readonly path: { readonly org_id: string; readonly user_id: string; };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly response: undefined;
  };
  /** List the namespaces that are labelled with the owner, or confirmed */
  readonly listNamespaces: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: readonly (Namespace)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Confirm that a namespace is the owner's */
  readonly confirmNamespace: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Name of the namespace, which need not exist yet. */ readonly name: string;
    };
    readonly response: {
      readonly data: Namespace;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Withdraw the confirmation of a namespace */
  readonly withdrawNamespace: {
    readonly path: { readonly name: string; };
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; };
    readonly body: undefined;
    readonly response: undefined;
  };
  /** List changes of the caller's resources, account and keys */
  readonly listMyAuditLog: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly kind?: string | undefined; readonly action?: string | undefined; readonly actor?: string | undefined; readonly name?: string | undefined; readonly resource_id?: string | undefined; readonly outcome?: "ok" | "failed" | undefined; readonly since?: string | undefined; readonly until?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (AuditEntry)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List changes of an organization's resources, members and settings */
  readonly listAuditLog: {
    readonly path: { readonly org_id: string; };
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly kind?: string | undefined; readonly action?: string | undefined; readonly actor?: string | undefined; readonly name?: string | undefined; readonly resource_id?: string | undefined; readonly outcome?: "ok" | "failed" | undefined; readonly since?: string | undefined; readonly until?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (AuditEntry)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List saved components */
  readonly listComponents: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (ListedComponent)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Save a component */
  readonly saveComponent: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly dry_run?: boolean | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Code of the component; together with component_files, its entry. */ readonly component_code?: string | null | undefined;
      /** Texts of the files by path. */ readonly component_files?: Readonly<Record<string, string>> | null | undefined;
      /** Path of the file that exports the component; optional with a single file. */ readonly component_entry?: string | null | undefined;
      /** Address of the code, also `npm:<package>@<version>/<file>` or `npm:<package>@<version>#action/<name>`; together with code, only its origin. */ readonly component_url?: string | null | undefined;
    };
    readonly response: {
      readonly data: Component;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Find keys of components, including those of the registry */
  readonly searchComponents: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly query?: string | undefined; readonly app?: string | undefined; readonly similarity_threshold?: number | undefined; readonly limit?: number | undefined; readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; };
    readonly body: undefined;
    readonly response: FoundKeys;
  };
  /** Find components, including those of the registry */
  readonly searchComponentDetails: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly query?: string | undefined; readonly app?: string | undefined; readonly similarity_threshold?: number | undefined; readonly limit?: number | undefined; readonly type?: "source" | "action" | undefined; readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (ListedComponent)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the components of the registry */
  readonly listRegistry: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (ListedComponent)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get a component of the registry */
  readonly getPublishedComponent: {
    readonly path: { readonly key: string; };
    readonly query: { readonly version?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: PublishedComponent;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the versions of a component of the registry */
  readonly listPublishedVersions: {
    readonly path: { readonly key: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: readonly (PublishedVersion)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get a component */
  readonly getComponent: {
    readonly path: { readonly key: string; };
    readonly query: { readonly version?: string | undefined; readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Component;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Delete a component that no source or workflow uses */
  readonly deleteComponent: {
    readonly path: { readonly key: string; };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly response: undefined;
  };
  /** List saved components with the same key */
  readonly listVersions: {
    readonly path: { readonly key: string; };
    readonly query: { readonly version?: string | undefined; readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (ListedComponent)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the choices of a prop whose options are a function */
  readonly listComponentOptions: {
    readonly path: { readonly key: string; };
    readonly query: { readonly version?: string | undefined; readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Values by name of the prop. */ readonly configured_props?: Readonly<Record<string, unknown>> | null | undefined;
      /** A prop whose options are a function. */ readonly prop_name: string;
      /** Number of the page; the first is 0. */ readonly page?: number | null | undefined;
      /** The `context` of the previous page. */ readonly prev_context?: unknown;
      /** What a person typed to search. */ readonly query?: string | null | undefined;
    };
    readonly response: {
      readonly data: Options;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List all props for the values chosen so far */
  readonly listComponentProps: {
    readonly path: { readonly key: string; };
    readonly query: { readonly version?: string | undefined; readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Values by name of the prop. */ readonly configured_props?: Readonly<Record<string, unknown>> | null | undefined;
    };
    readonly response: {
      readonly data: Props;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get a package of the npm registry */
  readonly getPackage: {
    readonly path: { readonly name: string; };
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly version?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Package;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the components of a package of the npm registry */
  readonly listPackageComponents: {
    readonly path: { readonly name: string; };
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly version?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: readonly (PackageComponent)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Search the connectors that are known to load */
  readonly searchConnectors: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly q?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: readonly (Connector)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Test a component with these props, without deploying it */
  readonly testSource: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Id of a saved component, `sc_…`. */ readonly component_id?: string | null | undefined;
      /** Code of the component; together with component_files, its entry. */ readonly component_code?: string | null | undefined;
      /** Address of the code, also `npm:<package>@<version>/<file>` or `npm:<package>@<version>#action/<name>`; together with code, only its origin. */ readonly component_url?: string | null | undefined;
      /** Texts of the files by path. */ readonly component_files?: Readonly<Record<string, string>> | null | undefined;
      /** Path of the file that exports the component; optional with a single file. */ readonly component_entry?: string | null | undefined;
      /** Key of a component: of yours, otherwise of the registry. */ readonly key?: string | null | undefined;
      /** Values by name of the prop. */ readonly configured_props?: Readonly<Record<string, unknown>> | null | undefined;
      /** Argument of `run`. Default: a tick of its first timer, or an empty request, with `test: true`. */ readonly event?: unknown;
    };
    readonly response: {
      readonly data: SourceTest;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the caller's sources */
  readonly listMySources: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly state?: "active" | "paused" | "failing" | "disabled" | "deploying" | undefined; readonly q?: string | undefined; readonly component_key?: string | undefined; readonly trigger?: "http" | "timer" | "none" | undefined; readonly sort?: "name" | "-name" | "created_at" | "-created_at" | "updated_at" | "-updated_at" | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (Source)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List an organization's sources */
  readonly listSources: {
    readonly path: { readonly org_id: string; };
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly state?: "active" | "paused" | "failing" | "disabled" | "deploying" | undefined; readonly q?: string | undefined; readonly component_key?: string | undefined; readonly trigger?: "http" | "timer" | "none" | undefined; readonly sort?: "name" | "-name" | "created_at" | "-created_at" | "updated_at" | "-updated_at" | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (Source)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Deploy a component */
  readonly createSource: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Id of a saved component, `sc_…`. */ readonly component_id?: string | null | undefined;
      /** Code of the component; together with component_files, its entry. */ readonly component_code?: string | null | undefined;
      /** Address of the code, also `npm:<package>@<version>/<file>` or `npm:<package>@<version>#action/<name>`; together with code, only its origin. */ readonly component_url?: string | null | undefined;
      /** Texts of the files by path. */ readonly component_files?: Readonly<Record<string, string>> | null | undefined;
      /** Path of the file that exports the component; optional with a single file. */ readonly component_entry?: string | null | undefined;
      /** Key of a component: of yours, otherwise of the registry. */ readonly key?: string | null | undefined;
      /** Display name. */ readonly name?: string | null | undefined;
      /** Values by name of the prop. */ readonly configured_props?: Readonly<Record<string, unknown>> | null | undefined;
      /** False: the source is paused. */ readonly active?: boolean | null | undefined;
      /** False: events of the deploy hook are dropped. */ readonly emit_on_deploy?: boolean | null | undefined;
    };
    readonly response: {
      readonly data: Source;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get a source */
  readonly getSource: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Source;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Change a source */
  readonly updateSource: {
    readonly path: { readonly id: string; };
    readonly query: { readonly ignore_hook_errors?: boolean | undefined; readonly force?: boolean | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Id of a saved component, `sc_…`. */ readonly component_id?: string | null | undefined;
      /** Code of the component; together with component_files, its entry. */ readonly component_code?: string | null | undefined;
      /** Address of the code, also `npm:<package>@<version>/<file>` or `npm:<package>@<version>#action/<name>`; together with code, only its origin. */ readonly component_url?: string | null | undefined;
      /** Texts of the files by path. */ readonly component_files?: Readonly<Record<string, string>> | null | undefined;
      /** Path of the file that exports the component; optional with a single file. */ readonly component_entry?: string | null | undefined;
      /** Key of a component: of yours, otherwise of the registry. */ readonly key?: string | null | undefined;
      /** Display name. */ readonly name?: string | null | undefined;
      /** Values by name of the prop. */ readonly configured_props?: Readonly<Record<string, unknown>> | null | undefined;
      /** False: the source is paused. */ readonly active?: boolean | null | undefined;
      /** False: events of the deploy hook are dropped. */ readonly emit_on_deploy?: boolean | null | undefined;
      /** True: the deactivate hook is called once instead of three times. */ readonly ignore_hook_errors?: boolean | null | undefined;
    };
    readonly response: {
      readonly data: Source;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Delete a source with its timers, its endpoint and its history */
  readonly deleteSource: {
    readonly path: { readonly id: string; };
    readonly query: { readonly ignore_hook_errors?: boolean | undefined; readonly force?: boolean | undefined; };
    readonly body: undefined;
    readonly response: undefined;
  };
  /** List the choices of a prop whose options are a function */
  readonly listSourceOptions: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Values by name of the prop. */ readonly configured_props?: Readonly<Record<string, unknown>> | null | undefined;
      /** A prop whose options are a function. */ readonly prop_name: string;
      /** Number of the page; the first is 0. */ readonly page?: number | null | undefined;
      /** The `context` of the previous page. */ readonly prev_context?: unknown;
      /** What a person typed to search. */ readonly query?: string | null | undefined;
    };
    readonly response: {
      readonly data: Options;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List all props for the values chosen so far */
  readonly listSourceProps: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Values by name of the prop. */ readonly configured_props?: Readonly<Record<string, unknown>> | null | undefined;
    };
    readonly response: {
      readonly data: Props;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Search events, log lines, runs and errors */
  readonly search: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly q?: string | undefined; readonly limit?: number | undefined; readonly cursor?: string | undefined; readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: SearchPage;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Search events, log lines, runs and errors of an organization */
  readonly searchOrganization: {
    readonly path: { readonly org_id: string; };
    readonly query: { readonly q?: string | undefined; readonly limit?: number | undefined; readonly cursor?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: SearchPage;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Stream what a search would find, as it is committed */
  readonly streamSearch: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly q?: string | undefined; readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; };
    readonly body: undefined;
    readonly response: undefined;
  };
  /** Stream what a search of an organization would find, as it is committed */
  readonly streamOrganizationSearch: {
    readonly path: { readonly org_id: string; };
    readonly query: { readonly q?: string | undefined; };
    readonly body: undefined;
    readonly response: undefined;
  };
  /** Get the trace of a run, an event or a delivery */
  readonly getTrace: {
    readonly path: { readonly id: string; };
    readonly query: { readonly below?: boolean | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Trace;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the runs of a source */
  readonly listRuns: {
    readonly path: { readonly id: string; };
    readonly query: { readonly failed?: boolean | undefined; readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (Run)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Run a source now */
  readonly runSource: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Argument of `run`. */ readonly event?: unknown;
      /** Id of a stored event to run with, instead of `event`. */ readonly event_id?: string | null | undefined;
      /** The source that emitted `event_id`; by default the source itself. */ readonly emitter_id?: string | null | undefined;
      /** True: the run stores nothing, and the response has what it would have stored. */ readonly dry_run?: boolean | null | undefined;
    };
    readonly response: {
      readonly data: Run | DryRun;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    } | {
      readonly data: StartedRun;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get a run with its logs */
  readonly getRun: {
    readonly path: { readonly id: string; readonly run_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Run | StartedRun;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the results of the ticks of a source's timers */
  readonly listTicks: {
    readonly path: { readonly id: string; };
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (Tick)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the last lines of a source's log, newest first */
  readonly listLogs: {
    readonly path: { readonly id: string; };
    readonly query: { readonly limit?: number | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: readonly (LogLine)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get what a run started from */
  readonly debugRun: {
    readonly path: { readonly id: string; readonly run_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** True: with the code and props of now, if the version that ran is no longer deployed. */ readonly current_version?: boolean | null | undefined;
    };
    readonly response: {
      readonly data: RunInputs;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the events of a source */
  readonly listEvents: {
    readonly path: { readonly id: string; };
    readonly query: { readonly event_name?: string | undefined; readonly expand?: string | undefined; readonly since?: string | undefined; readonly until?: string | undefined; readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (Event)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the events of a source in an older form */
  readonly listEventsAsBefore: {
    readonly path: { readonly id: string; };
    readonly query: { readonly n?: number | undefined; readonly limit?: number | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: readonly (LegacyEvent)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Delete events */
  readonly deleteEvents: {
    readonly path: { readonly id: string; };
    readonly query: { readonly event_name?: string | undefined; readonly start_id?: string | undefined; readonly end_id?: string | undefined; };
    readonly body: undefined;
    readonly response: undefined;
  };
  /** List deletions of events with their progress */
  readonly listEventDeletions: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: readonly (EventDeletion)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Deliver past events again */
  readonly replayEvents: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** First event of the range, inclusive. */ readonly start_id?: string | null | undefined;
      /** Last event of the range, inclusive. */ readonly end_id?: string | null | undefined;
      /** Only events of this channel. */ readonly event_name?: string | null | undefined;
      /** A webhook, source or workflow; by default all current listeners. */ readonly listener_id?: string | null | undefined;
    };
    readonly response: {
      readonly data: Replay;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Stream the events of a source as they are committed */
  readonly streamEvents: {
    readonly path: { readonly id: string; };
    readonly query: { readonly event_name?: string | undefined; readonly replay?: string | undefined; };
    readonly body: undefined;
    readonly response: undefined;
  };
  /** Stream the log of a source as it is written */
  readonly streamLogs: {
    readonly path: { readonly id: string; };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly response: undefined;
  };
  /** Stream the events of a workflow, and what `$.send.sse` sends */
  readonly streamWorkflowEvents: {
    readonly path: { readonly workflow_id: string; };
    readonly query: { readonly event_name?: string | undefined; readonly replay?: string | undefined; };
    readonly body: undefined;
    readonly response: undefined;
  };
  /** Stream the log of a workflow as it is written */
  readonly streamWorkflowLogs: {
    readonly path: { readonly workflow_id: string; };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly response: undefined;
  };
  /** List the caller's workflows */
  readonly listMyWorkflows: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly state?: "active" | "paused" | "failing" | "disabled" | "deploying" | "degraded" | undefined; readonly trigger?: "source" | "http" | "timer" | "email" | "none" | undefined; readonly q?: string | undefined; readonly sort?: "name" | "-name" | "created_at" | "-created_at" | "updated_at" | "-updated_at" | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (Workflow)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List an organization's workflows */
  readonly listWorkflows: {
    readonly path: { readonly org_id: string; };
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly state?: "active" | "paused" | "failing" | "disabled" | "deploying" | "degraded" | undefined; readonly trigger?: "source" | "http" | "timer" | "email" | "none" | undefined; readonly q?: string | undefined; readonly sort?: "name" | "-name" | "created_at" | "-created_at" | "updated_at" | "-updated_at" | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (Workflow)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Create a workflow */
  readonly createWorkflow: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Display name. */ readonly name: string;
      /** False: it does not run, and events delivered to it wait. */ readonly active?: boolean | null | undefined;
      /** What starts runs, besides subscriptions. */ readonly triggers?: readonly ({
        /** May be absent beside `source_id`. */ readonly type?: "source" | "http" | "timer" | "email" | null | undefined;
        /** Each event of this source starts a run. */ readonly source_id?: string | null | undefined;
        /** Of a timer: five fields, such as `*\/5 * * * *`. */ readonly cron?: string | null | undefined;
        /** Of a timer, instead of `cron`. */ readonly interval_seconds?: number | null | undefined;
        /** Of a timer with `cron`; default UTC. */ readonly timezone?: string | null | undefined;
        /** Of a timer: a tick is due up to so many seconds later, always the same for one tick. Less than the time between two ticks. */ readonly jitter_seconds?: number | null | undefined;
        /** Of a timer: what a tick does while the last run of the timer has not ended; default `allow`. */ readonly overlap?: "allow" | "skip" | "queue" | "cancel" | null | undefined;
        /** Of a timer: how many of the last ticks run that were missed while the workflow was inactive or Headwater was down. */ readonly catch_up?: number | null | undefined;
        /** Of `http`. True: the caller waits for `$.respond`. By default it does if a step's code calls `$.respond`. */ readonly custom_response?: boolean | null | undefined;
      })[] | null | undefined;
      /** Steps, in order. */ readonly steps?: readonly (WorkflowStepFields)[] | null | undefined;
      /** How many runs are executed at once, and whether errors are mailed. */ readonly settings?: {
        /** Maximum runs at once; null: no limit. */ readonly concurrency?: number | null | undefined;
        /** Maximum runs that start within the interval; null: no limit. */ readonly throttle?: {
          readonly runs: number;
          readonly interval_seconds: number;
        } | null | undefined;
        /** Maximum runs that wait; null: the limit of the installation. */ readonly queue_size?: number | null | undefined;
        /** True: runs are executed one at a time, in the order of their events. */ readonly ordered?: boolean | null | undefined;
        /** False: its errors are not mailed. */ readonly error_mails?: boolean | null | undefined;
      } | null | undefined;
    };
    readonly response: {
      readonly data: Workflow;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get a workflow */
  readonly getWorkflow: {
    readonly path: { readonly workflow_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Workflow;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Change a workflow */
  readonly updateWorkflow: {
    readonly path: { readonly workflow_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Display name. */ readonly name?: string | null | undefined;
      /** False: it does not run, and events delivered to it wait. */ readonly active?: boolean | null | undefined;
      /** What starts runs, besides subscriptions. */ readonly triggers?: readonly ({
        /** May be absent beside `source_id`. */ readonly type?: "source" | "http" | "timer" | "email" | null | undefined;
        /** Each event of this source starts a run. */ readonly source_id?: string | null | undefined;
        /** Of a timer: five fields, such as `*\/5 * * * *`. */ readonly cron?: string | null | undefined;
        /** Of a timer, instead of `cron`. */ readonly interval_seconds?: number | null | undefined;
        /** Of a timer with `cron`; default UTC. */ readonly timezone?: string | null | undefined;
        /** Of a timer: a tick is due up to so many seconds later, always the same for one tick. Less than the time between two ticks. */ readonly jitter_seconds?: number | null | undefined;
        /** Of a timer: what a tick does while the last run of the timer has not ended; default `allow`. */ readonly overlap?: "allow" | "skip" | "queue" | "cancel" | null | undefined;
        /** Of a timer: how many of the last ticks run that were missed while the workflow was inactive or Headwater was down. */ readonly catch_up?: number | null | undefined;
        /** Of `http`. True: the caller waits for `$.respond`. By default it does if a step's code calls `$.respond`. */ readonly custom_response?: boolean | null | undefined;
      })[] | null | undefined;
      /** Steps, in order. */ readonly steps?: readonly (WorkflowStepFields)[] | null | undefined;
      /** How many runs are executed at once, and whether errors are mailed. */ readonly settings?: {
        /** Maximum runs at once; null: no limit. */ readonly concurrency?: number | null | undefined;
        /** Maximum runs that start within the interval; null: no limit. */ readonly throttle?: {
          readonly runs: number;
          readonly interval_seconds: number;
        } | null | undefined;
        /** Maximum runs that wait; null: the limit of the installation. */ readonly queue_size?: number | null | undefined;
        /** True: runs are executed one at a time, in the order of their events. */ readonly ordered?: boolean | null | undefined;
        /** False: its errors are not mailed. */ readonly error_mails?: boolean | null | undefined;
      } | null | undefined;
    };
    readonly response: {
      readonly data: Workflow;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Delete a workflow with its timers, its endpoint, its queue and its history */
  readonly deleteWorkflow: {
    readonly path: { readonly workflow_id: string; };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly response: undefined;
  };
  /** Repeat a run of a workflow, from the step that failed or another one */
  readonly repeatWorkflowRun: {
    readonly path: { readonly workflow_id: string; readonly run_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Name or id of the step that runs first; of one within another step, the outermost runs. Default: the step that failed the run, or else the first one. */ readonly from?: string | null | undefined;
      /** `current` (default), or `same`: the version of the run. */ readonly version?: "current" | "same" | null | undefined;
      /** True: the new run begins without the files that the steps before have left. */ readonly without_files?: boolean | null | undefined;
      /** In place of the event of the run. Without `from`, the new run then begins with the first step. */ readonly event?: unknown;
    };
    readonly response: {
      readonly data: WorkflowRun;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    } | {
      readonly data: StartedWorkflowRun;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Repeat all stored runs of a workflow that failed */
  readonly repeatWorkflowRuns: {
    readonly path: { readonly workflow_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** `current` (default), or `same`: the version of the run. */ readonly version?: "current" | "same" | null | undefined;
      /** True: the new run begins without the files that the steps before have left. */ readonly without_files?: boolean | null | undefined;
      /** Default: `failed`. */ readonly status?: "succeeded" | "exited" | "failed" | "canceled" | null | undefined;
      /** Default: `failed_step`. */ readonly from?: "failed_step" | "first_step" | null | undefined;
      /** Only runs that started at this time or later, epoch ms. */ readonly since_ms?: number | null | undefined;
      /** Only runs that started before this time, epoch ms. */ readonly until_ms?: number | null | undefined;
      /** True: says which runs it would repeat. */ readonly dry_run?: boolean | null | undefined;
    };
    readonly response: {
      readonly data: RepeatedRuns;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the runs of a workflow */
  readonly listWorkflowRuns: {
    readonly path: { readonly workflow_id: string; };
    readonly query: { readonly status?: "running" | "suspended" | "succeeded" | "exited" | "failed" | "canceled" | undefined; readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (WorkflowRun)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Run a workflow now */
  readonly runWorkflow: {
    readonly path: { readonly workflow_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** `steps.trigger.event`. Default: what the first trigger would send. */ readonly event?: unknown;
    };
    readonly response: {
      readonly data: WorkflowRun;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    } | {
      readonly data: StartedWorkflowRun;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get a run of a workflow with its steps */
  readonly getWorkflowRun: {
    readonly path: { readonly workflow_id: string; readonly run_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: WorkflowRunDetails;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the results of the ticks of a workflow's timers */
  readonly listWorkflowTicks: {
    readonly path: { readonly workflow_id: string; };
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (Tick)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the last lines of a workflow's log, newest first */
  readonly listWorkflowLogs: {
    readonly path: { readonly workflow_id: string; };
    readonly query: { readonly limit?: number | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: readonly (LogLine)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the workflow runs that an event of a source started */
  readonly listRunsOfSourceEvent: {
    readonly path: { readonly id: string; readonly event_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: readonly (WorkflowRun)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the workflow runs that an event of a workflow started */
  readonly listRunsOfWorkflowEvent: {
    readonly path: { readonly workflow_id: string; readonly event_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: readonly (WorkflowRun)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Run a workflow for past ticks of a timer */
  readonly backfillTrigger: {
    readonly path: { readonly workflow_id: string; readonly trigger_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Start of the range, inclusive: epoch milliseconds, or a time in RFC 3339. */ readonly from: number | string;
      /** Its end, exclusive. Default: now. */ readonly to?: number | string | null | undefined;
    };
    readonly response: {
      readonly data: Backfill;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Cancel a run of a workflow */
  readonly cancelWorkflowRun: {
    readonly path: { readonly workflow_id: string; readonly run_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** For people: `reason` of the run. */ readonly reason?: string | null | undefined;
    };
    readonly response: {
      readonly data: WorkflowRun;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Pause a run of a workflow before its next step */
  readonly pauseWorkflowRun: {
    readonly path: { readonly workflow_id: string; readonly run_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** For people: `reason` of the run. */ readonly reason?: string | null | undefined;
    };
    readonly response: {
      readonly data: WorkflowRun;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Resume a run of a workflow that is paused or waits */
  readonly resumeWorkflowRun: {
    readonly path: { readonly workflow_id: string; readonly run_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** A JSON value: the body of `steps.<name>.$resume_data`, if the run waits for a request. */ readonly data?: unknown;
    };
    readonly response: {
      readonly data: WorkflowRun;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the events of a workflow */
  readonly listWorkflowEvents: {
    readonly path: { readonly workflow_id: string; };
    readonly query: { readonly event_name?: string | undefined; readonly expand?: string | undefined; readonly since?: string | undefined; readonly until?: string | undefined; readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (Event)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the errors of a workflow */
  readonly listWorkflowErrors: {
    readonly path: { readonly workflow_id: string; };
    readonly query: { readonly expand?: string | undefined; readonly since?: string | undefined; readonly until?: string | undefined; readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (Event)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Delete events of a workflow */
  readonly deleteWorkflowEvents: {
    readonly path: { readonly workflow_id: string; };
    readonly query: { readonly event_name?: string | undefined; readonly start_id?: string | undefined; readonly end_id?: string | undefined; };
    readonly body: undefined;
    readonly response: undefined;
  };
  /** List deletions of events of a workflow with their progress */
  readonly listWorkflowEventDeletions: {
    readonly path: { readonly workflow_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: readonly (WorkflowEventDeletion)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Test a workflow, or a draft of its steps */
  readonly testWorkflow: {
    readonly path: { readonly workflow_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** The trigger's event, `steps.trigger.event`. Default: what the first trigger would send. */ readonly event?: unknown;
      /** Name or id of the last step to execute; absent: all. */ readonly until_step?: string | null | undefined;
      /** The steps of a draft, in the form of PUT. Absent: the saved steps. */ readonly steps?: readonly (WorkflowStepFields)[] | null | undefined;
    };
    readonly response: {
      readonly data: WorkflowTest;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the choices of a prop whose options are a function */
  readonly listStepOptions: {
    readonly path: { readonly workflow_id: string; readonly step: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Values by name of the prop. */ readonly configured_props?: Readonly<Record<string, unknown>> | null | undefined;
      /** A prop whose options are a function. */ readonly prop_name: string;
      /** Number of the page; the first is 0. */ readonly page?: number | null | undefined;
      /** The `context` of the previous page. */ readonly prev_context?: unknown;
      /** What a person typed to search. */ readonly query?: string | null | undefined;
    };
    readonly response: {
      readonly data: Options;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List all props for the values chosen so far */
  readonly listStepProps: {
    readonly path: { readonly workflow_id: string; readonly step: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Values by name of the prop. */ readonly configured_props?: Readonly<Record<string, unknown>> | null | undefined;
    };
    readonly response: {
      readonly data: Props;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get runs, errors, durations and events of a source over time */
  readonly getSourceMetrics: {
    readonly path: { readonly id: string; };
    readonly query: { readonly from?: number | undefined; readonly to?: number | undefined; readonly step?: "auto" | "minute" | "5_minutes" | "15_minutes" | "hour" | "day" | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Metrics;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get runs, errors and durations of a workflow over time */
  readonly getWorkflowMetrics: {
    readonly path: { readonly workflow_id: string; };
    readonly query: { readonly from?: number | undefined; readonly to?: number | undefined; readonly step?: "auto" | "minute" | "5_minutes" | "15_minutes" | "hour" | "day" | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Metrics;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get attempts, deliveries and dead letters of a webhook over time */
  readonly getWebhookMetrics: {
    readonly path: { readonly id: string; };
    readonly query: { readonly from?: number | undefined; readonly to?: number | undefined; readonly step?: "auto" | "minute" | "5_minutes" | "15_minutes" | "hour" | "day" | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Metrics;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get what all sources, workflows and webhooks of the caller did over time */
  readonly getMyMetrics: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly from?: number | undefined; readonly to?: number | undefined; readonly step?: "auto" | "minute" | "5_minutes" | "15_minutes" | "hour" | "day" | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Metrics;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get what all sources, workflows and webhooks of an organization did over time */
  readonly getMetrics: {
    readonly path: { readonly org_id: string; };
    readonly query: { readonly from?: number | undefined; readonly to?: number | undefined; readonly step?: "auto" | "minute" | "5_minutes" | "15_minutes" | "hour" | "day" | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Metrics;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get the metrics of several sources, workflows and webhooks */
  readonly listMetrics: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly from?: number | undefined; readonly to?: number | undefined; readonly step?: "auto" | "minute" | "5_minutes" | "15_minutes" | "hour" | "day" | undefined; readonly ids: string; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: readonly (Metrics)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List and search apps */
  readonly listApps: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly q?: string | undefined; readonly category?: string | undefined; readonly kind?: "oauth2" | "keys" | "basic" | "none" | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (ConnectableApp)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Add an app of your own */
  readonly createApp: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Such as `acme`. An app of yours replaces one of the installation. */ readonly name_slug: string;
      /** Display name. */ readonly name: string;
      /** Description for people. */ readonly description?: string | null | undefined;
      /** `oauth`: accounts are connected by signing in at the service. `keys`, `basic`, `none`. */ readonly auth_type: "oauth" | "keys" | "basic" | "none";
      /** For search. */ readonly categories?: readonly (string)[] | null | undefined;
      /** Page of the service on registering a client, or on its credentials. */ readonly documentation_url?: string | null | undefined;
      /** For `oauth`. */ readonly oauth?: {
        /** How accounts get tokens. Default: `authorization_code`, by signing in at the service. */ readonly grant?: "authorization_code" | "client_credentials" | null | undefined;
        /** The authorization endpoint. Required for `authorization_code`. */ readonly authorization_url?: string | null | undefined;
        /** The token endpoint. */ readonly token_url?: string | undefined;
        /** Where tokens are refreshed, if not at the token endpoint. */ readonly refresh_url?: string | null | undefined;
        /** The revocation endpoint (RFC 7009). */ readonly revocation_url?: string | null | undefined;
        /** The value of `iss` in redirects of the service (RFC 9207). */ readonly issuer?: string | null | undefined;
        /** Whether the authorization request has a code challenge (S256). Default: true. */ readonly pkce?: boolean | null | undefined;
        /** Scopes to request, unless the request names others. */ readonly scopes?: readonly (string)[] | null | undefined;
        /** Parameter of the authorization request that has the scopes. Default: `scope`. */ readonly scope_parameter?: string | null | undefined;
        /** Default: a space. */ readonly scope_separator?: " " | "," | ";" | null | undefined;
        /** Further parameters of the authorization request. */ readonly authorization_params?: Readonly<Record<string, string>> | null | undefined;
        /** Default: `basic`. */ readonly client_authentication?: "basic" | "body" | null | undefined;
        /** How the token endpoint reads requests. Default: `form`. */ readonly request_format?: "form" | "json" | null | undefined;
        /** Further parameters of requests to the token endpoint, such as `audience`. */ readonly token_params?: Readonly<Record<string, string>> | null | undefined;
        /** Path of the object in the token response that has `access_token`, such as `authed_user`. Default: the response itself. */ readonly token_path?: string | null | undefined;
        /** Error codes besides `invalid_grant` that say that a refresh token is no longer valid. */ readonly void_grant_errors?: readonly (string)[] | null | undefined;
        /** Paths of fields of the token response that become credentials: `team.id` becomes `team_id`. */ readonly token_fields?: readonly (string)[] | null | undefined;
        /** A harmless GET request with the token. */ readonly test_url?: string | null | undefined;
        /** Path of the account's name in its JSON answer, such as `data.user.name`. */ readonly test_name?: string | null | undefined;
        /** Path of the address of the account's picture. */ readonly test_picture?: string | null | undefined;
      } | null | undefined;
      /** Credentials that a person enters: for `keys`. */ readonly custom_fields?: readonly ({
        readonly name: string;
        readonly label?: string | null | undefined;
        readonly description?: string | null | undefined;
        readonly optional?: boolean | null | undefined;
        readonly secret?: boolean | null | undefined;
      })[] | null | undefined;
    };
    readonly response: {
      readonly data: ConnectableApp;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get an app, by its slug or id */
  readonly getApp: {
    readonly path: { readonly slug: string; };
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: ConnectableApp;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Change an app of your own */
  readonly updateApp: {
    readonly path: { readonly slug: string; };
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Display name. */ readonly name?: string | undefined;
      /** Description for people. */ readonly description?: string | null | undefined;
      /** `oauth`: accounts are connected by signing in at the service. `keys`, `basic`, `none`. */ readonly auth_type?: "oauth" | "keys" | "basic" | "none" | undefined;
      /** For search. */ readonly categories?: readonly (string)[] | null | undefined;
      /** Page of the service on registering a client, or on its credentials. */ readonly documentation_url?: string | null | undefined;
      /** For `oauth`. */ readonly oauth?: {
        /** How accounts get tokens. Default: `authorization_code`, by signing in at the service. */ readonly grant?: "authorization_code" | "client_credentials" | null | undefined;
        /** The authorization endpoint. Required for `authorization_code`. */ readonly authorization_url?: string | null | undefined;
        /** The token endpoint. */ readonly token_url?: string | undefined;
        /** Where tokens are refreshed, if not at the token endpoint. */ readonly refresh_url?: string | null | undefined;
        /** The revocation endpoint (RFC 7009). */ readonly revocation_url?: string | null | undefined;
        /** The value of `iss` in redirects of the service (RFC 9207). */ readonly issuer?: string | null | undefined;
        /** Whether the authorization request has a code challenge (S256). Default: true. */ readonly pkce?: boolean | null | undefined;
        /** Scopes to request, unless the request names others. */ readonly scopes?: readonly (string)[] | null | undefined;
        /** Parameter of the authorization request that has the scopes. Default: `scope`. */ readonly scope_parameter?: string | null | undefined;
        /** Default: a space. */ readonly scope_separator?: " " | "," | ";" | null | undefined;
        /** Further parameters of the authorization request. */ readonly authorization_params?: Readonly<Record<string, string>> | null | undefined;
        /** Default: `basic`. */ readonly client_authentication?: "basic" | "body" | null | undefined;
        /** How the token endpoint reads requests. Default: `form`. */ readonly request_format?: "form" | "json" | null | undefined;
        /** Further parameters of requests to the token endpoint, such as `audience`. */ readonly token_params?: Readonly<Record<string, string>> | null | undefined;
        /** Path of the object in the token response that has `access_token`, such as `authed_user`. Default: the response itself. */ readonly token_path?: string | null | undefined;
        /** Error codes besides `invalid_grant` that say that a refresh token is no longer valid. */ readonly void_grant_errors?: readonly (string)[] | null | undefined;
        /** Paths of fields of the token response that become credentials: `team.id` becomes `team_id`. */ readonly token_fields?: readonly (string)[] | null | undefined;
        /** A harmless GET request with the token. */ readonly test_url?: string | null | undefined;
        /** Path of the account's name in its JSON answer, such as `data.user.name`. */ readonly test_name?: string | null | undefined;
        /** Path of the address of the account's picture. */ readonly test_picture?: string | null | undefined;
      } | null | undefined;
      /** Credentials that a person enters: for `keys`. */ readonly custom_fields?: readonly ({
        readonly name: string;
        readonly label?: string | null | undefined;
        readonly description?: string | null | undefined;
        readonly optional?: boolean | null | undefined;
        readonly secret?: boolean | null | undefined;
      })[] | null | undefined;
    };
    readonly response: {
      readonly data: ConnectableApp;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Delete an app of your own */
  readonly deleteApp: {
    readonly path: { readonly slug: string; };
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; };
    readonly body: undefined;
    readonly response: undefined;
  };
  /** List the caller's OAuth clients */
  readonly listMyOAuthClients: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly app?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (OAuthClient)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List an organization's OAuth clients */
  readonly listOAuthClients: {
    readonly path: { readonly org_id: string; };
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly app?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (OAuthClient)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Add the OAuth client of an app */
  readonly createOAuthClient: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Name slug of the app, such as `slack`. */ readonly app: string;
      /** Display name. */ readonly name?: string | null | undefined;
      /** The client's id, as the service gave it. */ readonly client_id: string;
      /** The client's secret. No response shows it. */ readonly client_secret?: string | null | undefined;
      /** Scopes to request with this client. Default: those of the app. */ readonly scopes?: readonly (string)[] | null | undefined;
    };
    readonly response: {
      readonly data: OAuthClient;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get an OAuth client */
  readonly getOAuthClient: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: OAuthClient;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Change an OAuth client */
  readonly updateOAuthClient: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Display name. */ readonly name?: string | null | undefined;
      /** The client's id, as the service gave it. */ readonly client_id?: string | undefined;
      /** The client's secret. No response shows it. */ readonly client_secret?: string | null | undefined;
      /** Scopes to request with this client. Default: those of the app. */ readonly scopes?: readonly (string)[] | null | undefined;
    };
    readonly response: {
      readonly data: OAuthClient;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Delete an OAuth client */
  readonly deleteOAuthClient: {
    readonly path: { readonly id: string; };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly response: undefined;
  };
  /** Begin to connect an account of an app */
  readonly connectApp: {
    readonly path: { readonly slug: string; };
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Name of the account. Default: its name at the service. */ readonly name?: string | null | undefined;
      /** Scopes to request. Default: those of the OAuth client, else those of the app. */ readonly scopes?: readonly (string)[] | null | undefined;
      /** Connects this account again, `apn_…`, instead of a new one. */ readonly account_id?: string | null | undefined;
    };
    readonly response: {
      readonly data: StartedConnection;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Begin to connect an account again */
  readonly reconnectAccount: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Scopes to request. Default: those of the OAuth client, else those of the app. */ readonly scopes?: readonly (string)[] | null | undefined;
    };
    readonly response: {
      readonly data: StartedConnection;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get the outcome of connecting an account */
  readonly getConnection: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Connection;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the caller's accounts */
  readonly listMyAccounts: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly app?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (Account)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List an organization's accounts */
  readonly listAccounts: {
    readonly path: { readonly org_id: string; };
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly app?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (Account)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Store the credentials of an app */
  readonly createAccount: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Name slug of an app, such as `github`. */ readonly app: string | {
        readonly name_slug: string;
      };
      /** Display name. */ readonly name?: string | null | undefined;
      /** Values by field. */ readonly credentials?: Readonly<Record<string, string>> | null | undefined;
      /** How the access token is refreshed. */ readonly oauth?: {
        readonly token_url: string;
        readonly client_id: string;
        readonly client_secret?: string | null | undefined;
        readonly client_authentication?: "basic" | "body" | null | undefined;
        readonly refresh_token: string;
        readonly scope?: string | null | undefined;
        readonly expires_at?: number | null | undefined;
      } | null | undefined;
      /** The access token is requested with the id and secret of a client alone (RFC 6749, section 4.4). `{}`: with the OAuth client of the app. */ readonly client_credentials?: {
        readonly client_id?: string | undefined;
        readonly client_secret?: string | undefined;
        /** Default: that of the app. */ readonly token_url?: string | undefined;
        /** Default: that of the app. */ readonly client_authentication?: "basic" | "body" | undefined;
        /** Default: the scopes of the OAuth client, or of the app. */ readonly scope?: string | undefined;
      } | null | undefined;
    };
    readonly response: {
      readonly data: Account;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get an account */
  readonly getAccount: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Account;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Change an account */
  readonly updateAccount: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Display name. */ readonly name?: string | null | undefined;
      /** Values by field. */ readonly credentials?: Readonly<Record<string, string | null>> | null | undefined;
      /** How the access token is refreshed. */ readonly oauth?: {
        readonly token_url?: string | undefined;
        readonly client_id?: string | undefined;
        readonly client_secret?: string | null | undefined;
        readonly client_authentication?: "basic" | "body" | null | undefined;
        readonly refresh_token?: string | undefined;
        readonly scope?: string | null | undefined;
        readonly expires_at?: number | null | undefined;
      } | null | undefined;
      /** The access token is requested with the id and secret of a client alone (RFC 6749, section 4.4). `{}`: with the OAuth client of the app. */ readonly client_credentials?: {
        readonly client_id?: string | undefined;
        readonly client_secret?: string | undefined;
        /** Default: that of the app. */ readonly token_url?: string | undefined;
        /** Default: that of the app. */ readonly client_authentication?: "basic" | "body" | undefined;
        /** Default: the scopes of the OAuth client, or of the app. */ readonly scope?: string | undefined;
      } | null | undefined;
    };
    readonly response: {
      readonly data: Account;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Delete an account that no source uses */
  readonly deleteAccount: {
    readonly path: { readonly id: string; };
    readonly query: { readonly force?: boolean | undefined; };
    readonly body: undefined;
    readonly response: undefined;
  };
  /** List the sources and workflows that use an account */
  readonly listAccountUses: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: readonly (AccountUse)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the variables that steps can read */
  readonly listVariables: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: readonly (Variable)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Set a variable */
  readonly setVariable: {
    readonly path: { readonly name: string; };
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** The value. An empty text is a value. */ readonly value: string;
      /** Whether no response shows the value, and logs and errors of runs have `***` in its place. Absent: as before; false for a new one. */ readonly secret?: boolean | undefined;
    };
    readonly response: {
      readonly data: Variable;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Delete a variable */
  readonly deleteVariable: {
    readonly path: { readonly name: string; };
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; };
    readonly body: undefined;
    readonly response: undefined;
  };
  /** List data stores */
  readonly listDataStores: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (DataStore)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Create a data store */
  readonly createDataStore: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Display name. */ readonly name: string;
      /** What it is for. */ readonly description?: string | null | undefined;
    };
    readonly response: {
      readonly data: DataStore;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get a data store with its size */
  readonly getDataStore: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: DataStore;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Rename a data store */
  readonly updateDataStore: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Display name. */ readonly name?: string | undefined;
      /** What it is for. */ readonly description?: string | null | undefined;
    };
    readonly response: {
      readonly data: DataStore;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Delete a data store that no source and no workflow uses, with its entries */
  readonly deleteDataStore: {
    readonly path: { readonly id: string; };
    readonly query: { readonly force?: boolean | undefined; };
    readonly body: undefined;
    readonly response: undefined;
  };
  /** List the entries of a data store */
  readonly listDataStoreEntries: {
    readonly path: { readonly id: string; };
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly values?: boolean | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (DataStoreEntry)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get an entry of a data store */
  readonly getDataStoreEntry: {
    readonly path: { readonly id: string; readonly key: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: DataStoreEntry;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Set an entry of a data store */
  readonly setDataStoreEntry: {
    readonly path: { readonly id: string; readonly key: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Any JSON, at most 1 MiB. */ readonly value: unknown;
      /** Seconds after which the key is gone. Absent: it stays. */ readonly ttl?: number | null | undefined;
      /** The version that the entry must have; 0: the key must not exist. Absent: any. */ readonly if_version?: number | null | undefined;
    };
    readonly response: {
      readonly data: SetDataStoreEntry;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Delete an entry of a data store */
  readonly deleteDataStoreEntry: {
    readonly path: { readonly id: string; readonly key: string; };
    readonly query: { readonly if_version?: number | undefined; };
    readonly body: undefined;
    readonly response: undefined;
  };
  /** Delete all entries of a data store */
  readonly clearDataStore: {
    readonly path: { readonly id: string; };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly response: undefined;
  };
  /** List the caller's webhooks */
  readonly listMyWebhooks: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly state?: "active" | "paused" | "degraded" | "failing" | "circuit_open" | "disabled" | undefined; readonly q?: string | undefined; readonly sort?: "name" | "-name" | "created_at" | "-created_at" | "updated_at" | "-updated_at" | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (Webhook)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List an organization's webhooks */
  readonly listWebhooks: {
    readonly path: { readonly org_id: string; };
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly state?: "active" | "paused" | "degraded" | "failing" | "circuit_open" | "disabled" | undefined; readonly q?: string | undefined; readonly sort?: "name" | "-name" | "created_at" | "-created_at" | "updated_at" | "-updated_at" | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (Webhook)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Create a webhook */
  readonly createWebhook: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly url?: string | undefined; readonly name?: string | undefined; readonly description?: string | undefined; readonly ordered?: boolean | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** http or https, with a host name. */ readonly url: string;
      /** Display name. */ readonly name?: string | null | undefined;
      /** For people. */ readonly description?: string | null | undefined;
      /** True: events arrive in the order of their commits, one at a time; each waits until the previous one was delivered or became a dead letter. */ readonly ordered?: boolean | undefined;
    };
    readonly response: {
      readonly data: CreatedWebhook;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get a webhook */
  readonly getWebhook: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Webhook;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Change a webhook */
  readonly updateWebhook: {
    readonly path: { readonly id: string; };
    readonly query: { readonly url?: string | undefined; readonly name?: string | undefined; readonly description?: string | undefined; readonly active?: boolean | undefined; readonly ordered?: boolean | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** http or https, with a host name. */ readonly url?: string | undefined;
      /** Display name. */ readonly name?: string | null | undefined;
      /** For people. */ readonly description?: string | null | undefined;
      /** False: the webhook is paused. */ readonly active?: boolean | undefined;
      /** True: events arrive in the order of their commits, one at a time; each waits until the previous one was delivered or became a dead letter. */ readonly ordered?: boolean | undefined;
    };
    readonly response: {
      readonly data: Webhook;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Delete a webhook and its subscriptions */
  readonly deleteWebhook: {
    readonly path: { readonly id: string; };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly response: undefined;
  };
  /** Sign with a new key */
  readonly rotateSigningKey: {
    readonly path: { readonly id: string; };
    readonly query: { readonly overlap_seconds?: number | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** How long the previous key also signs. */ readonly overlap_seconds?: number | undefined;
    };
    readonly response: {
      readonly data: RotatedWebhook;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Sign only with the newest key */
  readonly endPreviousKey: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: RotatedWebhook;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Post a signed test event to a webhook now */
  readonly testWebhook: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** The body that is posted; by default a test event. */ readonly event?: unknown;
    };
    readonly response: {
      readonly data: TestedWebhook;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the caller's subscriptions */
  readonly listMySubscriptions: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (Subscription)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List an organization's subscriptions */
  readonly listSubscriptions: {
    readonly path: { readonly org_id: string; };
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (Subscription)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Deliver the events of an emitter to a listener */
  readonly subscribe: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly emitter_id?: string | undefined; readonly listener_id?: string | undefined; readonly event_name?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** A source or workflow, `dc_*` or `p_*` for all of yours, an organization, or your own id for the `$errors` or `$logs` of all of them. */ readonly emitter_id: string;
      /** A webhook, source or workflow. */ readonly listener_id: string;
      /** Name of a channel; empty is the default channel. */ readonly event_name?: string | null | undefined;
    };
    readonly response: {
      readonly data: Subscription;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Delete a subscription by its ends */
  readonly unsubscribe: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly emitter_id: string; readonly listener_id: string; readonly event_name?: string | undefined; readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Subscription;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Delete a subscription by its id */
  readonly deleteSubscription: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Subscription;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List the caller's auto-subscriptions */
  readonly listMyAutoSubscriptions: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (AutoSubscription)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List an organization's auto-subscriptions */
  readonly listAutoSubscriptions: {
    readonly path: { readonly org_id: string; };
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (AutoSubscription)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Deliver the errors or logs of all future sources to a listener */
  readonly subscribeToAll: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly event_name?: "$errors" | "$logs" | undefined; readonly listener_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** The channel. */ readonly event_name: "$errors" | "$logs";
      /** A webhook, source or workflow. */ readonly listener_id: string;
    };
    readonly response: {
      readonly data: AutoSubscription;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Delete an auto-subscription and the subscriptions that it created */
  readonly unsubscribeFromAll: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly event_name: "$errors" | "$logs"; readonly listener_id: string; readonly org_id?: string | undefined; readonly workspace_id?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: AutoSubscription;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get the backlog of a webhook */
  readonly getBacklog: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Backlog;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List attempts at deliveries to a webhook */
  readonly listAttempts: {
    readonly path: { readonly id: string; };
    readonly query: { readonly outcome?: "delivered" | "retry" | "dead" | undefined; readonly since?: number | undefined; readonly until?: number | undefined; readonly event_id?: string | undefined; readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (Attempt)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List deliveries whose last attempt failed */
  readonly listDeadLetters: {
    readonly path: { readonly id: string; };
    readonly query: { readonly expand?: "event" | undefined; readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (DeadLetter)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Delete all dead letters */
  readonly purgeDeadLetters: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Purged;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Deliver dead letters again */
  readonly redriveDeadLetters: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Ids of deliveries; by default all dead letters. */ readonly deliveries?: readonly (string)[] | undefined;
      /** Only dead letters whose last attempt failed at this time or later, epoch milliseconds. */ readonly since_ms?: number | undefined;
      /** Only dead letters whose last attempt failed before this time, epoch milliseconds. */ readonly until_ms?: number | undefined;
      /** True: counts them, and redelivers none. */ readonly dry_run?: boolean | undefined;
    };
    readonly response: {
      readonly data: Redriven;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List attempts of what `$.send` of a workflow asked for */
  readonly listSendAttempts: {
    readonly path: { readonly workflow_id: string; };
    readonly query: { readonly outcome?: "delivered" | "retry" | "dead" | undefined; readonly since?: number | undefined; readonly until?: number | undefined; readonly run_id?: string | undefined; readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (ListedSendAttempt)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** List what `$.send` of a workflow asked for and whose last attempt failed, and events that could not wait for it */
  readonly listFailedSends: {
    readonly path: { readonly workflow_id: string; };
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: PageInfo;
      readonly data: readonly (FailedSend)[];
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get a delivery to a webhook */
  readonly getDelivery: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Delivery;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Attempt a delivery again now */
  readonly retryDelivery: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Retried;
      /** Absent when there are none. */ readonly warnings?: readonly (Warning)[] | undefined;
    };
  };
  /** Get an access token for a client */
  readonly createToken: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: Readonly<Record<string, never>>;
    readonly body: {
      /** `client_credentials`. */ readonly grant_type: string;
      /** Id of your user, `u_…`, or of the API key, `pk_…`. Alternatively in the Authorization header (Basic). */ readonly client_id?: string | undefined;
      /** The API key. Alternatively in the Authorization header (Basic). */ readonly client_secret?: string | undefined;
      /** Ignored: the token has the scopes of the key, as the response says. */ readonly scope?: string | undefined;
    };
    readonly response: Token;
  };
  /** List all users */
  readonly adminListUsers: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: AdminPageInfo;
      readonly data: readonly (AdminUser)[];
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** Create a user */
  readonly adminCreateUser: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Unique: letters, digits, dots, dashes and underscores. */ readonly username: string;
      /** Email address. */ readonly email: string;
      /** True if you know that its holder wants the mails, as after a sign-up with a link. By default, the owner must confirm it. */ readonly email_confirmed?: boolean | null | undefined;
    };
    readonly response: {
      readonly data: AdminUser;
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** Get a user */
  readonly adminGetUser: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: AdminUser;
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** Delete a user who owns nothing, with keys and memberships */
  readonly adminDeleteUser: {
    readonly path: { readonly id: string; };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly response: undefined;
  };
  /** Delete all that a user has, and revoke the user's keys */
  readonly adminEndUser: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Ending;
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** List the API keys of a user */
  readonly adminListKeys: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: readonly (AdminKey)[];
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** Create an API key for a user */
  readonly adminCreateKey: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Display name. */ readonly name: string;
      /** `read` and `write`; by default those of the key that creates it, or both with the admin token. */ readonly scopes?: readonly ("read" | "write")[] | null | undefined;
      /** Epoch seconds; by default that of the key that creates it, or never with the admin token. */ readonly expires_at?: number | null | undefined;
    };
    readonly response: {
      readonly data: AdminCreatedKey;
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** Revoke an API key */
  readonly adminRevokeKey: {
    readonly path: { readonly id: string; readonly key_id: string; };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly response: undefined;
  };
  /** Choose the plan of a user */
  readonly adminChooseUserPlan: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Name of a plan. */ readonly plan: string;
    };
    readonly response: {
      readonly data: Plan;
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** List all organizations */
  readonly adminListOrganizations: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: AdminPageInfo;
      readonly data: readonly (AdminOrganization)[];
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** Create an organization */
  readonly adminCreateOrganization: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Display name. */ readonly name: string;
      /** Unique: letters, digits, dots, dashes and underscores. */ readonly orgname: string;
      /** Contact address. */ readonly email: string;
      /** True if you know that its holder wants the mails, as after a sign-up with a link. By default, the owner must confirm it. */ readonly email_confirmed?: boolean | null | undefined;
      /** Ids of the users who manage its members. */ readonly admins?: readonly (string)[] | undefined;
    };
    readonly response: {
      readonly data: AdminOrganization;
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** Get an organization */
  readonly adminGetOrganization: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: AdminOrganization;
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** Delete an organization that owns nothing and has no members */
  readonly adminDeleteOrganization: {
    readonly path: { readonly id: string; };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly response: undefined;
  };
  /** Delete all that an organization has */
  readonly adminEndOrganization: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: Ending;
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** List the members of an organization */
  readonly adminListMembers: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: readonly (AdminMember)[];
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** Add a member, or change their role */
  readonly adminPutMember: {
    readonly path: { readonly id: string; readonly user_id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** `admin` or `member`; admins manage members. */ readonly role: "admin" | "member";
    };
    readonly response: {
      readonly data: AdminMember;
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** Remove a member */
  readonly adminRemoveMember: {
    readonly path: { readonly id: string; readonly user_id: string; };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly response: undefined;
  };
  /** Choose the plan of an organization */
  readonly adminChooseOrganizationPlan: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Name of a plan. */ readonly plan: string;
    };
    readonly response: {
      readonly data: Plan;
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** Confirm that a namespace is that of a user or an organization */
  readonly adminConfirmNamespace: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Name of the namespace, which need not exist yet. */ readonly name: string;
    };
    readonly response: {
      readonly data: AdminNamespace;
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** Withdraw the confirmation of a namespace */
  readonly adminWithdrawNamespace: {
    readonly path: { readonly id: string; readonly name: string; };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly response: undefined;
  };
  /** List all plans */
  readonly adminListPlans: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: readonly (Plan)[];
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** Create a plan, or change it for all its owners */
  readonly adminSavePlan: {
    readonly path: { readonly name: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** What GET /v1/users/me shows: `free`, the usage of the day; `paid`, the runs of the month. */ readonly form: "free" | "paid";
      /** Runs; null: no limit. */ readonly daily_invocations_quota?: number | null | undefined;
      /** Milliseconds; null: no limit. */ readonly daily_compute_time_quota?: number | null | undefined;
      /** 1 to 100, by default 1: the share of queued runs that its owners get, relative to weight 1. */ readonly weight?: number | null | undefined;
      /** Maximum organizations that one user can create, 20 by default. Each has its own quotas, with the user's plan. */ readonly max_organizations?: number | null | undefined;
    };
    readonly response: {
      readonly data: Plan;
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** Delete a plan that no owner has */
  readonly adminDeletePlan: {
    readonly path: { readonly name: string; };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly response: undefined;
  };
  /** Publish a saved component of any owner in the registry, for all owners */
  readonly adminPublishComponent: {
    readonly path: { readonly id: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: AdminPublishedComponent;
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** Deprecate a published version, or end its deprecation */
  readonly adminDeprecatePublishedVersion: {
    readonly path: { readonly published_version: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** Why it is deprecated, and what to use instead: the warning for its users. Null: it is no longer deprecated. */ readonly deprecated: string | null;
    };
    readonly response: {
      readonly data: AdminPublishedComponent;
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** Delete a deprecated version from the registry */
  readonly adminDeletePublishedVersion: {
    readonly path: { readonly published_version: string; };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly response: undefined;
  };
  /** List the variables of the installation */
  readonly adminListVariables: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: readonly (AdminVariable)[];
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** Set a variable of the installation */
  readonly adminSetVariable: {
    readonly path: { readonly name: string; };
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: {
      /** The value. An empty text is a value. */ readonly value: string;
      /** Whether no response shows the value, and logs and errors of runs have `***` in its place. Absent: as before; false for a new one. */ readonly secret?: boolean | undefined;
    };
    readonly response: {
      readonly data: AdminVariable;
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** Delete a variable of the installation */
  readonly adminDeleteVariable: {
    readonly path: { readonly name: string; };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly response: undefined;
  };
  /** List changes of all owners, and of the installation */
  readonly adminListAuditLog: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined; readonly before?: string | undefined; readonly owner_id?: string | undefined; readonly kind?: string | undefined; readonly action?: string | undefined; readonly actor?: string | undefined; readonly name?: string | undefined; readonly resource_id?: string | undefined; readonly outcome?: "ok" | "failed" | undefined; readonly since?: string | undefined; readonly until?: string | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly page_info: AdminPageInfo;
      readonly data: readonly (AdminAuditEntry)[];
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** Get the state of the installation: streams, runners, delivery replicas, backlog, versions */
  readonly adminGetStatus: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: InstallationStatus;
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** List how full streams, buckets and the database are, and when they will be full */
  readonly adminListStorage: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: readonly (StorageUse)[];
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
  /** Get what all sources, workflows and webhooks of the installation did over time */
  readonly adminGetMetrics: {
    readonly path: Readonly<Record<string, never>>;
    readonly query: { readonly from?: number | undefined; readonly to?: number | undefined; readonly step?: "auto" | "minute" | "5_minutes" | "15_minutes" | "hour" | "day" | undefined; readonly include?: string | undefined; readonly exclude?: string | undefined; };
    readonly body: undefined;
    readonly response: {
      readonly data: AdminMetrics;
      /** Absent when there are none. */ readonly warnings?: readonly (AdminWarning)[] | undefined;
    };
  };
}

/** Method and path of each operation. A stream's response is server-sent events. */
export const routes = {
  getMe: { method: "GET", path: "/v1/users/me", isStream: false },
  updateMe: { method: "PUT", path: "/v1/users/me", isStream: false },
  getMyUsage: { method: "GET", path: "/v1/users/me/usage", isStream: false },
  getUsage: { method: "GET", path: "/v1/orgs/{org_id}/usage", isStream: false },
  confirmMyEmail: { method: "POST", path: "/v1/users/me/email_confirmation", isStream: false },
  listKeys: { method: "GET", path: "/v1/users/me/keys", isStream: false },
  createKey: { method: "POST", path: "/v1/users/me/keys", isStream: false },
  revokeKey: { method: "DELETE", path: "/v1/users/me/keys/{id}", isStream: false },
  createOrganization: { method: "POST", path: "/v1/orgs", isStream: false },
  getOrganization: { method: "GET", path: "/v1/orgs/{org_id}", isStream: false },
  updateOrganization: { method: "PUT", path: "/v1/orgs/{org_id}", isStream: false },
  deleteOrganization: { method: "DELETE", path: "/v1/orgs/{org_id}", isStream: false },
  confirmOrganizationEmail: { method: "POST", path: "/v1/orgs/{org_id}/email_confirmation", isStream: false },
  listMembers: { method: "GET", path: "/v1/orgs/{org_id}/members", isStream: false },
  inviteMember: { method: "POST", path: "/v1/orgs/{org_id}/members", isStream: false },
  listInvitations: { method: "GET", path: "/v1/orgs/{org_id}/invitations", isStream: false },
  withdrawInvitation: { method: "DELETE", path: "/v1/orgs/{org_id}/invitations/{invitation_id}", isStream: false },
  listMyInvitations: { method: "GET", path: "/v1/users/me/invitations", isStream: false },
  acceptInvitation: { method: "POST", path: "/v1/users/me/invitations/{id}/accept", isStream: false },
  declineInvitation: { method: "DELETE", path: "/v1/users/me/invitations/{id}", isStream: false },
  putMember: { method: "PUT", path: "/v1/orgs/{org_id}/members/{user_id}", isStream: false },
  removeMember: { method: "DELETE", path: "/v1/orgs/{org_id}/members/{user_id}", isStream: false },
  listNamespaces: { method: "GET", path: "/v1/namespaces", isStream: false },
  confirmNamespace: { method: "POST", path: "/v1/namespaces", isStream: false },
  withdrawNamespace: { method: "DELETE", path: "/v1/namespaces/{name}", isStream: false },
  listMyAuditLog: { method: "GET", path: "/v1/audit_log", isStream: false },
  listAuditLog: { method: "GET", path: "/v1/orgs/{org_id}/audit_log", isStream: false },
  listComponents: { method: "GET", path: "/v1/components", isStream: false },
  saveComponent: { method: "POST", path: "/v1/components", isStream: false },
  searchComponents: { method: "GET", path: "/v1/components/search", isStream: false },
  searchComponentDetails: { method: "GET", path: "/v1/components/search/details", isStream: false },
  listRegistry: { method: "GET", path: "/v1/components/registry", isStream: false },
  getPublishedComponent: { method: "GET", path: "/v1/components/registry/{key}", isStream: false },
  listPublishedVersions: { method: "GET", path: "/v1/components/registry/{key}/versions", isStream: false },
  getComponent: { method: "GET", path: "/v1/components/{key}", isStream: false },
  deleteComponent: { method: "DELETE", path: "/v1/components/{key}", isStream: false },
  listVersions: { method: "GET", path: "/v1/components/{key}/versions", isStream: false },
  listComponentOptions: { method: "POST", path: "/v1/components/{key}/options", isStream: false },
  listComponentProps: { method: "POST", path: "/v1/components/{key}/props", isStream: false },
  getPackage: { method: "GET", path: "/v1/packages/{name}", isStream: false },
  listPackageComponents: { method: "GET", path: "/v1/packages/{name}/components", isStream: false },
  searchConnectors: { method: "GET", path: "/v1/connectors", isStream: false },
  testSource: { method: "POST", path: "/v1/sources/test", isStream: false },
  listMySources: { method: "GET", path: "/v1/users/me/sources", isStream: false },
  listSources: { method: "GET", path: "/v1/orgs/{org_id}/sources", isStream: false },
  createSource: { method: "POST", path: "/v1/sources", isStream: false },
  getSource: { method: "GET", path: "/v1/sources/{id}", isStream: false },
  updateSource: { method: "PUT", path: "/v1/sources/{id}", isStream: false },
  deleteSource: { method: "DELETE", path: "/v1/sources/{id}", isStream: false },
  listSourceOptions: { method: "POST", path: "/v1/sources/{id}/options", isStream: false },
  listSourceProps: { method: "POST", path: "/v1/sources/{id}/props", isStream: false },
  search: { method: "GET", path: "/v1/search", isStream: false },
  searchOrganization: { method: "GET", path: "/v1/orgs/{org_id}/search", isStream: false },
  streamSearch: { method: "GET", path: "/v1/search/sse", isStream: true },
  streamOrganizationSearch: { method: "GET", path: "/v1/orgs/{org_id}/search/sse", isStream: true },
  getTrace: { method: "GET", path: "/v1/traces/{id}", isStream: false },
  listRuns: { method: "GET", path: "/v1/sources/{id}/runs", isStream: false },
  runSource: { method: "POST", path: "/v1/sources/{id}/runs", isStream: false },
  getRun: { method: "GET", path: "/v1/sources/{id}/runs/{run_id}", isStream: false },
  listTicks: { method: "GET", path: "/v1/sources/{id}/ticks", isStream: false },
  listLogs: { method: "GET", path: "/v1/sources/{id}/logs", isStream: false },
  debugRun: { method: "POST", path: "/v1/sources/{id}/runs/{run_id}/debug", isStream: false },
  listEvents: { method: "GET", path: "/v1/sources/{id}/event_summaries", isStream: false },
  listEventsAsBefore: { method: "GET", path: "/v1/sources/{id}/events", isStream: false },
  deleteEvents: { method: "DELETE", path: "/v1/sources/{id}/events", isStream: false },
  listEventDeletions: { method: "GET", path: "/v1/sources/{id}/events/deletions", isStream: false },
  replayEvents: { method: "POST", path: "/v1/sources/{id}/replays", isStream: false },
  streamEvents: { method: "GET", path: "/v1/sources/{id}/sse", isStream: true },
  streamLogs: { method: "GET", path: "/v1/sources/{id}/logs/sse", isStream: true },
  streamWorkflowEvents: { method: "GET", path: "/v1/workflows/{workflow_id}/sse", isStream: true },
  streamWorkflowLogs: { method: "GET", path: "/v1/workflows/{workflow_id}/logs/sse", isStream: true },
  listMyWorkflows: { method: "GET", path: "/v1/users/me/workflows", isStream: false },
  listWorkflows: { method: "GET", path: "/v1/orgs/{org_id}/workflows", isStream: false },
  createWorkflow: { method: "POST", path: "/v1/workflows", isStream: false },
  getWorkflow: { method: "GET", path: "/v1/workflows/{workflow_id}", isStream: false },
  updateWorkflow: { method: "PUT", path: "/v1/workflows/{workflow_id}", isStream: false },
  deleteWorkflow: { method: "DELETE", path: "/v1/workflows/{workflow_id}", isStream: false },
  repeatWorkflowRun: { method: "POST", path: "/v1/workflows/{workflow_id}/runs/{run_id}/repeat", isStream: false },
  repeatWorkflowRuns: { method: "POST", path: "/v1/workflows/{workflow_id}/runs/repeat", isStream: false },
  listWorkflowRuns: { method: "GET", path: "/v1/workflows/{workflow_id}/runs", isStream: false },
  runWorkflow: { method: "POST", path: "/v1/workflows/{workflow_id}/runs", isStream: false },
  getWorkflowRun: { method: "GET", path: "/v1/workflows/{workflow_id}/runs/{run_id}", isStream: false },
  listWorkflowTicks: { method: "GET", path: "/v1/workflows/{workflow_id}/ticks", isStream: false },
  listWorkflowLogs: { method: "GET", path: "/v1/workflows/{workflow_id}/logs", isStream: false },
  listRunsOfSourceEvent: { method: "GET", path: "/v1/sources/{id}/events/{event_id}/runs", isStream: false },
  listRunsOfWorkflowEvent: { method: "GET", path: "/v1/workflows/{workflow_id}/events/{event_id}/runs", isStream: false },
  backfillTrigger: { method: "POST", path: "/v1/workflows/{workflow_id}/triggers/{trigger_id}/backfill", isStream: false },
  cancelWorkflowRun: { method: "POST", path: "/v1/workflows/{workflow_id}/runs/{run_id}/cancel", isStream: false },
  pauseWorkflowRun: { method: "POST", path: "/v1/workflows/{workflow_id}/runs/{run_id}/pause", isStream: false },
  resumeWorkflowRun: { method: "POST", path: "/v1/workflows/{workflow_id}/runs/{run_id}/resume", isStream: false },
  listWorkflowEvents: { method: "GET", path: "/v1/workflows/{workflow_id}/event_summaries", isStream: false },
  listWorkflowErrors: { method: "GET", path: "/v1/workflows/{workflow_id}/$errors/event_summaries", isStream: false },
  deleteWorkflowEvents: { method: "DELETE", path: "/v1/workflows/{workflow_id}/events", isStream: false },
  listWorkflowEventDeletions: { method: "GET", path: "/v1/workflows/{workflow_id}/events/deletions", isStream: false },
  testWorkflow: { method: "POST", path: "/v1/workflows/{workflow_id}/test", isStream: false },
  listStepOptions: { method: "POST", path: "/v1/workflows/{workflow_id}/steps/{step}/options", isStream: false },
  listStepProps: { method: "POST", path: "/v1/workflows/{workflow_id}/steps/{step}/props", isStream: false },
  getSourceMetrics: { method: "GET", path: "/v1/sources/{id}/metrics", isStream: false },
  getWorkflowMetrics: { method: "GET", path: "/v1/workflows/{workflow_id}/metrics", isStream: false },
  getWebhookMetrics: { method: "GET", path: "/v1/webhooks/{id}/metrics", isStream: false },
  getMyMetrics: { method: "GET", path: "/v1/users/me/metrics", isStream: false },
  getMetrics: { method: "GET", path: "/v1/orgs/{org_id}/metrics", isStream: false },
  listMetrics: { method: "GET", path: "/v1/metrics", isStream: false },
  listApps: { method: "GET", path: "/v1/apps", isStream: false },
  createApp: { method: "POST", path: "/v1/apps", isStream: false },
  getApp: { method: "GET", path: "/v1/apps/{slug}", isStream: false },
  updateApp: { method: "PUT", path: "/v1/apps/{slug}", isStream: false },
  deleteApp: { method: "DELETE", path: "/v1/apps/{slug}", isStream: false },
  listMyOAuthClients: { method: "GET", path: "/v1/users/me/oauth_clients", isStream: false },
  listOAuthClients: { method: "GET", path: "/v1/orgs/{org_id}/oauth_clients", isStream: false },
  createOAuthClient: { method: "POST", path: "/v1/oauth_clients", isStream: false },
  getOAuthClient: { method: "GET", path: "/v1/oauth_clients/{id}", isStream: false },
  updateOAuthClient: { method: "PUT", path: "/v1/oauth_clients/{id}", isStream: false },
  deleteOAuthClient: { method: "DELETE", path: "/v1/oauth_clients/{id}", isStream: false },
  connectApp: { method: "POST", path: "/v1/apps/{slug}/connect", isStream: false },
  reconnectAccount: { method: "POST", path: "/v1/accounts/{id}/reconnect", isStream: false },
  getConnection: { method: "GET", path: "/v1/connections/{id}", isStream: false },
  listMyAccounts: { method: "GET", path: "/v1/users/me/accounts", isStream: false },
  listAccounts: { method: "GET", path: "/v1/orgs/{org_id}/accounts", isStream: false },
  createAccount: { method: "POST", path: "/v1/accounts", isStream: false },
  getAccount: { method: "GET", path: "/v1/accounts/{id}", isStream: false },
  updateAccount: { method: "PUT", path: "/v1/accounts/{id}", isStream: false },
  deleteAccount: { method: "DELETE", path: "/v1/accounts/{id}", isStream: false },
  listAccountUses: { method: "GET", path: "/v1/accounts/{id}/uses", isStream: false },
  listVariables: { method: "GET", path: "/v1/variables", isStream: false },
  setVariable: { method: "PUT", path: "/v1/variables/{name}", isStream: false },
  deleteVariable: { method: "DELETE", path: "/v1/variables/{name}", isStream: false },
  listDataStores: { method: "GET", path: "/v1/data_stores", isStream: false },
  createDataStore: { method: "POST", path: "/v1/data_stores", isStream: false },
  getDataStore: { method: "GET", path: "/v1/data_stores/{id}", isStream: false },
  updateDataStore: { method: "PUT", path: "/v1/data_stores/{id}", isStream: false },
  deleteDataStore: { method: "DELETE", path: "/v1/data_stores/{id}", isStream: false },
  listDataStoreEntries: { method: "GET", path: "/v1/data_stores/{id}/entries", isStream: false },
  getDataStoreEntry: { method: "GET", path: "/v1/data_stores/{id}/entries/{key}", isStream: false },
  setDataStoreEntry: { method: "PUT", path: "/v1/data_stores/{id}/entries/{key}", isStream: false },
  deleteDataStoreEntry: { method: "DELETE", path: "/v1/data_stores/{id}/entries/{key}", isStream: false },
  clearDataStore: { method: "POST", path: "/v1/data_stores/{id}/clear", isStream: false },
  listMyWebhooks: { method: "GET", path: "/v1/users/me/webhooks", isStream: false },
  listWebhooks: { method: "GET", path: "/v1/orgs/{org_id}/webhooks", isStream: false },
  createWebhook: { method: "POST", path: "/v1/webhooks", isStream: false },
  getWebhook: { method: "GET", path: "/v1/webhooks/{id}", isStream: false },
  updateWebhook: { method: "PUT", path: "/v1/webhooks/{id}", isStream: false },
  deleteWebhook: { method: "DELETE", path: "/v1/webhooks/{id}", isStream: false },
  rotateSigningKey: { method: "POST", path: "/v1/webhooks/{id}/rotate_key", isStream: false },
  endPreviousKey: { method: "DELETE", path: "/v1/webhooks/{id}/previous_key", isStream: false },
  testWebhook: { method: "POST", path: "/v1/webhooks/{id}/test", isStream: false },
  listMySubscriptions: { method: "GET", path: "/v1/users/me/subscriptions", isStream: false },
  listSubscriptions: { method: "GET", path: "/v1/orgs/{org_id}/subscriptions", isStream: false },
  subscribe: { method: "POST", path: "/v1/subscriptions", isStream: false },
  unsubscribe: { method: "DELETE", path: "/v1/subscriptions", isStream: false },
  deleteSubscription: { method: "DELETE", path: "/v1/subscriptions/{id}", isStream: false },
  listMyAutoSubscriptions: { method: "GET", path: "/v1/users/me/auto_subscriptions", isStream: false },
  listAutoSubscriptions: { method: "GET", path: "/v1/orgs/{org_id}/auto_subscriptions", isStream: false },
  subscribeToAll: { method: "POST", path: "/v1/auto_subscriptions", isStream: false },
  unsubscribeFromAll: { method: "DELETE", path: "/v1/auto_subscriptions", isStream: false },
  getBacklog: { method: "GET", path: "/v1/webhooks/{id}/backlog", isStream: false },
  listAttempts: { method: "GET", path: "/v1/webhooks/{id}/deliveries", isStream: false },
  listDeadLetters: { method: "GET", path: "/v1/webhooks/{id}/dead_letters", isStream: false },
  purgeDeadLetters: { method: "DELETE", path: "/v1/webhooks/{id}/dead_letters", isStream: false },
  redriveDeadLetters: { method: "POST", path: "/v1/webhooks/{id}/dead_letters/redrive", isStream: false },
  listSendAttempts: { method: "GET", path: "/v1/workflows/{workflow_id}/deliveries", isStream: false },
  listFailedSends: { method: "GET", path: "/v1/workflows/{workflow_id}/dead_letters", isStream: false },
  getDelivery: { method: "GET", path: "/v1/deliveries/{id}", isStream: false },
  retryDelivery: { method: "POST", path: "/v1/deliveries/{id}/retry", isStream: false },
  createToken: { method: "POST", path: "/v1/oauth/token", isStream: false },
  adminListUsers: { method: "GET", path: "/admin/v1/users", isStream: false },
  adminCreateUser: { method: "POST", path: "/admin/v1/users", isStream: false },
  adminGetUser: { method: "GET", path: "/admin/v1/users/{id}", isStream: false },
  adminDeleteUser: { method: "DELETE", path: "/admin/v1/users/{id}", isStream: false },
  adminEndUser: { method: "DELETE", path: "/admin/v1/users/{id}/resources", isStream: false },
  adminListKeys: { method: "GET", path: "/admin/v1/users/{id}/keys", isStream: false },
  adminCreateKey: { method: "POST", path: "/admin/v1/users/{id}/keys", isStream: false },
  adminRevokeKey: { method: "DELETE", path: "/admin/v1/users/{id}/keys/{key_id}", isStream: false },
  adminChooseUserPlan: { method: "PUT", path: "/admin/v1/users/{id}/plan", isStream: false },
  adminListOrganizations: { method: "GET", path: "/admin/v1/orgs", isStream: false },
  adminCreateOrganization: { method: "POST", path: "/admin/v1/orgs", isStream: false },
  adminGetOrganization: { method: "GET", path: "/admin/v1/orgs/{id}", isStream: false },
  adminDeleteOrganization: { method: "DELETE", path: "/admin/v1/orgs/{id}", isStream: false },
  adminEndOrganization: { method: "DELETE", path: "/admin/v1/orgs/{id}/resources", isStream: false },
  adminListMembers: { method: "GET", path: "/admin/v1/orgs/{id}/members", isStream: false },
  adminPutMember: { method: "PUT", path: "/admin/v1/orgs/{id}/members/{user_id}", isStream: false },
  adminRemoveMember: { method: "DELETE", path: "/admin/v1/orgs/{id}/members/{user_id}", isStream: false },
  adminChooseOrganizationPlan: { method: "PUT", path: "/admin/v1/orgs/{id}/plan", isStream: false },
  adminConfirmNamespace: { method: "POST", path: "/admin/v1/owners/{id}/namespaces", isStream: false },
  adminWithdrawNamespace: { method: "DELETE", path: "/admin/v1/owners/{id}/namespaces/{name}", isStream: false },
  adminListPlans: { method: "GET", path: "/admin/v1/plans", isStream: false },
  adminSavePlan: { method: "PUT", path: "/admin/v1/plans/{name}", isStream: false },
  adminDeletePlan: { method: "DELETE", path: "/admin/v1/plans/{name}", isStream: false },
  adminPublishComponent: { method: "POST", path: "/admin/v1/components/{id}/publish", isStream: false },
  adminDeprecatePublishedVersion: { method: "PUT", path: "/admin/v1/components/registry/{published_version}", isStream: false },
  adminDeletePublishedVersion: { method: "DELETE", path: "/admin/v1/components/registry/{published_version}", isStream: false },
  adminListVariables: { method: "GET", path: "/admin/v1/variables", isStream: false },
  adminSetVariable: { method: "PUT", path: "/admin/v1/variables/{name}", isStream: false },
  adminDeleteVariable: { method: "DELETE", path: "/admin/v1/variables/{name}", isStream: false },
  adminListAuditLog: { method: "GET", path: "/admin/v1/audit_log", isStream: false },
  adminGetStatus: { method: "GET", path: "/admin/v1/status", isStream: false },
  adminListStorage: { method: "GET", path: "/admin/v1/storage", isStream: false },
  adminGetMetrics: { method: "GET", path: "/admin/v1/metrics", isStream: false },
} as const;
