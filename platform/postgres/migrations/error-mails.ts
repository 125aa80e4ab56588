import { statements } from "./first-migrations.ts";

/** Errors that are mailed or counted, and who gets such mails: see postgres/mail. */
export const errorMailTables = statements`
    create table error_mails (
      emitter text not null,
      fingerprint text not null,
      owner text not null,
      state text not null default 'due' check (state in ('due', 'sending', 'sent', 'refused')),
      due_ms bigint not null default 0,
      occurrences bigint not null,
      first text not null,
      last_ms bigint not null,
      mailed_ms bigint,
      failures integer not null default 0,
      reason text,
      primary key (emitter, fingerprint)
    ) with (fillfactor = 50);
    create index error_mails_due on error_mails (due_ms);

    alter table users add column error_mails boolean not null default true;
    alter table organizations add column error_mails boolean not null default true;
  `;
