import { sql, type Kysely } from "kysely";
import type { StoredEvent as ListedEvent, TimeRange } from "../../../api/ports.ts";
import { errorEvent, logEvent, type DerivedEvent } from "../../../domain/run/derived-events.ts";
import { isId } from "../../../domain/ids.ts";
import { pageOf, type PageRequest } from "../../../domain/page.ts";
import type { Tables } from "../tables.ts";
import type { DerivedEntry, StoredPage } from "./events.ts";
import type { Kept } from "./kept.ts";
import { logFrom, runFrom } from "./runs.ts";
import { listWorkflowErrors, readWorkflowErrors } from "./workflows/runs.ts";

export type DerivedChannel = "$errors" | "$logs";

/** Entries of a list, newest first, and how to read the events of some of them. */
interface Derived {
  list(keep: number): Promise<readonly DerivedEntry[]>;
  read(rows: readonly number[]): Promise<readonly { readonly n: number; readonly event: DerivedEvent }[]>;
}

/**
 * Lists what runs reported besides their events, newest first, in the form of deliveries and streams: an entry for each stored failed run
 * or log line. There are few, so the list of entries is read and cut here; then the events of the page, up to its bytes. An entry's id
 * `<epoch ms>-<row>` is only a cursor, not the id of an event.
 */
export async function pageDerived(
  db: Kysely<Tables>,
  source: string,
  channel: DerivedChannel,
  page: PageRequest & TimeRange,
  kept: Kept,
): Promise<StoredPage<ListedEvent>> {
  const { sinceMs = -Infinity, untilMs = Infinity, maxBytes = Infinity } = page;
  const [derived, keep] = derivedOf(db, source, channel, kept);
  const entries = (await derived.list(keep))
    .map((entry) => ({ ...entry, at: Math.max(0, Math.trunc(entry.at)) }))
    .filter(({ at }) => sinceMs <= at && at <= untilMs);
  const shown = pageOf(entries, idOf, page);
  const fitting = fittingIn(shown, maxBytes);
  const events = new Map((await derived.read(fitting.map(({ n }) => n))).map(({ n, event }) => [n, event]));
  // A row that was pruned in the meantime is missing.
  const items = fitting.flatMap((entry) => {
    const event = events.get(entry.n);
    return event === undefined ? [] : [{ ...event, id: idOf(entry), dedupeId: null, summary: null, indexedAtMs: entry.at }];
  });
  const left = shown.length - fitting.length;
  return { items, total: entries.length, ...(left === 0 ? {} : { left }) };
}

const idOf = ({ at, n }: DerivedEntry): string => `${at}-${n}`;

function fittingIn(entries: readonly DerivedEntry[], maxBytes: number): readonly DerivedEntry[] {
  let before = 0;
  const last = entries.findIndex(({ bytes }) => (before += bytes) >= maxBytes);
  return last === -1 ? entries : entries.slice(0, last + 1);
}

function derivedOf(db: Kysely<Tables>, source: string, channel: DerivedChannel, kept: Kept): readonly [Derived, keep: number] {
  if (channel === "$logs") return [linesOf(db, source), kept.logs];
  if (!isId("workflow", source)) return [errorsOf(db, source), kept.runs];
  const list = (keep: number) => listWorkflowErrors(db, source, keep);
  return [{ list, read: (rows) => readWorkflowErrors(db, source, rows) }, kept.runs];
}

/** The duration is near the start of the text, so Postgres reads no more of it, and no event that a run received. */
const duration = sql`round(coalesce(substring(left(summary, 2048) from '"durationMs":([0-9]+(?:[.][0-9]+)?)')::numeric, 0))::bigint`;

function errorsOf(db: Kysely<Tables>, source: string): Derived {
  return {
    async list(keep) {
      const { rows } = await sql<DerivedEntry>`
        select n, started_ms + ${duration} as at, octet_length(summary) as bytes from (
          select n, started_ms, failed, summary from runs where source = ${source} order by n desc limit ${keep}
        ) newest where failed order by n desc`.execute(db);
      return rows;
    },
    async read(places) {
      const { rows } = await sql<{ n: number; owner: string; deployment: string; summary: string }>`
        select n, owner, deployment, summary from runs where source = ${source} and n = any(${places}::bigint[])`.execute(db);
      return rows.flatMap(({ n, owner, deployment, summary }) => {
        const run = runFrom(summary);
        return run.error === null ? [] : [{ n, event: errorEvent({ run, source, owner, deployment }, run.error) }];
      });
    },
  };
}

function linesOf(db: Kysely<Tables>, source: string): Derived {
  return {
    async list(keep) {
      const { rows } = await sql<DerivedEntry>`
        select n, coalesce(substring(left(record, 512) from '"ts":([0-9]{1,15})')::bigint, 0) as at, octet_length(record) as bytes
        from logs where source = ${source} order by n desc limit ${keep}`.execute(db);
      return rows;
    },
    async read(places) {
      const { rows } = await sql<{ n: number; run: string; record: string; place: number | null }>`
        select n, run, record, place from logs where source = ${source} and n = any(${places}::bigint[])`.execute(db);
      // Logs recorded by an earlier version have no place in their run; the row number is as unique.
      return rows.map(({ n, run, record, place }) => ({ n, event: logEvent({ run: { id: run } }, logFrom(record), place ?? n) }));
    },
  };
}
