import type { StoredBundles, StoredFiles } from "./stored-ports.ts";
import type { RegisteredStores } from "../domain/data-store/registered-stores.ts";
import type { Log } from "../domain/log.ts";
import type { AppLibrary } from "../crds/app-library.ts";
import type { OwnerNamespaces } from "../crds/owner-namespaces.ts";
import type { Resource } from "../crds/resource.ts";
import type { ResourceStore } from "../crds/resource-store.ts";
import type { SecretValues } from "../crds/secret-values.ts";
import type { Clock } from "../domain/clock.ts";
import type { WebhookOutcomes } from "../domain/delivery/webhook-health.ts";
import type { RecentOutcomes } from "../domain/outcomes.ts";
import type { SourceState } from "../domain/run/commit.ts";
import type { ComponentCode } from "../domain/component/component-code.ts";
import type { Configuration, Configured } from "../domain/component/configure.ts";
import type { Build } from "../domain/component/definition.ts";
import type { CommitPosition, DeploymentEntry, Endpoint, Route } from "../domain/source/deployment.ts";
import type { WorkflowEntry } from "../domain/workflow/deployment.ts";
import type { WebhookFailures } from "../domain/delivery/webhook-failures.ts";
import type { IdKind, RandomBytes } from "../domain/ids.ts";
import type { Invocation } from "../domain/invocation/invocation.ts";
import type { TimerSchedule } from "../domain/schedule/schedule.ts";
import type { VariablesEntry } from "../domain/variable/variable.ts";
import type { Secrets } from "../domain/secrets/secrets.ts";
import type { ErrorOccurrence } from "../domain/mail/error-occurrence.ts";
import type { LatestRuns } from "../domain/source/source-health.ts";
import type { OauthService, TokenEndpointForm } from "./oauth-ports.ts";
import type { ClaimId } from "./id-claims.ts";
import type { SourceVersion } from "./versions.ts";
import type { WorkflowVersion } from "./versions.ts";

/** Everything the operator needs from outside; main.ts wires the adapters. */
export interface OperatorPorts {
  readonly dataStores: Pick<RegisteredStores, "register" | "disown" | "delete">;
  readonly store: ResourceStore;
  readonly owners: OwnerNamespaces;
  readonly memberships: Memberships;
  readonly secretValues: SecretValues;
  readonly configMaps: ConfigMaps;
  readonly events: Events;
  readonly pools: Pools;
  readonly builds: Builds;
  readonly bundles: StoredBundles;
  /** Reads the component at a URL, with the modules it imports. @throws InvalidInput when there is none, LimitExceeded, Forbidden, Unavailable */
  readonly fetchComponent: (url: string, owner: string | undefined) => Promise<ComponentCode>;
  /** @throws Forbidden for a literal address that must not be posted to. Host names pass: they are checked when resolved. */
  readonly checkHost: (host: string) => void;
  readonly activity: Activity;
  readonly outcomes: Outcomes;
  readonly sourceBacklogs: SourceBacklogs;
  readonly failingEndpoints: FailingEndpoints;
  /** By `deploymentKey(pool, source)`. */
  readonly deployments: Entries<DeploymentEntry>;
  /** The same bucket, by `deploymentKey(pool, workflow)` and `deploymentKey(pool, versionName(workflow, deployment))`. */
  readonly workflowDeployments: Entries<WorkflowEntry>;
  /** The same bucket, by `deploymentKey(pool, owner)`. */
  readonly variableEntries: ListedEntries<VariablesEntry>;
  readonly endpoints: Entries<Endpoint>;
  readonly routes: Entries<Route>;
  /** By the id of the source. */
  readonly versions: Entries<SourceVersion>;
  /** The same bucket, by `versionKey(workflow, deployment)`. */
  readonly workflowVersions: ListedEntries<WorkflowVersion>;
  /** Code of the components that come with Headwater, by key. */
  readonly registry: { readonly find: (key: string) => Promise<ComponentCode | undefined> };
  readonly timers: Timers;
  readonly workflowQueues: WorkflowQueues;
  readonly histories: Histories;
  readonly files: StoredFiles;
  readonly commits: Commits;
  readonly invocations: Invocations;
  readonly configurations: Configurations;
  readonly secrets: Secrets;
  readonly tokenRefresher: TokenRefresher;
  readonly oauthService: OauthService;
  readonly reconnectMails: ReconnectMails;
  readonly apps: AppLibrary;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly claimId: ClaimId;
  /** 32 unguessable characters of lower-case base36. */
  readonly randomKey: () => string;
  /** In [0, 1). */
  readonly random: () => number;
  readonly newId: (kind: IdKind) => string;
  readonly log: Log;
}

/** Records events for users who look at a resource; Kubernetes Events in a cluster. Never throws, never waits. */
export interface Events {
  /** `reason`: one CamelCase word. Repeats within minutes are counted, not repeated. */
  record(resource: Resource, event: { readonly type: "Normal" | "Warning"; readonly reason: string; readonly message: string }): void;
}

export interface Memberships {
  /** @throws Unavailable */
  isMember(user: string, organization: string): Promise<boolean>;
}

export interface ConfigMaps {
  /** @throws NotFound when the ConfigMap or key is missing, InvalidInput for an installation without ConfigMaps */
  read(namespace: string, name: string, key: string): Promise<string>;
}

/** The latest runs, as the recorder stored them. */
export interface Activity {
  /** Only sources that have run after the given time, epoch ms. */
  since(known: readonly { readonly source: string; readonly lastRunAt: number }[]): Promise<readonly SourceActivity[]>;
}

export interface SourceActivity extends LatestRuns {
  readonly source: string;
}

/** The latest attempts at webhooks, and runs of workflows. With `known`, only of those that have further ones than at that position. */
export interface Outcomes {
  /** By webhook; absent without attempts since `since`, epoch ms. */
  webhooks(
    asked: readonly { readonly webhook: string; readonly since: number; readonly known?: number }[],
    now: number,
  ): Promise<ReadonlyMap<string, WebhookOutcomes>>;
  /** By workflow; absent if no run of the version has ended. */
  workflows(
    asked: readonly { readonly workflow: string; readonly deployment: string; readonly known?: number }[],
    now: number,
  ): Promise<ReadonlyMap<string, RecentOutcomes>>;
}

export interface SourceBacklogs {
  /** Accepted and unfinished invocations by source. Sources without any are absent. @throws Unavailable */
  read(): Promise<ReadonlyMap<string, number>>;
}

/** Failing webhook endpoints, as the delivery role records them. */
export interface FailingEndpoints {
  /** Disabled endpoints, including those enabled again to which nothing has been posted yet. */
  disabled(): Promise<readonly WebhookFailures[]>;
  /** For a deleted webhook: its failures now, and within two days its attempts and dead letters. */
  forget(webhook: string): Promise<void>;
}

export interface Pools {
  /** The pool that runs the owner's sources: the owner's own pool, else the default one. */
  poolOf(owner: string): string;
}

export interface Builds {
  /** Cached by code. Owners take turns. @throws InvalidInput, Unavailable */
  build(component: ComponentCode, owner: string): Promise<Build>;
}

/** A key-value bucket. */
export interface Entries<T> {
  get(key: string): Promise<T | undefined>;
  /** Resolves once readers of the bucket are certain to see it. With `ttlSeconds` the entry expires. */
  put(key: string, entry: T, options?: { readonly ttlSeconds?: number }): Promise<void>;
  delete(key: string): Promise<void>;
}

/** A bucket whose keys can be listed. */
export interface ListedEntries<T> extends Entries<T> {
  /** At most 1,000 entries by key, for keys that match a filter such as `p_1.*`. */
  list(filter: string): Promise<ReadonlyMap<string, T>>;
}

export interface Timers {
  /** Replaces the prop's timer. Each tick sends `invocation` to the pool. */
  set(pool: string, source: string, prop: string, schedule: TimerSchedule, invocation: Invocation): Promise<void>;
  /** Removes one timer. */
  remove(source: string, prop: string): Promise<void>;
  /** Removes all timers of a source, and the wake-ups of a workflow's suspended runs. */
  end(source: string): Promise<void>;
}

/** Events queued for workflows. */
export interface WorkflowQueues {
  /** Drops the workflow's queue. */
  end(workflow: string): Promise<void>;
}

export interface Histories {
  /** State after the last commit; undefined before the first. */
  state(owner: string, source: string): Promise<SourceState | undefined>;
  /** Deletes the history of a deleted source: commits, events, runs, logs. */
  forget(owner: string, source: string): Promise<void>;
  /** Sources and workflows that have commits. */
  list(): Promise<readonly HistoryReference[]>;
  /** Ids of sources and workflows that have deployment entries. */
  deployed(): Promise<readonly string[]>;
}

export interface HistoryReference {
  readonly owner: string;
  /** Id of a source or workflow. */
  readonly source: string;
}

export interface Commits {
  /** Position of the last commit. */
  position(): Promise<CommitPosition>;
}

export interface Invocations {
  /** Requests one run. A repeated request for the same run within two minutes is deduplicated. */
  request(pool: string, invocation: Invocation & { readonly run: string }): Promise<void>;
  /** Number of stored invocations of a source that have not ended; of a long queue an estimate. @throws Unavailable */
  queued(pool: string, source: string): Promise<number>;
  /** Resolves when the run's commit is announced or the signal aborts. An announcement may be lost. */
  untilRun(run: string, signal: AbortSignal): Promise<void>;
}

/** Requests access tokens from a service (OAuth 2, RFC 6749, sections 6 and 4.4). Never throws, and never returns what it sent or received. */
export interface TokenRefresher {
  refresh(request: RefreshRequest): Promise<RefreshOutcome>;
}

export interface RefreshRequest extends TokenEndpointForm {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly clientAuthentication: "basic" | "body";
  /** Absent: the token is for the client itself, by the grant client_credentials. */
  readonly refreshToken?: string;
  readonly scope?: string;
  /** Error codes that void the grant, besides those of RFC 6749. */
  readonly voidGrantErrors?: readonly string[] | undefined;
}

export interface RefreshedTokens {
  readonly accessToken: string;
  /** Replaces the refresh token that was sent, which may now be void. */
  readonly refreshToken?: string;
  readonly expiresInSeconds?: number;
}

/** `refused`: a retry is useless, the user must act; `isGrantVoid`: by connecting the account again. `why` completes a sentence for users. */
export type RefreshOutcome =
  | { readonly outcome: "refreshed"; readonly tokens: RefreshedTokens }
  | { readonly outcome: "refused"; readonly why: string; readonly isGrantVoid?: true }
  | { readonly outcome: "unavailable"; readonly why: string; readonly retryAfterMs?: number };

/** Postgres: mails to the owner of an account, see docs/decisions/0096-mails-about-errors.md. */
export interface ReconnectMails {
  /**
   * Has one mail sent. Repetitions for the same connection of an account have no effect within a day.
   * @param connectedAt identifies the connection that has ended @throws Unavailable
   */
  request(account: ErrorOccurrence, connectedAt: string | undefined): Promise<void>;
}

/** Calls of components that a user configures. */
export interface Configurations {
  /** Sends a call to the pool's runners and awaits the reply; undefined if the signal aborts first. @throws Unavailable */
  ask(pool: string, call: string, configuration: Configuration, signal: AbortSignal): Promise<Configured | undefined>;
}

export interface OperatorConfig {
  /** Base URL of HTTP endpoints, without trailing slash. */
  readonly ingressUrl: string;
  /** Domain of the addresses of email triggers; absent: there are none. */
  readonly emailDomain?: string | undefined;
  /**
   * How long a hook may take before it is requested again, and how long a deletion waits for `deactivate` in total. Longer than the run
   * timeout.
   */
  readonly hookTimeoutMs: number;
  /** How often Secrets, ConfigMaps and memberships are read, because changes of them are not watched. Default: 2 minutes. */
  readonly externalPollMs?: number;
}
