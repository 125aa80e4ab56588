import { sql } from "kysely";
import type { SearchRecords } from "../../../api/search/ports.ts";
import { sourceKind } from "../../../crds/source.ts";
import { workflowKind } from "../../../crds/workflow.ts";
import type { WindowOutcome } from "../../../domain/search/item.ts";
import { emitterPatterns } from "../../../domain/search/names.ts";
import type { Database } from "../connection.ts";
import { isTimeout, readWithin } from "../timed-read.ts";
import { globPattern } from "./patterns.ts";
import { positionOf, windowStatement, type WindowRow } from "./window.ts";

/** A window that takes longer is read again with fewer rows. */
const maxWindowMs = 500;
/** Names of ten thousand workflows are read from their specs. */
const maxNamesMs = 3_000;

export function createSearchRecords({ db }: Pick<Database, "db">, maxMs: number = maxWindowMs): SearchRecords {
  return {
    async findEmitters(namespaces, names, limit) {
      const patterns = emitterPatterns(names);
      const [globs, slugs] = [patterns.globs.map(globPattern), patterns.slugs.map(globPattern)];
      // Names are read from all specs, ids from a column.
      const isLike = sql`public_id like any(${globs}::text[]) or name_slug like any(${slugs}::text[])
        or lower(coalesce(${nameOf}, name)) like any(${globs}::text[])`;
      const rows = await readWithin<{ id: string }>(
        db,
        maxNamesMs,
        sql`select public_id as id from resources
          where kind = any(${[sourceKind.kind, workflowKind.kind]}::text[]) and namespace = any(${namespaces}::text[])
            and ended_at is null and deletion_timestamp is null and public_id is not null
            and (public_id = any(${patterns.ids}::text[]) or ${globs.length === 0 ? sql`false` : isLike})
          limit ${limit}`,
      );
      return rows.map(({ id }) => id);
    },
    async emittersOfRun(run, owners) {
      const { rows } = await sql<{ id: string }>`
        (select source as id from runs where id = ${run} and owner = any(${owners}::text[]) limit 10)
        union (select workflow as id from workflow_runs where id = ${run} and owner = any(${owners}::text[]) limit 10)`.execute(db);
      return rows.map(({ id }) => id);
    },
    readWindow: async (window) => {
      try {
        return outcomeOf(await readWithin<WindowRow>(db, maxMs, windowStatement(window), inOrder), window.limit);
      } catch (error) {
        if (isTimeout(error)) return { outcome: "too_slow" };
        throw error;
      }
    },
  };
}

/** Of the requested spec. Only specs of sources have facts; others are parsed. */
const nameOf = sql`case when kind = ${sql.lit(sourceKind.kind)} then source_facts ->> 'name' else readable_json(spec) ->> 'name' end`;

/** Reading in order ends early, which Postgres cannot know for limits and owners that it plans for all. */
const inOrder = sql`set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true)`;

/** There is one row more than the limit, unless the window ended before. */
function outcomeOf(found: readonly WindowRow[], limit: number): WindowOutcome {
  const rows = found.slice(0, limit);
  const candidates = rows
    .filter(({ is_match }) => is_match)
    .map((row) => ({
      ...positionOf(row),
      run: row.run,
      status: row.status,
      channel: row.channel,
      head: row.head,
      line: row.line,
      body: row.body,
    }));
  const last = found.length > limit ? rows.at(-1) : rows.find(({ is_last }) => is_last);
  return { outcome: "read", candidates, end: last && positionOf(last) };
}
