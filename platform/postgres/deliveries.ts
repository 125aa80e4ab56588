import { sql, type RawBuilder } from "kysely";
import type { Attempt, DeadLetter } from "../../delivery/ports.ts";
import type { PageRequest } from "../../domain/page.ts";
import { InvalidInput } from "../../domain/errors.ts";
import type { Database } from "./connection.ts";
import { column, integerColumn } from "./history/columns.ts";
import type { StoredPage } from "./history/events.ts";
import { createPruneCounter, prune, shapes } from "./history/kept.ts";

/** `id` is the cursor of its list. */
export type Listed<Item> = Item & { readonly id: string };

export interface DeliveryRecords {
  /** Durable when it returns; an attempt told twice is kept once. */
  recordAttempts(attempts: readonly Attempt[]): Promise<void>;
  /** Durable when it returns; a dead letter told twice is kept once, as first told. */
  recordDeadLetters(letters: readonly DeadLetter[]): Promise<void>;
  /** Newest first. */
  pageAttempts(webhook: string, page: PageRequest & { readonly delivery?: string }): Promise<StoredPage<Listed<Attempt>>>;
  pageDeadLetters(webhook: string, page: PageRequest): Promise<StoredPage<Listed<DeadLetter>>>;
  findDeadLetter(webhook: string, delivery: string): Promise<Listed<DeadLetter> | undefined>;
  /** Without deliveries: all of the webhook. Returns how many there were. */
  deleteDeadLetters(webhook: string, deliveries?: readonly string[]): Promise<number>;
  deleteWebhook(webhook: string): Promise<void>;
}

export interface DeliveriesKept {
  /** Per webhook. */
  readonly attempts: number;
  readonly deadLetters: number;
}

interface Row {
  readonly n: number;
  readonly record: string;
  readonly payload: string | null;
}

export function createDeliveryRecords(
  { db }: Pick<Database, "db">,
  options: { readonly kept?: Partial<DeliveriesKept> } = {},
): DeliveryRecords {
  const kept: DeliveriesKept = { attempts: 500, deadLetters: 10_000, ...options.kept };
  const counters = { attempts: createPruneCounter(kept.attempts), deadLetters: createPruneCounter(kept.deadLetters) };

  /** One statement for the page and the number of all that are kept. */
  async function pageOf(
    table: "attempts" | "dead_letters",
    webhook: string,
    page: PageRequest & { readonly delivery?: string },
    keep: number,
  ): Promise<StoredPage<Row>> {
    const { limit, cursor, delivery } = page;
    const backwards = cursor?.side === "before";
    const beyond = cursor === null ? sql`true` : sql`n ${backwards ? sql`>` : sql`<`} ${placeOf(cursor.id)}`;
    const payload = table === "attempts" ? sql`null` : sql`payload`;
    const { rows } = await sql<Row & { n: number | null; total: number }>`
      with newest as (select n, delivery, record, ${payload} as payload from ${sql.table(table)} where webhook = ${webhook} order by n desc limit ${keep}),
      kept as (select * from newest where ${delivery === undefined ? sql`true` : sql`delivery = ${delivery}`})
      select counted.total, found.n, found.record, found.payload from (select count(*) as total from kept) counted left join (
        select * from kept where ${beyond} order by ${backwards ? sql`n` : sql`n desc`} limit ${limit}
      ) found on true
      order by found.n desc`.execute(db);
    return { items: rows.filter((row) => row.n !== null), total: rows[0]?.total ?? 0 };
  }

  return {
    async recordAttempts(attempts) {
      if (attempts.length === 0) return;
      await insertAttempts(attempts).execute(db);
      await prune(db, shapes.attempts, counters.attempts.due(attempts.map(({ webhook }) => webhook)), kept.attempts);
    },
    async recordDeadLetters(letters) {
      if (letters.length === 0) return;
      await insertDeadLetters(letters).execute(db);
      await prune(db, shapes.deadLetters, counters.deadLetters.due(letters.map(({ webhook }) => webhook)), kept.deadLetters);
    },
    async pageAttempts(webhook, page) {
      const { items, total } = await pageOf("attempts", webhook, page, kept.attempts);
      return { items: items.map(attemptFrom), total };
    },
    async pageDeadLetters(webhook, page) {
      const { items, total } = await pageOf("dead_letters", webhook, page, kept.deadLetters);
      return { items: items.map(deadLetterFrom), total };
    },
    async findDeadLetter(webhook, delivery) {
      const row = await db
        .selectFrom("dead_letters")
        .select(["n", "record", "payload"])
        .where("delivery", "=", delivery)
        .where("webhook", "=", webhook)
        .executeTakeFirst();
      return row === undefined ? undefined : deadLetterFrom(row);
    },
    async deleteDeadLetters(webhook, deliveries) {
      const chosen = deliveries === undefined ? sql`true` : sql`delivery = any(${deliveries}::text[])`;
      const { numAffectedRows } = await sql`delete from dead_letters where webhook = ${webhook} and ${chosen}`.execute(db);
      return Number(numAffectedRows ?? 0n);
    },
    async deleteWebhook(webhook) {
      await sql`with gone as (delete from attempts where webhook = ${webhook}) delete from dead_letters where webhook = ${webhook}`.execute(
        db,
      );
    },
  };
}

function insertAttempts(rows: readonly Attempt[]): RawBuilder<unknown> {
  return sql`
    insert into attempts (webhook, delivery, attempt, source, event, at_ms, record)
    select webhook, delivery, attempt, source, event, at_ms, record from unnest(
      ${column(rows, ({ webhook }) => webhook)}::text[], ${column(rows, ({ delivery }) => delivery)}::text[], ${integerColumn(rows, ({ attempt }) => attempt)}::integer[],
      ${column(rows, ({ source }) => source)}::text[], ${column(rows, ({ event }) => event)}::text[], ${integerColumn(rows, ({ at }) => at)}::bigint[],
      ${column(rows, (row) => JSON.stringify(row))}::text[]
    ) with ordinality as row (webhook, delivery, attempt, source, event, at_ms, record, place)
    order by place
    on conflict do nothing`;
}

function insertDeadLetters(rows: readonly DeadLetter[]): RawBuilder<unknown> {
  return sql`
    insert into dead_letters (webhook, delivery, source, event, died_ms, record, payload)
    select webhook, delivery, source, event, died_ms, record, payload from unnest(
      ${column(rows, ({ webhook }) => webhook)}::text[], ${column(rows, ({ delivery }) => delivery)}::text[],
      ${column(rows, ({ source }) => source)}::text[], ${column(rows, ({ event }) => event)}::text[], ${integerColumn(rows, ({ diedAt }) => diedAt)}::bigint[],
      ${column(rows, ({ payload: _, ...rest }) => JSON.stringify(rest))}::text[], ${column(rows, ({ payload }) => payload)}::text[]
    ) with ordinality as row (webhook, delivery, source, event, died_ms, record, payload, place)
    order by place
    on conflict do nothing`;
}

// Both records were made from these types by the functions above and by nothing else.
function attemptFrom({ n, record }: Row): Listed<Attempt> {
  return { ...(JSON.parse(record) as Attempt), id: `at_${n}` };
}

function deadLetterFrom({ n, record, payload }: Row): Listed<DeadLetter> {
  return { ...(JSON.parse(record) as Omit<DeadLetter, "payload">), payload: payload ?? "null", id: `dl_${n}` };
}

function placeOf(id: string): number {
  const match = /^[a-z]{2}_(\d{1,15})$/.exec(id);
  if (match === null)
    throw new InvalidInput(`the cursor names ${id}, which is not in this list: begin again without a cursor`, {
      code: "invalid_cursor",
    });
  return Number(match[1]);
}
