import { statements } from "./first-migrations.ts";

/** Data stores, their entries, and the operations that were performed on them: see postgres/data-stores. */
export const dataStoreTables = statements`
    create table data_stores (
      id text primary key,
      owner text not null,
      name text not null,
      entries integer not null default 0,
      bytes bigint not null default 0,
      version bigint not null default 0
    ) with (fillfactor = 50);
    create index data_stores_of_owner on data_stores (owner, name);
    create table data_store_entries (
      store text not null references data_stores on delete cascade,
      key text collate "C" not null,
      value text not null,
      bytes integer not null,
      version bigint not null,
      updated_ms bigint not null,
      expires_ms bigint,
      primary key (store, key)
    );
    create index data_store_entries_expiring on data_store_entries (expires_ms) where expires_ms is not null;
    create table data_store_operations (
      store text not null references data_stores on delete cascade,
      id text not null,
      at_ms bigint not null,
      result json not null,
      primary key (store, id)
    );
    create index data_store_operations_by_age on data_store_operations (at_ms);
  `;
