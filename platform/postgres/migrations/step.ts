import { sql, type Kysely } from "kysely";
import type { Tables } from "../tables.ts";

/**
 * One part of a migration. After each, its number is recorded; a process that was killed repeats the step that it had begun.
 *
 * | kind | runs | repeated after a kill |
 * |---|---|---|
 * | transaction | in one transaction with its record; must take little time, since it may lock a table | nothing of it happened |
 * | batches | each batch in its own transaction, until one returns false | from the rows that are left |
 * | index | without a transaction, while writers continue | from the start: an incomplete index is dropped |
 */
export type Step =
  | { readonly kind: "transaction"; readonly run: (db: Kysely<Tables>) => Promise<void> }
  | { readonly kind: "batches"; readonly run: (db: Kysely<Tables>) => Promise<boolean> }
  | { readonly kind: "index"; readonly name: string; readonly on: string };

export interface Migration {
  /** `m0001-…`, its position in the list. */
  readonly name: string;
  readonly steps: readonly Step[];
  /**
   * Set where something is removed: the number of the last migration of the oldest version that can use the tables afterwards. Default:
   * every version can, because the migration only adds.
   */
  readonly oldestCode?: number;
}

export function numberOf({ name }: Pick<Migration, "name">): number {
  return Number(/^m(\d{4})-/.exec(name)?.[1]);
}

export const transaction = (text: string): Step => ({
  kind: "transaction",
  run: async (db) => void (await sql.raw(text).execute(db)),
});
