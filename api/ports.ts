import type { DataStores } from "../domain/data-store/data-stores.ts";
import type { RegisteredStores } from "../domain/data-store/registered-stores.ts";
import type { Log } from "../domain/log.ts";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { OwnerNamespaces } from "../crds/owner-namespaces.ts";
import type { Kind, Resource } from "../crds/resource.ts";
import type { ResourceStore } from "../crds/resource-store.ts";
import type { SecretValues } from "../crds/secret-values.ts";
import type { Clock } from "../domain/clock.ts";
import type { CommittedEvent } from "../domain/event/committed-event.ts";
import type { ComponentCode } from "../domain/component/component-code.ts";
import type { ConnectorIndex } from "../domain/component/connector.ts";
import type { PackageListing, WantedPackage } from "../domain/component/package-listing.ts";
import type { Build } from "../domain/component/definition.ts";
import type { DryRunOutcome } from "../domain/invocation/dry-run.ts";
import type { EventMetadata } from "../domain/event/event-metadata.ts";
import type { RandomBytes } from "../domain/ids.ts";
import type { RunSummary } from "../domain/invocation/invocation.ts";
import type { LogRecord } from "../domain/run-products.ts";
import type { DayUse } from "../domain/limits/quota.ts";
import type { EventRange, PageRequest } from "../domain/page.ts";
import type { ItemSize } from "../domain/parts.ts";
import type { LatestRuns } from "../domain/source/source-health.ts";
import type { Tick } from "../domain/schedule/ticks.ts";
import type { TraceContext, Traces } from "../domain/traces.ts";
import type { RecordedWorkflowRun, WorkflowRunDetails } from "../domain/workflow/recorded-run.ts";
import type { RunStatus } from "../domain/workflow/run-state.ts";
import type { StepDeployment } from "../domain/workflow/deployment.ts";
import type { WorkflowTest, WorkflowTestOutcome } from "../domain/workflow/test-run.ts";
import type { AuditLog } from "./audit/ports.ts";
import type { Configurations } from "./configure-ports.ts";
import type { ConnectingPorts } from "./connections/ports.ts";
import type { ComponentLibrary, Publications, PublishedCode } from "./resources/library/ports.ts";
import type { DiskSamples, Installation } from "./admin/ports.ts";
import type { NamespaceClaims } from "./namespaces/ports.ts";
import type { Measures } from "./metrics/ports.ts";
import type { Accounts } from "./owners/ports.ts";
import type { ReadinessReport, ServerLimits, Sessions } from "./http/ports.ts";
import type { Replays } from "./replays/ports.ts";
import type { ListedSelection, Outcomes, SourceBacklogs, SourceSelection, StoredUse } from "./resources/ports.ts";
import type { SearchRecords } from "./search/ports.ts";
import type { TraceRecords } from "./traces/ports.ts";
import type { StreamPorts } from "./streams/ports.ts";
import type { RunControl, RunRepetition } from "../domain/workflow/run-control.ts";
import type { BundleReader, DryRunOptions, SourceTests } from "./runs/ports.ts";
import type { BackfillRequest, DraftRequest } from "./workflows/ports.ts";
import type { Backlogs, DeliveryHistory, Redeliveries } from "./webhooks/ports.ts";

/** Dependencies of the API. `wiring` supplies the adapters. */
export interface ApiPorts extends ConnectingPorts {
  readonly store: ResourceStore;
  readonly storedUse: StoredUse;
  readonly owners: OwnerNamespaces;
  /** Absent on one machine: there, owners' namespaces have no labels. */
  readonly namespaces?: NamespaceClaims | undefined;
  readonly secretValues: Pick<SecretValues, "keep">;
  readonly pages: ResourcePages;
  readonly library: ComponentLibrary;
  /** The components that come with Headwater. */
  readonly published: readonly PublishedCode[];
  readonly publications: Publications;
  readonly dataStores: DataStores & RegisteredStores;
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly auditLog: AuditLog;
  readonly history: History;
  readonly traceRecords: TraceRecords;
  readonly search: SearchRecords;
  readonly activity: Activity;
  readonly outcomes: Outcomes;
  readonly measures: Measures;
  readonly sourceBacklogs: SourceBacklogs;
  readonly builds: Builds;
  readonly runs: Runs;
  readonly deliveries: DeliveryHistory;
  readonly redeliveries: Redeliveries;
  readonly backlogs: Backlogs;
  readonly installation: Installation;
  readonly diskSamples: DiskSamples;
  /** Free bytes of the disk that has the database; absent: it is on another machine. */
  readonly freeDiskBytes?: () => Promise<number>;
  /** Absent: there are no live streams. */
  readonly streams?: StreamPorts;
  readonly configurations: Configurations;
  readonly replays: Replays;
  readonly workflowTests: WorkflowTests;
  readonly sourceTests: SourceTests;
  readonly bundles: BundleReader;
  /** Fetches a component and the modules that it imports by relative paths. @throws InvalidInput when there is none, Forbidden, LimitExceeded, Unavailable */
  readonly fetchComponent: (url: string, owner: string) => Promise<ComponentCode>;
  /** The components of a package of the npm registry. @throws as fetchComponent */
  readonly listPackage: (wanted: WantedPackage, owner: string) => Promise<PackageListing>;
  /** Of the installation. */
  readonly connectors: () => Promise<ConnectorIndex>;
  readonly clock: Clock;
  /** Cryptographic: the source of ids and signing keys. */
  readonly randomBytes: RandomBytes;
  readonly createServer: (limits: ServerLimits, onRequest: RequestListener) => DrainableServer;
  readonly bodies: RequestBodies;
  readonly log: Log;
  /** Absent: tracing is off. */
  readonly traces?: Traces | undefined;
  /** The checks of `/readyz`. */
  readonly readiness: { read(): Promise<ReadinessReport> };
}

export interface DrainableServer {
  readonly server: Server;
  /** Accepts no more connections and finishes requests in progress; when the signal aborts, closes them. */
  readonly drain: (signal: AbortSignal) => Promise<void>;
  /** Charges a user for the connection of a request in progress. @returns false when the user has the share of a user already */
  readonly charge: (request: IncomingMessage, user: string) => boolean;
}

export interface RequestBodies {
  /** Reads a body within a memory bound for all bodies being received. @throws LimitExceeded, Malformed, Unavailable */
  read(request: IncomingMessage, response: ServerResponse, options: { limitBytes: number; holder: string }): Promise<Buffer>;
}

export interface ResourceSelection {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Only resources without this label. */
  readonly withoutLabel?: string;
  /** Only resources whose spec or status contains this text, such as an id. */
  readonly mentions?: string;
  /** Only resources with this `status.nameSlug`. */
  readonly slug?: string;
  /** For the kind Source. */
  readonly sources?: SourceSelection;
  /** For the kinds Webhook and Workflow. */
  readonly listed?: ListedSelection;
}

/** Pages of resources. In a cluster they lag slightly behind the store. */
export interface ResourcePages {
  /** Newest first, or in the order of the page; cursors are public ids, or positions. @throws InvalidInput for a cursor that is not in the list */
  listPage<S, T>(kind: Kind<S, T>, selection: ResourceSelection, page: PageRequest): Promise<Listed<Resource<S, T>>>;
  findNewest<S, T>(kind: Kind<S, T>, selection: ResourceSelection): Promise<Resource<S, T> | undefined>;
  findById<S, T>(kind: Kind<S, T>, id: string): Promise<Resource<S, T> | undefined>;
  /** Makes a resource that a response contained visible in the caller's next list, at least at this version. */
  show<S, T>(kind: Kind<S, T>, resource: Resource<S, T>): Promise<void>;
}

export interface Listed<Item> {
  readonly items: readonly Item[];
  /** Size of the whole list. */
  readonly total: number;
  /** Number of items of the page that did not fit into its `maxBytes`; absent: none. */
  readonly left?: number;
  /** Of each item, if cursors of the list are positions instead of ids. */
  readonly positions?: readonly string[];
}

/** `deliverAt` is set while the event is scheduled, `indexedAtMs` is the time in the id, epoch ms. */
export interface StoredEvent extends CommittedEvent {
  readonly indexedAtMs: number;
}

/** The latest recorded runs. */
export interface Activity {
  /** Returns sources that have run after the given time (epoch ms), with one query. */
  since(
    known: readonly { readonly source: string; readonly lastRunAt: number }[],
  ): Promise<readonly (LatestRuns & { readonly source: string })[]>;
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
  /** The last event to delete; null: there was none. */
  readonly endId: string | null;
  /** Null: all of them. */
  readonly channel: string | null;
  /** Number of deleted events. */
  readonly deleted: number;
  readonly createdAtMs: number;
  /** Null: in progress. */
  readonly finishedAtMs: number | null;
}

export interface History {
  /** Newest first; without a channel, all of them. */
  pageEvents(source: string, page: PageRequest & TimeRange & { readonly channel?: string }): Promise<Listed<StoredEvent>>;
  /** Errors and log lines of runs as events, newest first. @throws InvalidInput when the cursor's entry is deleted */
  pageDerived(source: string, channel: "$errors" | "$logs", page: PageRequest & TimeRange): Promise<Listed<StoredEvent>>;
  /** Events that are not due yet, newest first. */
  pageScheduled(source: string, page: PageRequest & TimeRange): Promise<Listed<StoredEvent>>;
  /** Cancels scheduled events; both ends inclusive and optional. @throws InvalidInput for an invalid id */
  deleteScheduled(source: string, range: { readonly startId?: string; readonly endId?: string }): Promise<void>;
  /** Oldest first; both ends inclusive and optional. @throws InvalidInput for an invalid id */
  listEvents(source: string, range: EventRange): Promise<readonly StoredEvent[]>;
  /** What {@link listEvents} would return, without the events themselves. */
  listEventSizes(source: string, range: EventRange): Promise<readonly ItemSize[]>;
  findEvent(source: string, id: string): Promise<StoredEvent | undefined>;
  /** Hides the events, then deletes them in the background; both ends inclusive and optional. @throws InvalidInput for an invalid id */
  deleteEvents(source: string, range: EventRange): Promise<EventDeletion>;
  /** Newest first. */
  listDeletions(source: string): Promise<readonly EventDeletion[]>;
  /** Newest first. @throws InvalidInput when the cursor's run is deleted */
  pageRuns(source: string, page: PageRequest & { readonly failed?: boolean }): Promise<Listed<Omit<RunSummary, "logs">>>;
  /** `received`: JSON text of the event of a failed run, if it is stored. */
  findRun(source: string, id: string): Promise<(RunSummary & { readonly received?: string }) | undefined>;
  /** Newest first by due time; the cursor's tick may be deleted. */
  pageTicks(source: string, page: PageRequest): Promise<Listed<Tick>>;
  /** Oldest first. */
  lastLogs(source: string, limit?: number): Promise<readonly { readonly run: string; readonly record: LogRecord }[]>;
  /** Runs of a workflow, newest first; those of a status, or all. @throws InvalidInput when the cursor's run is deleted */
  pageWorkflowRuns(workflow: string, page: PageRequest & { readonly status?: RunStatus }): Promise<Listed<RecordedWorkflowRun>>;
  findWorkflowRun(workflow: string, id: string): Promise<WorkflowRunDetails | undefined>;
  /** Runs that an emitted event started in workflows of these owners, newest first. */
  runsOfEvent(
    event: { readonly emitter: string; readonly emitId: string },
    owners: readonly string[],
  ): Promise<readonly RecordedWorkflowRun[]>;
  /** Usage of the days from `fromMs` to before `untilMs`, both midnight UTC; without `untilMs`, of the first day. */
  readUsage(owner: string, fromMs: number, untilMs?: number): Promise<{ readonly runs: number; readonly computeMs: number }>;
  /** Usage of the day that starts at `dayMs`. */
  readDay(owner: string, dayMs: number): Promise<DayUse>;
}

export interface Builds {
  /** Builds, or returns the cached build of the same code. Owners take turns. @throws InvalidInput, LimitExceeded, Unavailable */
  build(component: ComponentCode, owner: string): Promise<Build>;
}

export interface ManualRun {
  /** Id of the future run, `r_…`. */
  readonly run: string;
  readonly source: string;
  readonly owner: string;
  /** Pool of the source's deployment. */
  readonly pool: string;
  /** The runner must have seen this generation of the source. */
  readonly generation: number;
  /** Argument of `run`; absent: undefined. */
  readonly event?: unknown;
  /** Metadata of that event, if a source emitted it. */
  readonly metadata?: EventMetadata;
  readonly trace?: TraceContext;
  /** Of a workflow: the run repeats another one. */
  readonly repeats?: RunRepetition;
}

export interface Runs {
  /**
   * Stores an invocation. `ended` is undefined if the signal aborts first; the run continues. It rejects with Conflict or NotFound if the
   * source was paused or deleted before the run began: then it does not run.
   * @throws Unavailable when it cannot be stored; QuotaUsedUp `backlog_full` when the backlog of the source or its owner is full
   */
  run(request: ManualRun, signal: AbortSignal): Promise<{ readonly ended: Promise<RunSummary | undefined> }>;
  /**
   * Requests a run that stores nothing, of a source or of a draft of one. `outcome` is undefined if no runner replies in time: then no runner runs it later. It rejects
   * with UserCode if the runner's reply is invalid. @throws Unavailable when the run cannot be requested
   */
  dryRun(request: ManualRun & DryRunOptions): Promise<{ readonly outcome: Promise<DryRunOutcome | undefined> }>;
  /** Stores what is asked of a run of a workflow. @throws Unavailable when it cannot be stored; QuotaUsedUp `backlog_full` */
  control(request: Pick<ManualRun, "source" | "owner" | "pool"> & { readonly control: RunControl }): Promise<void>;
  /** Stores the first of past ticks of a workflow's timer; each tick brings the next one. @throws Unavailable; QuotaUsedUp `backlog_full` */
  backfill(request: BackfillRequest): Promise<void>;
}

export interface WorkflowTests {
  /** Adds secrets and accounts to the steps of a draft, sealed for the workflow's pool. @throws InvalidInput, LimitExceeded, NotFound, Unavailable */
  seal(request: DraftRequest): Promise<readonly StepDeployment[]>;
  /**
   * Requests a test. `outcome` is undefined if no runner replies in time: then no runner runs it later. It rejects with UserCode if the
   * runner's reply is invalid. @throws Unavailable when the test cannot be requested
   */
  request(
    request: ManualRun & { readonly timeoutMs: number; readonly test: WorkflowTest },
  ): Promise<{ readonly outcome: Promise<WorkflowTestOutcome | undefined> }>;
}
