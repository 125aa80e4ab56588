import { statements } from "./first-migrations.ts";

/** Requests to connect accounts: see postgres/connections. Of the state, only its hash is stored. */
export const connectionsTable = statements`
    create table connections (
      id text primary key,
      owner text not null,
      user_id text not null,
      session text,
      state_hash text not null unique,
      request json not null,
      verifier text,
      outcome json,
      is_used boolean not null default false,
      created_ms bigint not null,
      expires_ms bigint not null
    ) with (fillfactor = 50);
    create index connections_of on connections (owner, created_ms);
    create index connections_expired on connections (expires_ms);
  `;
