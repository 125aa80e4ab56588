import { sql, type Kysely } from "kysely";
import type { StoredEvent as ListedEvent, TimeRange } from "../../../api/ports.ts";
import { errorEvent, logEvent, type DerivedEvent } from "../../../domain/event/derived-events.ts";
import { isId } from "../../../domain/ids.ts";
import { pageOf, type PageRequest } from "../../../domain/page.ts";
import type { Tables } from "../tables.ts";
import type { StoredPage } from "./events.ts";
import type { Kept } from "./kept.ts";
import { logFrom, runFrom } from "./runs.ts";
import { listWorkflowErrors } from "./workflows/runs.ts";

export type DerivedChannel = "$errors" | "$logs";

/**
 * Lists what runs reported besides their events, newest first, in the form of deliveries and streams: an entry for each stored failed run
 * or log line. There are few, so the whole list is read and cut here. An entry's id `<epoch ms>-<row>` is only a cursor, not the id of an
 * event.
 */
export async function pageDerived(
  db: Kysely<Tables>,
  source: string,
  channel: DerivedChannel,
  page: PageRequest & TimeRange,
  kept: Kept,
): Promise<StoredPage<ListedEvent>> {
  const { sinceMs = -Infinity, untilMs = Infinity } = page;
  const errors = (): Promise<readonly ListedEvent[]> =>
    isId("workflow", source) ? listErrorsOfWorkflow(db, source, kept.runs) : listErrors(db, source, kept.runs);
  const all = channel === "$errors" ? await errors() : await listLines(db, source, kept.logs);
  const items = all.filter(({ indexedAtMs }) => sinceMs <= indexedAtMs && indexedAtMs <= untilMs);
  return { items: pageOf(items, ({ id }) => id, page), total: items.length };
}

async function listErrors(db: Kysely<Tables>, source: string, keep: number): Promise<readonly ListedEvent[]> {
  const { rows } = await sql<{ n: number; owner: string; deployment: string; summary: string }>`
    select n, owner, deployment, summary from (
      select n, owner, deployment, failed, summary from runs where source = ${source} order by n desc limit ${keep}
    ) newest where failed order by n desc`.execute(db);
  return rows.flatMap(({ n, owner, deployment, summary }) => {
    const run = runFrom(summary);
    return run.error === null ? [] : [listed(errorEvent({ run, source, owner, deployment }, run.error), n)];
  });
}

const listErrorsOfWorkflow = async (db: Kysely<Tables>, workflow: string, keep: number): Promise<readonly ListedEvent[]> =>
  (await listWorkflowErrors(db, workflow, keep)).map(({ n, event }) => listed(event, n));

async function listLines(db: Kysely<Tables>, source: string, keep: number): Promise<readonly ListedEvent[]> {
  const { rows } = await sql<{ n: number; run: string; record: string; place: number | null }>`
    select n, run, record, place from logs where source = ${source} order by n desc limit ${keep}`.execute(db);
  // Logs recorded by an earlier version have no place in their run; the row number is as unique.
  return rows.map(({ n, run, record, place }) => listed(logEvent({ run: { id: run } }, logFrom(record), place ?? n), n));
}

/** Runners may forge times, which must still give a valid cursor. */
function listed(event: DerivedEvent, n: number): ListedEvent {
  const indexedAtMs = Math.max(0, Math.trunc(event.ts));
  return { ...event, id: `${indexedAtMs}-${n}`, dedupeId: null, summary: null, indexedAtMs };
}
