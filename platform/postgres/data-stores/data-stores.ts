import { sql, type Kysely, type RawBuilder } from "kysely";
import type { Clock } from "../../../domain/clock.ts";
import {
  dataStoreLimits,
  isReading,
  type DataStores,
  type OperationOf,
  type ResultOf,
  type StoreRequest,
  type StoreResult,
} from "../../../domain/data-store/data-stores.ts";
import { NotFound } from "../../../domain/errors.ts";
import { isId } from "../../../domain/ids.ts";
import { inTransaction, type Database } from "../connection.ts";
import type { Tables } from "../tables.ts";
import { changeStore, type LockedStore, type StoreBounds } from "./change.ts";

type Db = Kysely<Tables>;

/**
 * Stores in Postgres. An operation that changes one locks its row: so the operations of one store take turns, increments sum up, and its
 * counts are exact.
 */
export function createDataStores({ db }: Pick<Database, "db">, clock: Clock, bounds: StoreBounds = dataStoreLimits): DataStores {
  return {
    perform: (request) =>
      isReading(request.operation)
        ? read(request, clock.now(), db)
        : inTransaction(db, async (transaction) => {
            const store = await lockStore(request, transaction);
            return changeStore({ store, request, now: clock.now(), bounds }, transaction);
          }),
  };
}

/** Names are unique in a namespace, and an owner has one. */
const isNamed = (store: string): RawBuilder<unknown> => (isId("dataStore", store) ? sql`s.id = ${store}` : sql`s.name = ${store}`);

async function lockStore({ owner, store }: StoreRequest, db: Db): Promise<LockedStore> {
  const { rows } = await sql<LockedStore>`
    select id, owner, entries, bytes, version from data_stores s where s.owner = ${owner} and ${isNamed(store)} for update`.execute(db);
  return theOne(rows, store);
}

/** @throws NotFound also for a store of another owner */
function theOne<Row>(rows: readonly Row[], store: string): Row {
  const [first] = rows;
  if (first === undefined)
    throw new NotFound(`the data store ${store} does not exist: it may have been deleted`, { code: "data_store_not_found" });
  return first;
}

function read(request: StoreRequest, now: number, db: Db): Promise<StoreResult> {
  const { operation } = request;
  if (operation.kind === "get") return get(request, operation, now, db);
  if (operation.kind === "list") return list(request, operation, now, db);
  return size(request, now, db);
}

interface EntryRow {
  readonly key: string | null;
  readonly value: string;
  readonly bytes: number;
  readonly version: number;
  readonly updated_ms: number;
  readonly expires_ms: number | null;
}

const entryOf = ({ bytes, version, updated_ms: updatedAt, expires_ms: expiresAt }: EntryRow, key: string) => ({
  key,
  bytes,
  version,
  updatedAt,
  expiresAt,
});

async function get({ owner, store }: StoreRequest, { key }: OperationOf<"get">, now: number, db: Db): Promise<ResultOf<"get">> {
  const { rows } = await sql<EntryRow>`
    select e.key, e.value, e.bytes, e.version, e.updated_ms, e.expires_ms
    from data_stores s left join data_store_entries e on e.store = s.id and e.key = ${key} and (e.expires_ms is null or e.expires_ms > ${now})
    where s.owner = ${owner} and ${isNamed(store)}`.execute(db);
  const row = theOne(rows, store);
  return { kind: "get", entry: row.key === null ? null : { ...entryOf(row, row.key), value: row.value } };
}

/** Counts what has not expired. */
async function size({ owner, store }: StoreRequest, now: number, db: Db): Promise<ResultOf<"size">> {
  const { rows } = await sql<{ entries: number; bytes: number }>`
    select s.entries - e.entries as entries, s.bytes - e.bytes as bytes
    from data_stores s cross join lateral (
      select count(*) as entries, coalesce(sum(bytes), 0)::bigint as bytes from data_store_entries where store = s.id and expires_ms <= ${now}
    ) e where s.owner = ${owner} and ${isNamed(store)}`.execute(db);
  const { entries, bytes } = theOne(rows, store);
  return { kind: "size", entries, bytes };
}

/** The store's row, and beside it the entries of the page. The page ends before the entry with which its bytes exceed the limit. */
async function list(
  { owner, store }: StoreRequest,
  { after = "", limit = dataStoreLimits.pageEntries, withValues }: OperationOf<"list">,
  now: number,
  db: Db,
): Promise<ResultOf<"list">> {
  const { rows } = await sql<EntryRow & { n: number | null }>`
    select e.* from data_stores s left join lateral (
      select * from (
        select key, ${withValues ? sql`value` : sql`''`} as value, bytes, version, updated_ms, expires_ms,
          row_number() over (order by key) as n, sum(${withValues ? sql`bytes` : sql`octet_length(key)`}) over (order by key) as total
        from (
          select * from data_store_entries
          where store = s.id and key > ${after} and (expires_ms is null or expires_ms > ${now}) order by key limit ${limit + 1}
        ) as page
      ) as summed where n = 1 or total <= ${dataStoreLimits.pageBytes}
    ) e on true
    where s.owner = ${owner} and ${isNamed(store)} order by e.key`.execute(db);
  if (rows.length === 0) theOne(rows, store);
  const found = rows.flatMap((row) =>
    row.key === null ? [] : [{ ...entryOf(row, row.key), ...(withValues ? { value: row.value } : {}) }],
  );
  const page = found.slice(0, limit);
  return { kind: "list", entries: page, next: (await hasMore(page.at(-1)?.key, found.length > limit)) ? (page.at(-1)?.key ?? null) : null };

  async function hasMore(last: string | undefined, isCut: boolean): Promise<boolean> {
    if (isCut || last === undefined) return isCut;
    const { rows: more } = await sql`
      select 1 from data_stores s join data_store_entries e on e.store = s.id
      where s.owner = ${owner} and ${isNamed(store)} and e.key > ${last} and (e.expires_ms is null or e.expires_ms > ${now}) limit 1`.execute(
      db,
    );
    return more.length > 0;
  }
}
