import { sql } from "kysely";
import type { WebhookFailures } from "../../../domain/delivery/webhook-failures.ts";
import type { Database } from "../connection.ts";
import { column, optionalColumn } from "../columns.ts";
import { markEnded } from "./sweep.ts";

/** Failing webhook endpoints: recorded by the delivery role, published by the operator. */
export interface FailingEndpointRecords {
  all(): Promise<readonly WebhookFailures[]>;
  /** Disabled endpoints, including those enabled again that have neither failed nor succeeded since. */
  disabled(): Promise<readonly WebhookFailures[]>;
  /**
   * Durable when it resolves: replaces the failing ones, and removes the recovered ones, given as they were known. An endpoint that another
   * process has disabled in the meantime stays disabled.
   */
  save(failing: readonly WebhookFailures[], recovered: readonly WebhookFailures[]): Promise<void>;
  /** For a deleted webhook: its failures now, and within two days its attempts and dead letters. */
  forget(webhook: string): Promise<void>;
}

interface Row {
  readonly record: string;
}

export function createFailingEndpoints({ db }: Pick<Database, "db">): FailingEndpointRecords {
  return {
    all: async () => (await sql<Row>`select record from failing_endpoints`.execute(db)).rows.map(failuresFrom),
    disabled: async () =>
      (await sql<Row>`select record from failing_endpoints where disabled_ms is not null`.execute(db)).rows.map(failuresFrom),
    async save(failing, recovered) {
      if (recovered.length > 0)
        await sql`
          delete from failing_endpoints failing using unnest(
            ${column(recovered, ({ webhook }) => webhook)}::text[], ${optionalColumn(recovered, ({ disabled }) => disabledAt(disabled))}::bigint[]
          ) as known (webhook, disabled_ms)
          where failing.webhook = known.webhook and (failing.disabled_ms is null or failing.disabled_ms = known.disabled_ms)`.execute(db);
      if (failing.length === 0) return;
      await sql`
        insert into failing_endpoints (webhook, disabled_ms, record)
        select webhook, disabled_ms, record from unnest(
          ${column(failing, ({ webhook }) => webhook)}::text[], ${optionalColumn(failing, ({ disabled }) => disabledAt(disabled))}::bigint[],
          ${column(failing, (failures) => JSON.stringify(failures))}::text[]
        ) as row (webhook, disabled_ms, record)
        on conflict (webhook) do update set disabled_ms = excluded.disabled_ms, record = excluded.record
        where failing_endpoints.disabled_ms is null or excluded.disabled_ms is not null
          or (excluded.record::jsonb ->> 'since')::bigint > failing_endpoints.disabled_ms`.execute(db);
    },
    async forget(webhook) {
      await markEnded(db, webhook);
      await sql`delete from failing_endpoints where webhook = ${webhook}`.execute(db);
    },
  };
}

const disabledAt = (disabled: WebhookFailures["disabled"]): string | null => (disabled === undefined ? null : String(disabled.at));

/** Written above from this type. */
const failuresFrom = ({ record }: Row): WebhookFailures => JSON.parse(record) as WebhookFailures;
