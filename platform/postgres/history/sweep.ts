import { sql } from "kysely";
import type { KeptMeasures } from "../../../domain/measures/steps.ts";
import { pruneAuditLog } from "../audit/audit-log.ts";
import type { Database } from "../connection.ts";
import { keepMeasures } from "../measures/keep.ts";

type Db = Database["db"];

/** The daily sweep deletes what history has of a deleted source, workflow or webhook, also what is recorded in the next minutes. */
export const markEnded = (db: Db, id: string): Promise<unknown> =>
  sql`insert into ended_sources (source) values (${id}) on conflict (source) do update set ended_at = now()`.execute(db);

/** As `History.deleteSource`. */
export async function deleteSource(db: Db, source: string): Promise<void> {
  // Mark it first, so that later batches skip it; sweep() deletes what a batch in progress adds.
  await markEnded(db, source);
  await deleteRows(db, [source]);
}

/** Attempts that were in progress when their webhook was deleted are recorded by then. */
const untilMs = sql`extract(epoch from ended.ended_at) * 1000 + 600000`;

/** As `History.sweep`. */
export async function sweep(db: Db, keepAuditDays: number, keptMeasures: KeptMeasures): Promise<void> {
  const { rows } = await sql<{
    source: string;
  }>`select source from ended_sources where ended_at < now() - interval '1 day' limit 10000`.execute(db);
  const sources = rows.map(({ source }) => source);
  await deleteRows(db, sources);
  // Of deleted webhooks, and of what runs of deleted workflows sent. A webhook that was applied again with its id has later ones.
  await sql`delete from attempts using ended_sources as ended
    where webhook = ended.source and ended.source = any(${sources}::text[]) and at_ms < ${untilMs}`.execute(db);
  await sql`delete from dead_letters using ended_sources as ended
    where webhook = ended.source and ended.source = any(${sources}::text[]) and died_ms < ${untilMs}`.execute(db);
  await sql`delete from ended_sources where source = any(${sources}::text[])`.execute(db);
  await sql`delete from event_deletions where finished_at < now() - interval '7 days'`.execute(db);
  await sql`delete from usage where day_ms < extract(epoch from now() - interval '40 days') * 1000`.execute(db);
  // The operator adds rows whether or not the installation sends mails.
  await sql`delete from error_mails where last_ms < extract(epoch from now() - interval '7 days') * 1000 and due_ms = 0`.execute(db);
  await pruneAuditLog(db, keepAuditDays);
  await keepMeasures(db, keptMeasures);
}

async function deleteRows(db: Db, sources: readonly string[]): Promise<void> {
  await sql`
    with ended as (select unnest(${sources}::text[]) as source),
    ended_events as (delete from events using ended where events.source = ended.source),
    ended_scheduled as (delete from scheduled_events using ended where scheduled_events.source = ended.source),
    ended_deletions as (delete from event_deletions using ended where event_deletions.source = ended.source),
    ended_ticks as (delete from ticks using ended where ticks.source = ended.source),
    ended_workflow_runs as (delete from workflow_runs using ended where workflow_runs.workflow = ended.source),
    ended_workflow_steps as (delete from workflow_steps using ended where workflow_steps.workflow = ended.source),
    ended_runs as (delete from runs using ended where runs.source = ended.source)
    delete from logs using ended where logs.source = ended.source`.execute(db);
}
