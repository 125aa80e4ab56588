import { sql, type Kysely } from "kysely";
import type { StoredEvent as ListedEvent, TimeRange } from "../../../api/ports.ts";
import { errorEvent, logEvent, type DerivedEvent } from "../../../domain/derived-events.ts";
import { pageOf, type PageRequest } from "../../../domain/page.ts";
import type { Tables } from "../tables.ts";
import type { StoredPage } from "./events.ts";
import type { Kept } from "./kept.ts";
import { logFrom, runFrom } from "./runs.ts";

export type DerivedChannel = "$errors" | "$logs";

/**
 * What runs have told besides what they emitted, newest first, in the form that deliveries and streams have. There is an entry for each
 * failed run and log line that is kept. Few are, so the whole list is read and cut here. An entry's id is `<epoch ms>-<row>`: it names a
 * place in this list as a cursor, and nothing that could be replayed or deleted.
 */
export async function pageDerived(
  db: Kysely<Tables>,
  source: string,
  channel: DerivedChannel,
  page: PageRequest & TimeRange,
  kept: Kept,
): Promise<StoredPage<ListedEvent>> {
  const { sinceMs = -Infinity, untilMs = Infinity } = page;
  const all = channel === "$errors" ? await listErrors(db, source, kept.runs) : await listLines(db, source, kept.logs);
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

async function listLines(db: Kysely<Tables>, source: string, keep: number): Promise<readonly ListedEvent[]> {
  const { rows } = await sql<{ n: number; run: string; record: string; place: number | null }>`
    select n, run, record, place from logs where source = ${source} order by n desc limit ${keep}`.execute(db);
  // Where an earlier version recorded it, nobody knows its place in its run: the row's number is as unique.
  return rows.map(({ n, run, record, place }) => listed(logEvent({ run: { id: run } }, logFrom(record), place ?? n), n));
}

/** User code gives no time here, and a runner that forges one must not make an id that is no cursor. */
function listed(event: DerivedEvent, n: number): ListedEvent {
  const indexedAtMs = Math.max(0, Math.trunc(event.ts));
  return { ...event, id: `${indexedAtMs}-${n}`, dedupeId: null, summary: null, indexedAtMs };
}
