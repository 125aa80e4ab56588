import { sql } from "kysely";
import type { KeptMeasures } from "../../../domain/measures/steps.ts";
import { pruneAuditLog } from "../audit/audit-log.ts";
import type { Database } from "../connection.ts";
import { keepMeasures } from "../measures/keep.ts";

type Db = Database["db"];

/** As `History.deleteSource`. */
export async function deleteSource(db: Db, source: string): Promise<void> {
  // Mark it first, so that later batches skip it; sweep() deletes what a batch in progress adds.
  await sql`insert into ended_sources (source) values (${source}) on conflict (source) do update set ended_at = now()`.execute(db);
  await deleteRows(db, [source]);
}

/** As `History.sweep`. */
export async function sweep(db: Db, keepAuditDays: number, keptMeasures: KeptMeasures): Promise<void> {
  const { rows } = await sql<{
    source: string;
  }>`select source from ended_sources where ended_at < now() - interval '1 day' limit 10000`.execute(db);
  const sources = rows.map(({ source }) => source);
  await deleteRows(db, sources);
  // Attempts of what runs of a deleted workflow sent.
  await sql`delete from attempts where webhook = any(${sources}::text[])`.execute(db);
  await sql`delete from dead_letters where webhook = any(${sources}::text[])`.execute(db);
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
