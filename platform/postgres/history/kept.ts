import { sql, type Kysely, type RawBuilder } from "kysely";
import type { Tables } from "../tables.ts";

/** How many of each are stored and shown per source. */
export interface Kept {
  readonly events: number;
  readonly logs: number;
  readonly runs: number;
  readonly ticks: number;
  /** Runs of a workflow that are running or suspended. Of those that have ended, `runs` of each status are kept. */
  readonly unendedRuns: number;
  /** Attempts of steps of one run of a workflow. */
  readonly attempts: number;
}

/** 100 events and 100 log lines, like the known service. */
export const defaultKept: Kept = { events: 100, logs: 100, runs: 100, ticks: 100, unendedRuns: 10_000, attempts: 1_000 };

/**
 * Counts writes per key and returns the keys to prune, so that a table has at most twice the kept rows, and an insert costs a constant
 * share of a prune. A new key is due at once, because the count of a previous process is lost.
 */
export function createPruneCounter(keep: number, maxKeys = 20_000): { due(keys: readonly string[]): string[] } {
  const written = new Map<string, number>();
  return {
    due(keys) {
      const due = new Set<string>();
      for (const key of keys) {
        const count = (written.get(key) ?? keep) + 1;
        // Deleted and set again to keep the map in order of use, least recent first.
        written.delete(key);
        written.set(key, count > keep ? 0 : count);
        if (count > keep) due.add(key);
      }
      for (const key of written.keys()) {
        if (written.size <= maxKeys) break;
        written.delete(key);
      }
      return [...due];
    },
  };
}

/** How the rows of a key are ordered in a table. */
interface Shape {
  readonly table: "events" | "logs" | "runs" | "ticks" | "attempts" | "dead_letters";
  readonly key: "source" | "webhook";
  readonly order: readonly string[];
}

export const shapes = {
  events: { table: "events", key: "source", order: ["ms", "seq"] },
  logs: { table: "logs", key: "source", order: ["n"] },
  runs: { table: "runs", key: "source", order: ["n"] },
  ticks: { table: "ticks", key: "source", order: ["due_ms", "n"] },
  attempts: { table: "attempts", key: "webhook", order: ["n"] },
  deadLetters: { table: "dead_letters", key: "webhook", order: ["n"] },
} as const satisfies Record<string, Shape>;

/** Deletes all but the newest `keep` rows of each key; reads `keep` index entries per key and the deleted rows. */
export async function prune(db: Kysely<Tables>, shape: Shape, keys: readonly string[], keep: number): Promise<void> {
  if (keys.length === 0) return;
  const of = (alias: string): RawBuilder<unknown> => sql.join(shape.order.map((name) => sql.ref(`${alias}.${name}`)));
  const newestFirst = sql.join(shape.order.map((name) => sql`${sql.ref(`kept.${name}`)} desc`));
  await sql`
    delete from ${sql.table(shape.table)} old
    using unnest(${keys}::text[]) as wanted (key), lateral (
      select ${of("kept")} from ${sql.table(shape.table)} kept where ${sql.ref(`kept.${shape.key}`)} = wanted.key
      order by ${newestFirst} offset ${keep} limit 1
    ) surplus
    where ${sql.ref(`old.${shape.key}`)} = wanted.key and (${of("old")}) <= (${of("surplus")})`.execute(db);
}
