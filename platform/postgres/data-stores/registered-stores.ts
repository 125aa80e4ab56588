import { sql } from "kysely";
import type { Clock } from "../../../domain/clock.ts";
import { dataStoreLimits, operationKeptMs, operationsKept } from "../../../domain/data-store/data-stores.ts";
import type { RegisteredStores } from "../../../domain/data-store/registered-stores.ts";
import { QuotaExceeded } from "../../../domain/errors.ts";
import { inTransaction, type Database } from "../connection.ts";

export function createRegisteredStores({ db }: Pick<Database, "db">, maxStores: number = dataStoreLimits.stores): RegisteredStores {
  return {
    async register({ id, owner, name }) {
      await requireRoom(id, owner, maxStores, db);
      await sql`
        insert into data_stores (id, owner, name) values (${id}, ${owner}, ${name})
        on conflict (id) do update set owner = excluded.owner, name = excluded.name
        where data_stores.owner <> excluded.owner or data_stores.name <> excluded.name`.execute(db);
    },
    async disown(id) {
      await sql`update data_stores set owner = '' where id = ${id}`.execute(db);
    },
    async delete(id) {
      await sql`delete from data_stores where id = ${id}`.execute(db);
    },
    async sizes(ids) {
      if (ids.length === 0) return new Map();
      const { rows } = await sql<{ id: string; entries: number; bytes: number }>`
        select id, entries, bytes from data_stores where id = any(${ids})`.execute(db);
      return new Map(rows.map(({ id, entries, bytes }) => [id, { entries, bytes }]));
    },
  };
}

/** Stores of an owner that are registered at the same time may exceed the limit by as many. @throws QuotaExceeded */
async function requireRoom(id: string, owner: string, maxStores: number, db: Database["db"]): Promise<void> {
  const { rows } = await sql<{ count: number; known: boolean }>`
    select count(*) as count, coalesce(bool_or(id = ${id}), false) as known from data_stores where owner = ${owner}`.execute(db);
  const { count = 0, known = false } = rows[0] ?? {};
  if (known || count < maxStores) return;
  throw new QuotaExceeded(`the owner has ${count} data stores, the limit is ${maxStores}: delete some of them`, {
    code: "data_store_full",
  });
}

/** Of one round. */
const maxSwept = 1_000;

/**
 * Deletes a batch of expired entries and of old operations.
 * @returns whether there may be more
 */
export async function sweepDataStores({ db }: Pick<Database, "db">, clock: Clock, kept: number = operationsKept): Promise<boolean> {
  const now = clock.now();
  const entries = await inTransaction(db, async (transaction) => {
    // In this order, as operations do: the row of the store first. Stores in use are left for the next round.
    const { rows: stores } = await sql<{ id: string }>`
      select id from data_stores where id in (
        select store from data_store_entries where expires_ms <= ${now} order by expires_ms limit ${maxSwept}
      ) for update skip locked`.execute(transaction);
    if (stores.length === 0) return 0;
    const { rows } = await sql<{ entries: number }>`
      with due as (
        select store, key from data_store_entries
        where expires_ms <= ${now} and store = any(${stores.map(({ id }) => id)}) order by expires_ms limit ${maxSwept}
      ), deleted as (
        delete from data_store_entries e using due where e.store = due.store and e.key = due.key returning e.store, e.bytes
      ), counted as (
        select store, count(*) as entries, sum(bytes) as bytes from deleted group by store
      )
      update data_stores s set entries = s.entries - counted.entries, bytes = s.bytes - counted.bytes
      from counted where s.id = counted.store returning counted.entries`.execute(transaction);
    return rows.reduce((sum, { entries: of }) => sum + of, 0);
  });
  const { numAffectedRows = 0n } = await sql`
    delete from data_store_operations where (store, id) in (
      (select store, id from data_store_operations where at_ms <= ${now - operationKeptMs} order by at_ms limit ${maxSwept})
      union all (
        select o.store, o.id from data_stores s cross join lateral (
          select store, id from data_store_operations where store = s.id and version <= s.version - ${kept} order by version limit ${maxSwept}
        ) o where s.version >= ${kept} limit ${maxSwept}
      )
    )`.execute(db);
  return entries >= maxSwept || numAffectedRows >= BigInt(maxSwept);
}
