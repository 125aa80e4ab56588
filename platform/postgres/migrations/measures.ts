import { sql } from "kysely";
import type { Migration } from "kysely/migration";

const partitions = Array.from(
  { length: 24 },
  // Rows of the present minute are changed all the time: with room in their page, the index stays as it is.
  (_, slot) => `create table measures_${slot} partition of measures for values in (${slot}) with (fillfactor = 70);`,
).join("\n");

const table = `
    create table measures (
      subject text not null,
      slot smallint not null,
      at_ms bigint not null,
      bucket smallint not null,
      runs bigint,
      errors bigint,
      events bigint,
      compute_ms bigint,
      waits bigint,
      waited_ms bigint,
      attempts bigint,
      failed_attempts bigint,
      deliveries bigint,
      dead_letters bigint,
      max_waited_ms bigint,
      max_duration_ms bigint,
      primary key (subject, at_ms, bucket, slot)
    ) partition by list (slot);
    ${partitions}
  `;

/** What sources, workflows, webhooks and owners did, by minute, hour and day: see postgres/measures. */
export const measuresTable: Migration = { up: async (db) => void (await sql.raw(table).execute(db)) };
