import type { OwnerNamespaces } from "../crds/owner-namespaces.ts";
import type { Resource } from "../crds/resource.ts";
import type { ResourceStore } from "../crds/resource-store.ts";
import type { SecretValues } from "../crds/secret-values.ts";
import type { Clock } from "../domain/clock.ts";
import type { SourceState } from "../domain/commit.ts";
import type { ComponentCode } from "../domain/component-code.ts";
import type { Configuration, Configured } from "../domain/configure.ts";
import type { Build } from "../domain/definition.ts";
import type { CommitPosition, DeploymentEntry, Endpoint, Route } from "../domain/deployment.ts";
import type { EndpointFailures } from "../domain/endpoint-failures.ts";
import type { IdKind, RandomBytes } from "../domain/ids.ts";
import type { Invocation } from "../domain/invocation.ts";
import type { TimerSchedule } from "../domain/schedule.ts";
import type { Secrets } from "../domain/secrets.ts";
import type { LatestRuns } from "../domain/source-health.ts";
import type { SourceVersion } from "./source/version.ts";

/** Everything the operator reaches; main.ts wires adapters to it. */
export interface OperatorPorts {
  readonly store: ResourceStore;
  readonly owners: OwnerNamespaces;
  readonly memberships: Memberships;
  readonly secretValues: SecretValues;
  readonly configMaps: ConfigMaps;
  readonly events: Events;
  readonly pools: Pools;
  readonly builds: Builds;
  /** The component at an http or https address, with the modules it imports from there. @throws InvalidInput when there is none, LimitExceeded, Forbidden, Unavailable */
  readonly fetchComponent: (url: string, owner: string | undefined) => Promise<ComponentCode>;
  /** @throws Forbidden for a literal address that nothing may be posted to; names pass, they are judged when they are resolved */
  readonly checkHost: (host: string) => void;
  readonly activity: Activity;
  readonly sourceBacklogs: SourceBacklogs;
  readonly failingEndpoints: FailingEndpoints;
  /** By `deploymentKey(pool, source)`. */
  readonly deployments: Entries<DeploymentEntry>;
  readonly endpoints: Entries<Endpoint>;
  readonly routes: Entries<Route>;
  /** By the id of the source. */
  readonly versions: Entries<SourceVersion>;
  readonly timers: Timers;
  readonly workflowQueues: WorkflowQueues;
  readonly histories: Histories;
  readonly commits: Commits;
  readonly invocations: Invocations;
  readonly configurations: Configurations;
  readonly secrets: Secrets;
  readonly tokenRefresher: TokenRefresher;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  /** 32 unguessable characters of lower-case base36. */
  readonly randomKey: () => string;
  /** In [0, 1). */
  readonly random: () => number;
  readonly newId: (kind: IdKind) => string;
  readonly log: Log;
}

export interface Log {
  info(fields: object, message?: string): void;
  warn(fields: object, message?: string): void;
  error(fields: object, message?: string): void;
}

/** What a person who looks at a resource wants to know of its past; Kubernetes Events in a cluster. Never throws, never waits. */
export interface Events {
  /** `reason`: one CamelCase word. The same told again within minutes is counted, not repeated. */
  tell(resource: Resource, event: { readonly type: "Normal" | "Warning"; readonly reason: string; readonly message: string }): void;
}

export interface Memberships {
  /** @throws Unavailable */
  isMember(user: string, organization: string): Promise<boolean>;
}

export interface ConfigMaps {
  /** @throws NotFound when the ConfigMap or its key is not there, InvalidInput where there are no ConfigMaps */
  read(namespace: string, name: string, key: string): Promise<string>;
}

/** The latest runs, as the recorder wrote them. */
export interface Activity {
  /** Only of sources that have run after the given time, epoch ms. */
  since(known: readonly { readonly source: string; readonly lastRunAt: number }[]): Promise<readonly SourceActivity[]>;
}

export interface SourceActivity extends LatestRuns {
  readonly source: string;
}

export interface SourceBacklogs {
  /** Invocations accepted and not finished, by source; a source without any is absent. @throws Unavailable */
  read(): Promise<ReadonlyMap<string, number>>;
}

/** What whoever delivers wrote of webhooks whose endpoint fails. */
export interface FailingEndpoints {
  /** Those that were disabled, also when they have been enabled since and nothing has been posted yet. */
  disabled(): Promise<readonly EndpointFailures[]>;
  /** Of a webhook that is gone. */
  forget(webhook: string): Promise<void>;
}

export interface Pools {
  /** The pool of runners that runs the owner's sources: the owner's own when there is one, else the default. */
  poolOf(owner: string): string;
}

export interface Builds {
  /** Building the same code again costs next to nothing. Owners take turns. @throws InvalidInput, Unavailable */
  build(component: ComponentCode, owner: string): Promise<Build>;
}

/** A bucket of entries by key. */
export interface Entries<T> {
  get(key: string): Promise<T | undefined>;
  /** Resolves once readers of the bucket are bound to see it. */
  put(key: string, entry: T): Promise<void>;
  delete(key: string): Promise<void>;
}

export interface Timers {
  /** Replaces what the prop had; `invocation` is what each tick carries to the pool. */
  set(pool: string, source: string, prop: string, schedule: TimerSchedule, invocation: Invocation): Promise<void>;
  /** Ends all timers of a source, whichever there are. */
  end(source: string): Promise<void>;
}

/** What workflows have heard. */
export interface WorkflowQueues {
  /** Forgets what waits for the workflow. */
  end(workflow: string): Promise<void>;
}

export interface Histories {
  /** State after the last commit; undefined before the first. */
  state(owner: string, source: string): Promise<SourceState | undefined>;
  /** Ends the history of a deleted source: commits, events, runs, logs. */
  forget(owner: string, source: string): Promise<void>;
}

export interface Commits {
  /** Of the last one of all. */
  position(): Promise<CommitPosition>;
}

export interface Invocations {
  /** Asks the pool for a run once: the same run asked for again within two minutes is one. */
  request(pool: string, invocation: Invocation & { readonly run: string }): Promise<void>;
  /** Resolves when the run's commit is told, or when the signal aborts; it may be told to nobody. */
  untilRun(run: string, signal: AbortSignal): Promise<void>;
}

/** Gets new access tokens of a service (OAuth 2, RFC 6749, section 6). Never throws, and says nothing of what it sent or got. */
export interface TokenRefresher {
  refresh(request: RefreshRequest): Promise<RefreshOutcome>;
}

export interface RefreshRequest {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly clientAuthentication: "basic" | "body";
  readonly refreshToken: string;
  readonly scope?: string;
}

export interface RefreshedTokens {
  readonly accessToken: string;
  /** Takes the place of the one that was sent, which may be void from now on. */
  readonly refreshToken?: string;
  readonly expiresInSeconds?: number;
}

/** `refused`: asking again changes nothing, a person must. `why` ends a sentence for people. */
export type RefreshOutcome =
  | { readonly outcome: "refreshed"; readonly tokens: RefreshedTokens }
  | { readonly outcome: "refused"; readonly why: string }
  | { readonly outcome: "unavailable"; readonly why: string; readonly retryAfterMs?: number };

/** Calls of components that somebody configures. */
export interface Configurations {
  /** Asks the pool's runners once, durably, and waits for an answer; undefined when the signal aborts before. @throws Unavailable when it cannot be asked for */
  ask(pool: string, call: string, configuration: Configuration, signal: AbortSignal): Promise<Configured | undefined>;
}

export interface OperatorConfig {
  /** Base of the addresses of HTTP endpoints, without trailing slash. */
  readonly ingressUrl: string;
  /**
   * How long a hook may take before it is asked for again, and how long a deletion waits for `deactivate` in all: longer than any
   * run may take.
   */
  readonly hookTimeoutMs: number;
  /** Within this time a change of what nobody tells us of is noticed: Secrets, ConfigMaps, memberships. Default: 2 minutes. */
  readonly changesElsewhereMs?: number;
}

export const defaultChangesElsewhereMs = 120_000;
