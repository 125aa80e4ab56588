import { sql, type RawBuilder } from "kysely";
import type { Attempt } from "../../../delivery/record/ports.ts";
import type { DeadLetter } from "../../../delivery/record/dead-letter.ts";
import type { DeadLetterRange, DiedRange } from "../../../domain/delivery/redelivery.ts";
import type { PageRequest } from "../../../domain/page.ts";
import { InvalidInput } from "../../../domain/errors.ts";
import { boundedRows, leftBehind } from "../bounded-rows.ts";
import type { Database } from "../connection.ts";
import { column, integerColumn } from "../columns.ts";
import { attemptConditions, insertAttempts, readAttempts, type AttemptFilter } from "./attempts.ts";
import type { StoredPage } from "./events.ts";
import { createPruneCounter, prune, shapes } from "./kept.ts";

/** `id` is the list's cursor. */
export type Listed<Item> = Item & { readonly id: string };

export interface DeliveryRecords {
  /** Durable when it resolves. A repeated attempt is stored once. */
  recordAttempts(attempts: readonly Attempt[]): Promise<void>;
  /** Durable when it resolves. A repeated dead letter is stored once; one that died again later is a new one with another id. */
  recordDeadLetters(letters: readonly DeadLetter[]): Promise<void>;
  /** Newest first. */
  pageAttempts(webhook: string, page: PageRequest & AttemptFilter): Promise<StoredPage<Listed<Attempt>>>;
  /** The newest attempts at a delivery, with what they sent and received; newest first. Of the webhook or workflow of the newest only. */
  readDelivery(delivery: string, limit: number): Promise<readonly Attempt[]>;
  pageDeadLetters(webhook: string, page: PageRequest): Promise<StoredPage<Listed<DeadLetter>>>;
  findDeadLetter(webhook: string, delivery: string): Promise<Listed<DeadLetter> | undefined>;
  /** Oldest first. */
  oldestDeadLetters(webhook: string, range: DeadLetterRange, limit: number): Promise<readonly Listed<DeadLetter>[]>;
  /** Those that died in a time range, or at any time. */
  countDeadLetters(webhook: string, range: DiedRange): Promise<DeadLetterCount>;
  /** Those of these deliveries that are dead letters, oldest first. */
  findDeadDeliveries(webhook: string, deliveries: readonly string[]): Promise<readonly string[]>;
  /** State of a stored delivery: from its last attempt, and whether it is a dead letter. */
  findDelivery(delivery: string): Promise<FoundDelivery | undefined>;
  /** Without `deliveries`: all of the webhook. @returns how many were deleted */
  deleteDeadLetters(webhook: string, deliveries?: readonly string[]): Promise<number>;
  /** By id, so that a delivery which died again since is kept. */
  removeDeadLetters(webhook: string, ids: readonly string[]): Promise<void>;
  deleteWebhook(webhook: string): Promise<void>;
}

export interface FoundDelivery {
  readonly webhook: string;
  readonly state: "delivered" | "waiting" | "dead" | "ended";
}

export interface DeadLetterCount {
  readonly count: number;
  /** Id of the newest one; undefined: there is none. */
  readonly newest: string | undefined;
}

export interface DeliveriesKept {
  /** Per webhook. */
  readonly attempts: number;
  readonly deadLetters: number;
  /** Stored size of their payloads. */
  readonly deadLetterBytes: number;
}

interface Row {
  readonly n: number;
  readonly record: string;
  readonly payload: string | null;
}

type Db = Database["db"];

export function createDeliveryRecords(
  { db }: Pick<Database, "db">,
  options: { readonly kept?: Partial<DeliveriesKept> } = {},
): DeliveryRecords {
  const kept: DeliveriesKept = { attempts: 500, deadLetters: 10_000, deadLetterBytes: 64 * 2 ** 20, ...options.kept };
  return {
    ...attemptRecords(db, kept),
    ...deadLetterWriter(db, kept),
    ...deadLetterReader(db, kept),
    async findDelivery(delivery) {
      const { rows } = await sql<{ webhook: string; record: string | null; dead: boolean }>`
        select coalesce(letter.webhook, last.webhook) as webhook, last.record, letter.webhook is not null as dead
        from (select ${delivery}::text as delivery) asked
        left join lateral (select webhook, record from attempts where delivery = asked.delivery order by attempt desc limit 1) last on true
        left join dead_letters letter on letter.delivery = asked.delivery
        where last.webhook is not null or letter.webhook is not null`.execute(db);
      return rows.map(foundFrom)[0];
    },
    async deleteWebhook(webhook) {
      await sql`with gone as (delete from attempts where webhook = ${webhook}) delete from dead_letters where webhook = ${webhook}`.execute(
        db,
      );
    },
  };
}

function attemptRecords(db: Db, kept: DeliveriesKept): Pick<DeliveryRecords, "recordAttempts" | "pageAttempts" | "readDelivery"> {
  const counter = createPruneCounter(kept.attempts);
  return {
    async recordAttempts(attempts) {
      if (attempts.length === 0) return;
      await insertAttempts(attempts).execute(db);
      await prune(db, shapes.attempts, counter.due(attempts.map(({ webhook }) => webhook)), kept.attempts);
    },
    async pageAttempts(webhook, page) {
      const { items, ...rest } = await pageOf(db, "attempts", webhook, page, kept.attempts, attemptConditions(page));
      return { items: items.map(attemptFrom), ...rest };
    },
    readDelivery: (delivery, limit) => readAttempts(db, delivery, limit),
  };
}

function deadLetterWriter(
  db: Db,
  kept: DeliveriesKept,
): Pick<DeliveryRecords, "recordDeadLetters" | "removeDeadLetters" | "deleteDeadLetters"> {
  const counter = createPruneCounter(kept.deadLetters);
  const bytesSincePrune = new Map<string, number>();
  return {
    async recordDeadLetters(letters) {
      if (letters.length === 0) return;
      await insertDeadLetters([...new Map(letters.map((letter) => [letter.delivery, letter])).values()]).execute(db);
      await prune(db, shapes.deadLetters, counter.due(letters.map(({ webhook }) => webhook)), kept.deadLetters);
      for (const { webhook, payload } of letters) {
        const bytes = (bytesSincePrune.get(webhook) ?? 0) + payload.length;
        bytesSincePrune.set(webhook, bytes);
        if (bytes < kept.deadLetterBytes / 4) continue;
        bytesSincePrune.delete(webhook);
        await pruneDeadLetterBytes(webhook, kept.deadLetterBytes).execute(db);
      }
    },
    async removeDeadLetters(webhook, ids) {
      if (ids.length === 0) return;
      await sql`delete from dead_letters where webhook = ${webhook} and n = any(${ids.map(parseCursor)}::bigint[])`.execute(db);
    },
    async deleteDeadLetters(webhook, deliveries) {
      const filter = deliveries === undefined ? sql`true` : sql`delivery = any(${deliveries}::text[])`;
      const { numAffectedRows } = await sql`delete from dead_letters where webhook = ${webhook} and ${filter}`.execute(db);
      return Number(numAffectedRows ?? 0n);
    },
  };
}

function deadLetterReader(
  db: Db,
  kept: DeliveriesKept,
): Pick<DeliveryRecords, "pageDeadLetters" | "findDeadLetter" | "oldestDeadLetters" | "countDeadLetters" | "findDeadDeliveries"> {
  return {
    async pageDeadLetters(webhook, page) {
      const { items, ...rest } = await pageOf(db, "dead_letters", webhook, page, kept.deadLetters);
      return { items: items.map(deadLetterFrom), ...rest };
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
    async oldestDeadLetters(webhook, { upTo, ...times }, limit) {
      const rows = await db
        .selectFrom("dead_letters")
        .select(["n", "record", "payload"])
        .where("webhook", "=", webhook)
        .where("n", "<=", parseCursor(upTo))
        .where(diedWithin(times))
        .orderBy("n")
        .limit(limit)
        .execute();
      return rows.map(deadLetterFrom);
    },
    async countDeadLetters(webhook, times) {
      const { rows } = await sql<{ count: number; newest: number | null }>`
        select count(*) as count, max(n) as newest from dead_letters where webhook = ${webhook} and ${diedWithin(times)}`.execute(db);
      const { count = 0, newest = null } = rows[0] ?? {};
      return { count, newest: newest === null ? undefined : listId(newest) };
    },
    async findDeadDeliveries(webhook, deliveries) {
      const rows = await db
        .selectFrom("dead_letters")
        .select("delivery")
        .where("webhook", "=", webhook)
        .where(sql<boolean>`delivery = any(${deliveries}::text[])`)
        .orderBy("n")
        .execute();
      return rows.map(({ delivery }) => delivery);
    },
  };
}

const diedWithin = ({ sinceMs, untilMs }: DiedRange): RawBuilder<boolean> =>
  sql`died_ms >= ${sinceMs ?? 0} and died_ms < ${untilMs ?? Number.MAX_SAFE_INTEGER}`;

/** Reads the page and the total in one statement. */
async function pageOf(
  db: Db,
  table: "attempts" | "dead_letters",
  webhook: string,
  page: PageRequest,
  keep: number,
  filter: RawBuilder<unknown> = sql`true`,
): Promise<StoredPage<Row>> {
  const { limit, cursor, maxBytes } = page;
  const backwards = cursor?.side === "before";
  const beyond = cursor === null ? sql`true` : sql`n ${backwards ? sql`>` : sql`<`} ${parseCursor(cursor.id)}`;
  const payload = table === "attempts" ? sql`null` : sql`payload`;
  const listed = sql`select * from kept where ${beyond} order by ${backwards ? sql`n` : sql`n desc`} limit ${limit}`;
  const bytes = sql`octet_length(page.record) + coalesce(octet_length(page.payload), 0)`;
  const { rows } = await sql<Row & { n: number | null; total: number; rows_left: number | null }>`
    with newest as (select *, ${payload}::text as text from ${sql.table(table)} where webhook = ${webhook} order by n desc limit ${keep}),
    kept as (select n, record, text as payload from newest where ${filter})
    select counted.total, found.n, found.record, found.payload, found.rows_left from (select count(*) as total from kept) counted left join (
      select * from ${boundedRows({ rows: listed, bytes, order: sql`n desc`, maxBytes })} bounded
    ) found on true
    order by found.n desc`.execute(db);
  return { items: rows.filter((row) => row.n !== null), total: rows[0]?.total ?? 0, ...leftBehind(rows) };
}

/** Keeps the newest dead letters up to this size, and always the newest one. */
function pruneDeadLetterBytes(webhook: string, bytes: number): RawBuilder<unknown> {
  return sql`
    delete from dead_letters where webhook = ${webhook} and n <= (
      select max(n) from (
        select n, sum(pg_column_size(payload)) over (order by n desc) as total, max(n) over () as newest from dead_letters where webhook = ${webhook}
      ) counted where total > ${bytes} and n < newest
    )`;
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
    on conflict (delivery) do update
    set n = default, died_ms = excluded.died_ms, record = excluded.record, payload = excluded.payload
    where dead_letters.died_ms <> excluded.died_ms`;
}

function foundFrom({
  webhook,
  record,
  dead,
}: {
  readonly webhook: string;
  readonly record: string | null;
  readonly dead: boolean;
}): FoundDelivery {
  const outcome = record === null ? undefined : (JSON.parse(record) as Attempt).outcome; // Written below from an Attempt.
  if (dead) return { webhook, state: "dead" };
  return { webhook, state: outcome === "delivered" ? "delivered" : outcome === "retry" ? "waiting" : "ended" };
}

// Only the functions above write these records, from these types.
function attemptFrom({ n, record }: Row): Listed<Attempt> {
  return { ...(JSON.parse(record) as Attempt), id: `at_${n}` };
}

function deadLetterFrom({ n, record, payload }: Row): Listed<DeadLetter> {
  return { ...(JSON.parse(record) as Omit<DeadLetter, "payload">), payload: payload ?? "null", id: listId(n) };
}

const listId = (n: number): string => `dl_${n}`;

function parseCursor(id: string): number {
  const match = /^[a-z]{2}_(\d{1,15})$/.exec(id);
  if (match === null)
    throw new InvalidInput(`the cursor names ${id}, which is not in this list: begin again without a cursor`, {
      code: "invalid_cursor",
    });
  return Number(match[1]);
}
