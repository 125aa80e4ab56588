import { sql } from "kysely";
import { partitionCount } from "../../domain/subjects.ts";
import type { RunSummary } from "../../domain/invocation.ts";
import type { PageRequest } from "../../domain/page.ts";
import type { Tick } from "../../domain/ticks.ts";
import type { EventDeletion, TimeRange } from "../../api/ports.ts";
import type { Database } from "./connection.ts";
import { beginDeletion, continueDeletion, deletionBatch, getDeletion, listDeletions } from "./history/deletions.ts";
import { pageDerived, type DerivedChannel } from "./history/derived.ts";
import { listEventsBetween, pageEvents, type StoredEvent, type StoredPage } from "./history/events.ts";
import { createPruneCounter, defaultKept, prune, shapes, type Kept } from "./history/kept.ts";
import type { EventFilter, EventRange } from "./history/ranges.ts";
import { addPositions, partitionOfCommit, recordBatch, type ExpectedPositions, type SequencedCommit } from "./history/record.ts";
import { findRun, lastLogs, pageRuns, type RecordedRun, type RunFilter, type StoredLog } from "./history/runs.ts";
import { deleteScheduled, emitScheduled, findScheduled, pageScheduled } from "./history/scheduled.ts";
import { pageTicks } from "./history/ticks.ts";

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

/** What happened: events, runs and log lines, the last hundred of each per source. Errors and logs are no events here. */
export interface History {
  /** By partition, the sequence of the last commit recorded from this stream; 0 when none was. */
  readPositions(stream: string): Promise<readonly number[]>;
  /**
   * Of each partition all of the batch or nothing, each commit exactly once: a partition that has another position than the expected one is
   * refused, and a commit at or before the position is skipped. `stream` names the stream for good; when it can be made again with
   * sequences from 1, its name here must differ (append its creation time).
   *
   * @returns the partitions that were refused
   */
  recordCommits(stream: string, batch: readonly SequencedCommit[], expected?: ExpectedPositions): Promise<readonly number[]>;

  /** Newest first; `total` counts those on the channel and of the time. */
  pageEvents(source: string, page: PageRequest & EventFilter & TimeRange): Promise<StoredPage<StoredEvent>>;
  /** Errors and log lines in the form of events, newest first. @throws InvalidInput when what the cursor names is not kept any more */
  pageDerived(source: string, channel: DerivedChannel, page: PageRequest & TimeRange): Promise<StoredPage<Omit<StoredEvent, "run">>>;
  /** Events that are not due yet, newest first; `total` counts those of the time. */
  pageScheduled(source: string, page: PageRequest & TimeRange): Promise<StoredPage<StoredEvent & { readonly deliverAt: number }>>;
  /** Cancels scheduled events: when it returns, none of them will be emitted that is not on its way to listeners already. */
  deleteScheduled(source: string, range: EventRange): Promise<void>;
  /** By the id under which it is listed, and the position of its commit. `gone`: it was canceled, or emitted; `unrecorded`: its commit is. */
  scheduledEvent(
    source: string,
    listedId: string,
    commit: { readonly stream: string; readonly seq: number },
  ): Promise<"listed" | "gone" | "unrecorded">;
  emitScheduledEvent(source: string, listedId: string, id: string): Promise<void>;
  /** Oldest first: what a replay of that range sends. @throws InvalidInput for an id that is none */
  listEvents(source: string, range: EventRange & EventFilter): Promise<readonly StoredEvent[]>;
  findEvent(source: string, id: string): Promise<StoredEvent | undefined>;
  /**
   * No list shows them any more when it returns. What one batch does not delete is left to `continueDeletions`. Events that come later
   * stay. @throws InvalidInput for an id that is none
   */
  deleteEvents(source: string, range: EventRange & EventFilter): Promise<EventDeletion>;
  /** One batch of a deletion that nobody else is at; false when there was none. To be called until then, every few seconds. */
  continueDeletions(): Promise<boolean>;
  /** Newest first; those that ended a week ago are forgotten. */
  listDeletions(source: string): Promise<readonly EventDeletion[]>;

  /** Newest first. */
  pageRuns(source: string, page: PageRequest & RunFilter): Promise<StoredPage<RecordedRun>>;
  findRun(source: string, id: string): Promise<RunSummary | undefined>;
  /** Of its timers, newest first by the time at which they were due. */
  pageTicks(source: string, page: PageRequest): Promise<StoredPage<Tick>>;
  /** Oldest first, at most as many as are kept. */
  lastLogs(source: string, limit?: number): Promise<readonly StoredLog[]>;

  /** Runs and milliseconds of run time of the days, by midnight UTC, from the first to before the second; of one day without the second. */
  readUsage(owner: string, fromMs: number, untilMs?: number): Promise<{ readonly runs: number; readonly computeMs: number }>;

  /** Its history goes, and commits of it that are still on their way will not be recorded. Repeating is fine. */
  deleteSource(source: string): Promise<void>;
  /** To be called every few hours: forgets which sources and events were deleted, and usage of more than 40 days ago. */
  sweep(): Promise<void>;
}

export interface HistoryOptions {
  readonly kept?: Partial<Kept>;
  /** So many events are deleted in one transaction. */
  readonly deletionBatch?: number;
}

export function createHistory({ db }: Pick<Database, "db">, options: HistoryOptions = {}): History {
  const kept: Kept = { ...defaultKept, ...options.kept };
  const batch = options.deletionBatch ?? deletionBatch;
  const counters = {
    events: createPruneCounter(kept.events),
    logs: createPruneCounter(kept.logs),
    runs: createPruneCounter(kept.runs),
    ticks: createPruneCounter(kept.ticks),
  };

  async function pruneAfter(batch: readonly SequencedCommit[]): Promise<void> {
    const keysOf = (count: (commit: SequencedCommit["commit"]) => number): string[] =>
      batch.flatMap(({ commit }) => Array.from({ length: count(commit) }, () => commit.source));
    await prune(db, shapes.events, counters.events.due(keysOf(({ events }) => events.length)), kept.events);
    await prune(db, shapes.logs, counters.logs.due(keysOf(({ logs }) => logs.length)), kept.logs);
    await prune(db, shapes.runs, counters.runs.due(keysOf(() => 1)), kept.runs);
    await prune(db, shapes.ticks, counters.ticks.due(keysOf(ticksIn)), kept.ticks);
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
      const refused = new Set(await recordBatch(db, stream, batch, kept, expected));
      const added = refused.size === 0 ? [] : await addPositions(db, stream, [...refused]);
      if (added.length > 0) {
        const first = batch.filter((commit) => added.includes(partitionOfCommit(commit)));
        for (const partition of added) refused.delete(partition);
        for (const partition of await recordBatch(db, stream, first, kept, expected)) refused.add(partition);
      }
      await pruneAfter(batch.filter((commit) => !refused.has(partitionOfCommit(commit))));
      return [...refused];
    },
    pageEvents: (source, page) => pageEvents(db, source, page, kept.events),
    pageDerived: (source, channel, page) => pageDerived(db, source, channel, page, kept),
    pageScheduled: (source, page) => pageScheduled(db, source, page),
    deleteScheduled: (source, range) => deleteScheduled(db, source, range),
    scheduledEvent: (source, listedId, commit) => findScheduled(db, source, listedId, commit),
    async emitScheduledEvent(source, listedId, id) {
      await emitScheduled(db, source, listedId, id);
      await prune(db, shapes.events, counters.events.due([source]), kept.events);
    },
    listEvents: (source, range) => listEventsBetween(db, source, range, kept.events),
    findEvent: async (source, id) => (await listEventsBetween(db, source, { startId: id, endId: id }, kept.events))[0],
    async deleteEvents(source, range) {
      const n = await beginDeletion(db, source, range);
      // What cannot be deleted now is hidden already, and goes with `continueDeletions`.
      await continueDeletion(db, batch, n).catch(() => false);
      return getDeletion(db, n);
    },
    continueDeletions: () => continueDeletion(db, batch),
    listDeletions: (source) => listDeletions(db, source),
    pageRuns: (source, page) => pageRuns(db, source, page, kept.runs),
    pageTicks: (source, page) => pageTicks(db, source, page, kept.ticks),
    findRun: (source, id) => findRun(db, source, id),
    lastLogs: (source, limit = kept.logs) => lastLogs(db, source, Math.min(limit, kept.logs)),
    async readUsage(owner, fromMs, untilMs = fromMs + 1) {
      const { rows } = await sql<{ runs: number; compute_ms: number }>`
        select coalesce(sum(runs), 0)::bigint as runs, coalesce(sum(compute_ms), 0)::bigint as compute_ms from usage
        where owner = ${owner} and day_ms >= ${fromMs} and day_ms < ${untilMs}`.execute(db);
      return { runs: rows[0]?.runs ?? 0, computeMs: rows[0]?.compute_ms ?? 0 };
    },
    async deleteSource(source) {
      // Marked first, so that a batch recorded from now on leaves it out; what one under way adds is swept later.
      await sql`insert into ended_sources (source) values (${source}) on conflict (source) do update set ended_at = now()`.execute(db);
      await deleteRows([source]);
    },
    async sweep() {
      const { rows } = await sql<{
        source: string;
      }>`select source from ended_sources where ended_at < now() - interval '1 day' limit 10000`.execute(db);
      const sources = rows.map(({ source }) => source);
      await deleteRows(sources);
      await sql`delete from ended_sources where source = any(${sources}::text[])`.execute(db);
      await sql`delete from event_deletions where finished_at < now() - interval '7 days'`.execute(db);
      await sql`delete from usage where day_ms < extract(epoch from now() - interval '40 days') * 1000`.execute(db);
    },
  };

  async function deleteRows(sources: readonly string[]): Promise<void> {
    await sql`
      with ended as (select unnest(${sources}::text[]) as source),
      ended_events as (delete from events using ended where events.source = ended.source),
      ended_scheduled as (delete from scheduled_events using ended where scheduled_events.source = ended.source),
      ended_deletions as (delete from event_deletions using ended where event_deletions.source = ended.source),
      ended_ticks as (delete from ticks using ended where ticks.source = ended.source),
      ended_runs as (delete from runs using ended where runs.source = ended.source)
      delete from logs using ended where logs.source = ended.source`.execute(db);
  }
}

/** How many rows of ticks a commit makes. */
const ticksIn = ({ run: { dueAt, skippedTicks = [] } }: SequencedCommit["commit"]): number =>
  skippedTicks.length + (dueAt === undefined ? 0 : 1);
