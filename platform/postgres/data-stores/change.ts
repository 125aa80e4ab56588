import { sql, type Kysely } from "kysely";
import { bytesOf, type StoreOperation, type StoreRequest, type StoreResult } from "../../../domain/data-store/data-stores.ts";
import { Conflict, InvalidInput, Invariant, QuotaExceeded } from "../../../domain/errors.ts";
import type { Tables } from "../tables.ts";

/** Entries and bytes that an owner may have. */
export interface StoreBounds {
  readonly entries: number;
  readonly bytes: number;
}

export interface LockedStore {
  readonly id: string;
  readonly owner: string;
  readonly entries: number;
  readonly bytes: number;
  readonly version: number;
}

interface Change {
  readonly store: LockedStore;
  readonly request: StoreRequest;
  readonly now: number;
  readonly bounds: StoreBounds;
}

interface Stored {
  readonly value: string;
  readonly bytes: number;
  readonly version: number;
  readonly expires_ms: number | null;
}

/** The entry after the operation. */
type Next = { readonly value: string; readonly expiresMs: number | null } | "absent";

type Db = Kysely<Tables>;

/** Performs an operation that changes a store whose row is locked. */
export async function changeStore(change: Change, db: Db): Promise<StoreResult> {
  const { store, request, now } = change;
  const { operation, operationId = null } = request;
  const key = "key" in operation ? operation.key : "";
  const { rows } = await sql<Partial<Stored> & { readonly known: StoreResult | null }>`
    select o.result as known, e.value, e.bytes, e.version, e.expires_ms from (select 1) as one
    left join data_store_operations o on o.store = ${store.id} and o.id = ${operationId}
    left join data_store_entries e on e.store = ${store.id} and e.key = ${key}`.execute(db);
  const { known = null, value, bytes = 0, version = 0, expires_ms: expiresMs = null } = rows[0] ?? {};
  if (known !== null) return known;
  if (operation.kind === "clear") return clear(change, db);
  const row = value === undefined || value === null ? undefined : { value, bytes, version, expires_ms: expiresMs };
  const present = row !== undefined && (row.expires_ms === null || row.expires_ms > now) ? row : undefined;
  const { next, result } = nextOf(operation, present, { version: store.version + 1, now });
  await write(change, { row, next, result }, db);
  return result;
}

interface Context {
  /** Of the entry, if it changes. */
  readonly version: number;
  readonly now: number;
}

function nextOf(
  operation: Exclude<StoreOperation, { kind: "clear" }>,
  present: Stored | undefined,
  { version, now }: Context,
): { readonly next: Next; readonly result: StoreResult } {
  if ("ifVersion" in operation && operation.ifVersion !== undefined) checkVersion(operation.key, operation.ifVersion, present);
  const expiresMs = (ttl: number | undefined, before: number | null): number | null => (ttl === undefined ? before : now + ttl * 1_000);
  switch (operation.kind) {
    case "set":
      return { next: { value: operation.value, expiresMs: expiresMs(operation.ttlSeconds, null) }, result: { kind: "set", version } };
    case "increment": {
      const value = sumOf(operation, present);
      // As with counters elsewhere, the time of a key that exists goes on.
      const expires = present === undefined ? expiresMs(operation.ttlSeconds, null) : present.expires_ms;
      return { next: { value: JSON.stringify(value), expiresMs: expires }, result: { kind: "increment", version, value } };
    }
    case "delete":
      return { next: "absent", result: { kind: "delete", existed: present !== undefined } };
    default:
      throw new Invariant(`operation '${operation.kind}' changes nothing`);
  }
}

function checkVersion(key: string, ifVersion: number, present: Stored | undefined): void {
  const version = present?.version ?? 0;
  if (version === ifVersion) return;
  const now = version === 0 ? "does not exist" : `has version ${version}`;
  const wanted = ifVersion === 0 ? "it must not exist" : `it must have version ${ifVersion}`;
  throw new Conflict(`the key '${key.slice(0, 80)}' ${now}, and ${wanted}: read it again`, {
    code: "data_store_changed",
    details: { version },
  });
}

function sumOf({ key, by }: { readonly key: string; readonly by: number }, present: Stored | undefined): number {
  const before: unknown = present === undefined ? 0 : JSON.parse(present.value);
  const sum = typeof before === "number" ? before + by : Number.NaN;
  if (Number.isFinite(sum)) return sum;
  const why =
    typeof before === "number" ? "the sum is too large" : `its value is no number but ${before === null ? "null" : `a ${typeof before}`}`;
  throw new InvalidInput(`the key '${key.slice(0, 80)}' cannot be incremented: ${why}`, { code: "data_store_not_number" });
}

interface Outcome {
  /** Also one that has expired: it counts until it is deleted. */
  readonly row: Stored | undefined;
  readonly next: Next;
  readonly result: StoreResult;
}

/** Writes entry, counts and the operation with one statement. */
async function write(change: Change, { row, next, result }: Outcome, db: Db): Promise<void> {
  const { store, request, now } = change;
  const key = "key" in request.operation ? request.operation.key : "";
  const version = store.version + 1;
  const record = recordOf(change, result);
  const bytes = next === "absent" ? 0 : bytesOf(key) + bytesOf(next.value);
  const grown = { entries: (next === "absent" ? 0 : 1) - (row === undefined ? 0 : 1), bytes: bytes - (row?.bytes ?? 0) };
  const freed = await makeRoom(change, grown, key, db);
  const entry =
    next === "absent"
      ? sql`delete from data_store_entries where store = ${store.id} and key = ${key}`
      : sql`
        insert into data_store_entries (store, key, value, bytes, version, updated_ms, expires_ms)
        values (${store.id}, ${key}, ${next.value}, ${bytes}, ${version}, ${now}, ${next.expiresMs})
        on conflict (store, key) do update set value = excluded.value, bytes = excluded.bytes, version = excluded.version,
          updated_ms = excluded.updated_ms, expires_ms = excluded.expires_ms`;
  await sql`
    with changed as (${entry}), recorded as (${record})
    update data_stores set version = ${version}, entries = entries + ${grown.entries - freed.entries}, bytes = bytes + ${grown.bytes - freed.bytes}
    where id = ${store.id}`.execute(db);
}

/** A statement that remembers the result of an operation with an id. */
const recordOf = ({ store, request: { operationId }, now }: Change, result: StoreResult) =>
  operationId === undefined
    ? sql`select 1`
    : sql`
      insert into data_store_operations (store, id, at_ms, version, result)
      values (${store.id}, ${operationId}, ${now}, ${store.version + 1}, ${JSON.stringify(result)}::json)`;

const nothing = { entries: 0, bytes: 0 };

/**
 * Checks that the owner may have so much more. Expired entries of the store are deleted before that refuses it. Stores of one owner that
 * change at the same time may exceed the bounds together by what each of them adds.
 * @returns what was deleted @throws QuotaExceeded
 */
async function makeRoom({ store, now, bounds }: Change, grown: StoreBounds, key: string, db: Db): Promise<StoreBounds> {
  if (grown.entries <= 0 && grown.bytes <= 0) return nothing;
  const { rows } = await sql<StoreBounds>`
    select coalesce(sum(entries), 0)::bigint as entries, coalesce(sum(bytes), 0)::bigint as bytes
    from data_stores where owner = ${store.owner}`.execute(db);
  const [used = nothing] = rows;
  const hasRoom = (freed: StoreBounds): boolean =>
    used.entries + grown.entries - freed.entries <= bounds.entries && used.bytes + grown.bytes - freed.bytes <= bounds.bytes;
  if (hasRoom(nothing)) return nothing;
  const freed = await deleteExpired(store.id, now, key, db);
  if (hasRoom(freed)) return freed;
  throw new QuotaExceeded(
    `the data stores of the owner have ${used.entries} entries and ${used.bytes} bytes, and may have ${bounds.entries} entries and ${bounds.bytes} bytes: delete some keys`,
    { code: "data_store_full" },
  );
}

/** Deletes expired entries of a store, except one that the operation counts itself. */
async function deleteExpired(store: string, now: number, except: string, db: Db): Promise<StoreBounds> {
  const { rows } = await sql<StoreBounds>`
    with deleted as (delete from data_store_entries where store = ${store} and expires_ms <= ${now} and key <> ${except} returning bytes)
    select count(*) as entries, coalesce(sum(bytes), 0)::bigint as bytes from deleted`.execute(db);
  return rows[0] ?? nothing;
}

async function clear(change: Change, db: Db): Promise<StoreResult> {
  const { store, now } = change;
  const { rows } = await sql<{ expires_ms: number | null }>`
    delete from data_store_entries where store = ${store.id} returning expires_ms`.execute(db);
  const deleted = rows.filter(({ expires_ms: expires }) => expires === null || expires > now).length;
  const result = { kind: "clear", deleted } as const;
  await sql`
    with recorded as (${recordOf(change, result)})
    update data_stores set version = version + 1, entries = 0, bytes = 0 where id = ${store.id}`.execute(db);
  return result;
}
