import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { OwnerNamespaces } from "../crds/owner-namespaces.ts";
import type { Kind, Resource } from "../crds/resource.ts";
import type { ResourceStore } from "../crds/resource-store.ts";
import type { SecretValues } from "../crds/secret-values.ts";
import type { TrustedProxies } from "../domain/client-address.ts";
import type { Clock } from "../domain/clock.ts";
import type { CommittedEvent } from "../domain/commit.ts";
import type { ComponentCode } from "../domain/component-code.ts";
import type { ConfigureCall, ConfiguredOptions, ConfiguredProps } from "../domain/configure.ts";
import type { Build } from "../domain/definition.ts";
import type { DryRunOutcome } from "../domain/dry-run.ts";
import type { EventMetadata } from "../domain/event-metadata.ts";
import type { RandomBytes } from "../domain/ids.ts";
import type { LogRecord, RunSummary } from "../domain/invocation.ts";
import type { PageRequest } from "../domain/page.ts";
import type { HealthState, LatestRuns } from "../domain/source-health.ts";
import type { Tick } from "../domain/ticks.ts";
import type { TraceContext, Traces } from "../domain/traces.ts";
import type { Readiness } from "./http/readiness.ts";
import type { ComponentLibrary, PublishedCode } from "./components/ports.ts";
import type { Accounts, User } from "./owners/ports.ts";
import type { Replays } from "./replays/ports.ts";
import type { StreamPorts } from "./streams/ports.ts";
import type { Backlogs, DeliveryHistory, Redeliveries } from "./webhooks/ports.ts";

export type { User };

/** Everything the API reaches; whoever wires the role gives the adapters. */
export interface ApiPorts {
  readonly store: ResourceStore;
  readonly owners: OwnerNamespaces;
  readonly secretValues: Pick<SecretValues, "keep" | "settle">;
  readonly pages: ResourcePages;
  readonly library: ComponentLibrary;
  /** The components that come with the installation. */
  readonly published: readonly PublishedCode[];
  readonly accounts: Accounts;
  readonly history: History;
  readonly activity: Activity;
  readonly sourceBacklogs: SourceBacklogs;
  readonly builds: Builds;
  readonly runs: Runs;
  readonly deliveries: DeliveryHistory;
  readonly redeliveries: Redeliveries;
  readonly backlogs: Backlogs;
  /** Absent: there are no live streams. */
  readonly streams?: StreamPorts;
  readonly configurations: Configurations;
  readonly replays: Replays;
  /** The component at an http or https address, with the modules it imports from there. @throws InvalidInput when there is none, Forbidden, LimitExceeded, Unavailable */
  readonly fetchComponent: (url: string, owner: string) => Promise<ComponentCode>;
  readonly clock: Clock;
  /** Cryptographic: ids and signing keys are made of them. */
  readonly randomBytes: RandomBytes;
  readonly createServer: (limits: ServerLimits, onRequest: RequestListener) => DrainableServer;
  readonly bodies: RequestBodies;
  readonly log: Log;
  /** Absent: there are none. */
  readonly traces?: Traces | undefined;
  /** What `/readyz` asks about. */
  readonly readiness: Pick<Readiness, "read">;
}

export interface ServerLimits {
  /** For a whole request to arrive. */
  readonly requestTimeoutMs: number;
  /** Without a byte on a connection that is not idle, in either direction; longer than an answer may take. */
  readonly silenceTimeoutMs: number;
  readonly maxConnections: number;
  readonly trustedProxies: TrustedProxies;
}

export interface DrainableServer {
  readonly server: Server;
  /** Takes no more connections and finishes what is in flight; cuts off the rest when the signal aborts. */
  readonly drain: (signal: AbortSignal) => Promise<void>;
}

export interface RequestBodies {
  /** Bounds what all bodies hold while they arrive. @throws LimitExceeded, Malformed, Unavailable */
  read(request: IncomingMessage, response: ServerResponse, options: { limitBytes: number; holder: string }): Promise<Buffer>;
}

export interface Log {
  info(fields: object, message?: string): void;
  warn(fields: object, message?: string): void;
  error(fields: object, message?: string): void;
}

export interface ResourceSelection {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Only those without this label. */
  readonly withoutLabel?: string;
  /** Only those in whose spec or status this text occurs somewhere, such as an id. */
  readonly mentions?: string;
  /** Only those with this `status.nameSlug`. */
  readonly slug?: string;
  /** Of the kind Source. */
  readonly sources?: SourceSelection;
}

/** Which sources a list shows; all that are given hold. */
export interface SourceSelection {
  readonly state?: HealthState | undefined;
  /** Occurs in the name, the slug, the id or the key of the component, in any case. */
  readonly text?: string | undefined;
  /** The key of the component that runs, exactly. */
  readonly componentKey?: string | undefined;
}

/** Lists of resources as pages show them; in a cluster they lag a moment behind the store. */
export interface ResourcePages {
  /** Newest first; cursors are public ids. @throws InvalidInput for a cursor that is not in the list */
  listPage<S, T>(kind: Kind<S, T>, selection: ResourceSelection, page: PageRequest): Promise<Listed<Resource<S, T>>>;
  findNewest<S, T>(kind: Kind<S, T>, selection: ResourceSelection): Promise<Resource<S, T> | undefined>;
  findById<S, T>(kind: Kind<S, T>, id: string): Promise<Resource<S, T> | undefined>;
  /** What a caller has just been told of: their next list shows it no older. */
  show<S, T>(kind: Kind<S, T>, resource: Resource<S, T>): Promise<void>;
}

export interface Listed<Item> {
  readonly items: readonly Item[];
  /** Of the whole list. */
  readonly total: number;
}

/** `deliverAt` is set while the event is scheduled. */
export interface StoredEvent extends CommittedEvent {
  /** Epoch ms: the time in the id. */
  readonly indexedAtMs: number;
}

/** The latest runs, as the recorder wrote them. */
export interface Activity {
  /** Of the sources that have run after the given time, epoch ms; one query for all. */
  since(
    known: readonly { readonly source: string; readonly lastRunAt: number }[],
  ): Promise<readonly (LatestRuns & { readonly source: string })[]>;
}

export interface SourceBacklogs {
  /** Invocations accepted and not finished, by source; a source without any is absent. @throws Unavailable */
  read(): Promise<ReadonlyMap<string, number>>;
}

/** Both ends inclusive and optional, epoch ms. */
export interface TimeRange {
  readonly sinceMs?: number;
  readonly untilMs?: number;
}

export interface EventDeletion {
  /** `ed_…`. */
  readonly id: string;
  /** Null: from the first. */
  readonly startId: string | null;
  /** The last that goes; null: there was none. */
  readonly endId: string | null;
  /** Null: all of them. */
  readonly channel: string | null;
  /** How many are gone. */
  readonly deleted: number;
  readonly createdAtMs: number;
  /** Null: it is under way. */
  readonly finishedAtMs: number | null;
}

export interface History {
  /** Newest first; without a channel, all of them. */
  pageEvents(source: string, page: PageRequest & TimeRange & { readonly channel?: string }): Promise<Listed<StoredEvent>>;
  /** Errors and log lines of runs in the form of events, newest first. @throws InvalidInput for a cursor whose entry is gone */
  pageDerived(source: string, channel: "$errors" | "$logs", page: PageRequest & TimeRange): Promise<Listed<StoredEvent>>;
  /** Events that are not due yet, newest first. */
  pageScheduled(source: string, page: PageRequest & TimeRange): Promise<Listed<StoredEvent>>;
  /** Cancels scheduled events; both ends inclusive and optional. @throws InvalidInput for an id that is none */
  deleteScheduled(source: string, range: { readonly startId?: string; readonly endId?: string }): Promise<void>;
  /** Oldest first; both ends inclusive and optional. @throws InvalidInput for an id that is none */
  listEvents(
    source: string,
    range: { readonly startId?: string; readonly endId?: string; readonly channel?: string },
  ): Promise<readonly StoredEvent[]>;
  findEvent(source: string, id: string): Promise<StoredEvent | undefined>;
  /** Both ends inclusive and optional; they are hidden when it returns. @throws InvalidInput for an id that is none */
  deleteEvents(
    source: string,
    range: { readonly startId?: string; readonly endId?: string; readonly channel?: string },
  ): Promise<EventDeletion>;
  /** Newest first. */
  listDeletions(source: string): Promise<readonly EventDeletion[]>;
  /** Newest first. @throws InvalidInput for a cursor whose run is gone */
  pageRuns(source: string, page: PageRequest & { readonly failed?: boolean }): Promise<Listed<Omit<RunSummary, "logs">>>;
  findRun(source: string, id: string): Promise<RunSummary | undefined>;
  /** Newest first by the time at which they were due; a cursor's tick may be gone. */
  pageTicks(source: string, page: PageRequest): Promise<Listed<Tick>>;
  /** Oldest first. */
  lastLogs(source: string, limit?: number): Promise<readonly { readonly run: string; readonly record: LogRecord }[]>;
  /** Of the days that begin from the first to before the second, both midnight UTC; of the first alone when there is no second. */
  readUsage(owner: string, fromMs: number, untilMs?: number): Promise<{ readonly runs: number; readonly computeMs: number }>;
}

export interface Builds {
  /** Building the same code again costs next to nothing. Owners take turns. @throws InvalidInput, LimitExceeded, Unavailable */
  build(component: ComponentCode, owner: string): Promise<Build>;
}

/** What somebody who configures a component, maybe for a source that runs it, wants its code to tell. */
export interface ConfigureRequest {
  readonly namespace: string;
  /** Name of the Component. */
  readonly component: string;
  /** Name of the Source: its secrets count where none are given, its props when nothing is. */
  readonly source?: string;
  readonly props?: Readonly<Record<string, unknown>>;
  readonly call: ConfigureCall;
}

export interface Configurations {
  /**
   * @throws UserCode or InvalidInput for what the component threw, a limit that it met, a prop without options; NotFound; QuotaExceeded;
   * Unavailable; 504 `configure_timeout` when no runner answers in time
   */
  configure(request: ConfigureRequest): Promise<ConfiguredOptions | ConfiguredProps>;
}

export interface ManualRun {
  /** Id that the run will have, `r_…`. */
  readonly run: string;
  readonly source: string;
  readonly owner: string;
  /** That the source is deployed in. */
  readonly pool: string;
  /** The runner must have seen this generation of the source. */
  readonly generation: number;
  /** What `run` receives; absent: nothing. */
  readonly event?: unknown;
  /** Of that event, when a source emitted it. */
  readonly metadata?: EventMetadata;
  readonly trace?: TraceContext;
}

export interface Runs {
  /**
   * Asks for a run, durably. @returns its end, undefined when the signal aborts before: the run goes on
   * @throws Unavailable when it cannot be asked for; QuotaUsedUp `backlog_full` when the backlog of the source or its owner is at its bound
   */
  run(request: ManualRun, signal: AbortSignal): Promise<{ readonly ended: Promise<RunSummary | undefined> }>;
  /**
   * Asks for a run that leaves nothing. @returns what it would have left, undefined when no runner answers in that time: then no runner runs it
   * any more; it rejects with UserCode when the runner's answer is none. @throws Unavailable when it cannot be asked for
   */
  dryRun(request: ManualRun & { readonly timeoutMs: number }): Promise<{ readonly outcome: Promise<DryRunOutcome | undefined> }>;
}
