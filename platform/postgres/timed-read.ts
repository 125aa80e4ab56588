import { sql, type RawBuilder } from "kysely";
import type { Database } from "./connection.ts";

/** @throws an error for which {@link isTimeout} holds when it takes longer */
export function readWithin<Row>(
  db: Database["db"],
  maxMs: number,
  statement: RawBuilder<unknown>,
  settings: RawBuilder<unknown> = sql`true`,
): Promise<readonly Row[]> {
  return db.transaction().execute(async (transaction) => {
    await sql`select set_config('statement_timeout', ${String(maxMs)}, true), ${settings}`.execute(transaction);
    return (await sql<Row>`${statement}`.execute(transaction)).rows;
  });
}

const queryCanceled = "57014";

/** Whether a statement was ended because it took too long. */
export function isTimeout(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause ?? error) : undefined;
  return cause instanceof Error && "code" in cause && cause.code === queryCanceled;
}
