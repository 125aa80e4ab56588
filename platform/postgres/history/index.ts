import { sql } from "kysely";
import { partitionCount } from "../../../domain/subjects.ts";
import type { DayUse } from "../../../domain/limits/quota.ts";
import type { PageRequest } from "../../../domain/page.ts";
import type { ItemSize } from "../../../domain/parts.ts";
import type { RecordedWorkflowRun, WorkflowRunDetails } from "../../../domain/workflow/recorded-run.ts";
import type { RunStatus } from "../../../domain/workflow/run-state.ts";
import { defaultKeptMeasures, type KeptMeasures } from "../../../domain/measures/steps.ts";
import type { Tick } from "../../../domain/schedule/ticks.ts";
import type { EventDeletion, TimeRange } from "../../../api/ports.ts";
import { defaultAuditDays } from "../audit/audit-log.ts";
import type { Database } from "../connection.ts";
import { beginDeletion, continueDeletion, deletionBatch, getDeletion, listDeletions } from "./deletions.ts";
import { pageDerived, type DerivedChannel } from "./derived.ts";
import { listEventsBetween, listEventSizes, pageEvents, type StoredEvent, type StoredPage } from "./events.ts";
import { createPruneCounter, defaultKept, prune, shapes, type Kept } from "./kept.ts";
import type { EventFilter, EventRange } from "./ranges.ts";
import { addPositions, partitionOfCommit, recordBatch, type ExpectedPositions, type SequencedCommit } from "./record.ts";
import { findRun, lastLogs, pageRuns, type FoundRun, type RecordedRun, type RunFilter, type StoredLog } from "./runs.ts";
import { deleteScheduled, emitScheduled, findScheduled, pageScheduled } from "./scheduled.ts";
import { searchColumnsFilling } from "./search-columns.ts";
import { deleteSource, sweep } from "./sweep.ts";
import { pageTicks } from "./ticks.ts";
import { readDay, readUsage } from "./usage.ts";
import { changesRuns, pruneAttempts, pruneRuns } from "./workflows/prune.ts";
import { findWorkflowRun, pageWorkflowRuns, runsOfEvent } from "./workflows/runs.ts";

export type {
  EventFilter,
  EventRange,
  ExpectedPositions,
  Kept,
  RecordedRun,
  RunFilter,
  SequencedCommit,
  StoredEvent,
  StoredLog,
  StoredPage,
};

/** Events, runs and log lines; the last hundred of each per source. Errors and logs are not events here. */
export interface History {
  /** Per partition, the sequence of the last recorded commit of this stream; 0 without any. */
  readPositions(stream: string): Promise<readonly number[]>;
  /**
   * Records the batch atomically per partition, each commit exactly once: refuses a partition whose position differs from the expected one,
   * and skips commits up to the position. `stream` identifies the stream permanently; append its creation time if it may be recreated with
   * sequences from 1.
   *
   * @returns the refused partitions
   */
  recordCommits(stream: string, batch: readonly SequencedCommit[], expected?: ExpectedPositions): Promise<readonly number[]>;

  /** Newest first; `total` counts those matching channel and time range. */
  pageEvents(source: string, page: PageRequest & EventFilter & TimeRange): Promise<StoredPage<StoredEvent>>;
  /** Errors and log lines as events, newest first. @throws InvalidInput when the cursor's row is no longer stored */
  pageDerived(source: string, channel: DerivedChannel, page: PageRequest & TimeRange): Promise<StoredPage<Omit<StoredEvent, "run">>>;
  /** Events that are not due yet, newest first; `total` counts those in the time range. */
  pageScheduled(source: string, page: PageRequest & TimeRange): Promise<StoredPage<StoredEvent & { readonly deliverAt: number }>>;
  /** Cancels scheduled events. Once it resolves, none is emitted unless its delivery has already started. */
  deleteScheduled(source: string, range: EventRange): Promise<void>;
  /**
   * State of a scheduled event, by its listed id and the position of its commit. `gone`: canceled or emitted; `unrecorded`: its commit has
   * not been recorded yet.
   */
  scheduledEvent(
    source: string,
    listedId: string,
    commit: { readonly stream: string; readonly seq: number },
  ): Promise<"listed" | "gone" | "unrecorded">;
  emitScheduledEvent(source: string, listedId: string, id: string): Promise<void>;
  /** Oldest first: the events that a replay of the range sends. @throws InvalidInput for an invalid id */
  listEvents(source: string, range: EventRange & EventFilter): Promise<readonly StoredEvent[]>;
  /** The ids of {@link listEvents}, with the bytes of the payloads. */
  listEventSizes(source: string, range: EventRange & EventFilter): Promise<readonly ItemSize[]>;
  findEvent(source: string, id: string): Promise<StoredEvent | undefined>;
  /**
   * Hides the events from all lists at once. `continueDeletions` deletes what exceeds one batch. Later events stay.
   * @throws InvalidInput for an invalid id
   */
  deleteEvents(source: string, range: EventRange & EventFilter): Promise<EventDeletion>;
  /** Runs one batch of a deletion that no other process works on; false if there was none. Call it every few seconds, until false. */
  continueDeletions(): Promise<boolean>;
  /** Fills in what rows of earlier versions lack to be searched, a batch of them; false if there were no more. Call it with pauses, every few seconds once it is false. */
  fillSearchColumns(): Promise<boolean>;
  /** Newest first; deleted a week after they finish. */
  listDeletions(source: string): Promise<readonly EventDeletion[]>;

  /** Newest first. */
  pageRuns(source: string, page: PageRequest & RunFilter): Promise<StoredPage<RecordedRun>>;
  findRun(source: string, id: string): Promise<FoundRun | undefined>;
  /** Ticks of its timers, newest first by due time. */
  pageTicks(source: string, page: PageRequest): Promise<StoredPage<Tick>>;
  /** Oldest first, at most as many as are stored. */
  lastLogs(source: string, limit?: number): Promise<readonly StoredLog[]>;

  /** Runs of a workflow, newest first; those of a status, or all. @throws InvalidInput when the cursor's run is no longer stored */
  pageWorkflowRuns(workflow: string, page: PageRequest & { readonly status?: RunStatus }): Promise<StoredPage<RecordedWorkflowRun>>;
  findWorkflowRun(workflow: string, id: string): Promise<WorkflowRunDetails | undefined>;
  /** Runs that an emitted event started in workflows of these owners, newest first. */
  runsOfEvent(
    event: { readonly emitter: string; readonly emitId: string },
    owners: readonly string[],
  ): Promise<readonly RecordedWorkflowRun[]>;

  /** Runs and run time of the days from `fromMs` to before `untilMs`, both midnight UTC; of one day without `untilMs`. */
  readUsage(owner: string, fromMs: number, untilMs?: number): Promise<{ readonly runs: number; readonly computeMs: number }>;
  /** Usage of the day that starts at `dayMs`. */
  readDay(owner: string, dayMs: number): Promise<DayUse>;

  /** Deletes the history of a source or workflow, and ignores its commits that arrive later. Idempotent. */
  deleteSource(source: string): Promise<void>;
  /** Call it every few hours: deletes records of deleted sources and events, usage older than 40 days, and measures that are not kept. */
  sweep(): Promise<void>;
}

type Db = Database["db"];

export interface HistoryOptions {
  /** Whether the recorder stores errors to be mailed. Default: false. */
  readonly mailsErrors?: boolean;
  readonly kept?: Partial<Kept>;
  /** Days for which the audit log is kept. */
  readonly keepAuditDays?: number;
  readonly keptMeasures?: KeptMeasures;
  /** Events deleted per transaction. */
  readonly deletionBatch?: number;
}

export function createHistory({ db }: Pick<Database, "db">, options: HistoryOptions = {}): History {
  const kept: Kept = { ...defaultKept, ...options.kept };
  const batch = options.deletionBatch ?? deletionBatch;
  return {
    ...recorder(db, kept, options.mailsErrors ?? false),
    pageEvents: (source, page) => pageEvents(db, source, page, kept.events),
    pageDerived: (source, channel, page) => pageDerived(db, source, channel, page, kept),
    pageScheduled: (source, page) => pageScheduled(db, source, page),
    deleteScheduled: (source, range) => deleteScheduled(db, source, range),
    scheduledEvent: (source, listedId, commit) => findScheduled(db, source, listedId, commit),
    listEvents: (source, range) => listEventsBetween(db, source, range, kept.events),
    listEventSizes: (source, range) => listEventSizes(db, source, range, kept.events),
    findEvent: async (source, id) => (await listEventsBetween(db, source, { startId: id, endId: id }, kept.events))[0],
    async deleteEvents(source, range) {
      const n = await beginDeletion(db, source, range);
      // What cannot be deleted now is already hidden, and `continueDeletions` deletes it.
      await continueDeletion(db, batch, n).catch(() => false);
      return getDeletion(db, n);
    },
    continueDeletions: () => continueDeletion(db, batch),
    fillSearchColumns: searchColumnsFilling(db),
    listDeletions: (source) => listDeletions(db, source),
    pageRuns: (source, page) => pageRuns(db, source, page, kept.runs),
    pageTicks: (source, page) => pageTicks(db, source, page, kept.ticks),
    findRun: (source, id) => findRun(db, source, id),
    lastLogs: (source, limit = kept.logs) => lastLogs(db, source, Math.min(limit, kept.logs)),
    pageWorkflowRuns: (workflow, page) => pageWorkflowRuns(db, workflow, page),
    findWorkflowRun: (workflow, id) => findWorkflowRun(db, workflow, id),
    runsOfEvent: (event, owners) => runsOfEvent(db, { ...event, owners }, kept.runs),
    readUsage: (owner, fromMs, untilMs) => readUsage(db, owner, fromMs, untilMs),
    readDay: (owner, dayMs) => readDay(db, owner, dayMs),
    deleteSource: (source) => deleteSource(db, source),
    sweep: () => sweep(db, options.keepAuditDays ?? defaultAuditDays, options.keptMeasures ?? defaultKeptMeasures),
  };
}

/** What adds rows, and then prunes what exceeds its limits. */
function recorder(db: Db, kept: Kept, mailsErrors: boolean): Pick<History, "readPositions" | "recordCommits" | "emitScheduledEvent"> {
  const recordOptions = { kept, mailsErrors };
  const counters = {
    events: createPruneCounter(kept.events),
    logs: createPruneCounter(kept.logs),
    runs: createPruneCounter(kept.runs),
    ticks: createPruneCounter(kept.ticks),
    workflowRuns: createPruneCounter(kept.runs),
  };

  async function pruneAfter(batch: readonly SequencedCommit[]): Promise<void> {
    const keysOf = (count: (commit: SequencedCommit["commit"]) => number): string[] =>
      batch.flatMap(({ commit }) => Array.from({ length: count(commit) }, () => commit.source));
    await prune(db, shapes.events, counters.events.due(keysOf(({ events }) => events.length)), kept.events);
    await prune(db, shapes.logs, counters.logs.due(keysOf(({ logs }) => logs.length)), kept.logs);
    await prune(db, shapes.runs, counters.runs.due(keysOf(({ workflow }) => (workflow === undefined ? 1 : 0))), kept.runs);
    await prune(db, shapes.ticks, counters.ticks.due(keysOf(ticksIn)), kept.ticks);
    const changed = keysOf(({ workflow }) => (workflow !== undefined && changesRuns(workflow) ? 1 : 0));
    await pruneRuns(db, counters.workflowRuns.due(changed), kept);
    await pruneAttempts(db, batch, kept);
  }

  return {
    async readPositions(stream) {
      const { rows } = await sql<{ partition: number | null; seq: number }>`
        select partition, seq from recorder_partitions where stream = ${stream}
        union all select null::integer, seq from recorder_positions where stream = ${stream}`.execute(db);
      const seqs = new Map(rows.map(({ partition, seq }) => [partition, seq]));
      return Array.from({ length: partitionCount }, (_, partition) => seqs.get(partition) ?? seqs.get(null) ?? 0);
    },
    async recordCommits(stream, batch, expected = new Map()) {
      if (batch.length === 0) return [];
      const refused = new Set(await recordBatch(db, stream, batch, recordOptions, expected));
      const added = refused.size === 0 ? [] : await addPositions(db, stream, [...refused]);
      if (added.length > 0) {
        const first = batch.filter((commit) => added.includes(partitionOfCommit(commit)));
        for (const partition of added) refused.delete(partition);
        for (const partition of await recordBatch(db, stream, first, recordOptions, expected)) refused.add(partition);
      }
      await pruneAfter(batch.filter((commit) => !refused.has(partitionOfCommit(commit))));
      return [...refused];
    },
    async emitScheduledEvent(source, listedId, id) {
      await emitScheduled(db, source, listedId, id);
      await prune(db, shapes.events, counters.events.due([source]), kept.events);
    },
  };
}

/** Maximum tick rows of a commit. */
const ticksIn = ({ run: { dueAt, skippedTicks = [], missedTicks = [] } }: SequencedCommit["commit"]): number =>
  skippedTicks.length + missedTicks.length + (dueAt === undefined ? 0 : 1);
