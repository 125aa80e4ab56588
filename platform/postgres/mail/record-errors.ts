import { createHash } from "node:crypto";
import { sql, type RawBuilder } from "kysely";
import { distinctError, errorOccurrence, type ErrorOccurrence } from "../../../domain/mail/error-occurrence.ts";
import type { Commit } from "../../../domain/run/commit.ts";
import { column, integerColumn } from "../columns.ts";

/** Maximum distinct errors of one emitter with rows of their own. All others share the row with an empty fingerprint. */
export const maxDistinctErrors = 50;

interface ErrorRow {
  readonly seq: number;
  readonly occurrence: ErrorOccurrence;
}

export function errorRows({ seq, commit }: { readonly seq: number; readonly commit: Commit }): ErrorRow[] {
  const occurrence = errorOccurrence(commit);
  return occurrence === undefined ? [] : [{ seq, occurrence }];
}

const fingerprintOf = ({ occurrence }: ErrorRow): string => createHash("sha256").update(distinctError(occurrence)).digest("hex");

/**
 * For commits in `live`: adds a row for each distinct error, or counts it. The partition's position is locked, so rows of one emitter are
 * added by one statement at a time, and the number of its rows is exact.
 */
export function countErrors(rows: readonly ErrorRow[]): RawBuilder<unknown> {
  const own = (value: (occurrence: ErrorOccurrence) => string): string[] => column(rows, ({ occurrence }) => value(occurrence));
  return sql`
    insert into error_mails (emitter, fingerprint, owner, occurrences, first, last_ms)
    select emitter, case when fits then fingerprint else '' end, min(owner), sum(occurrences)::bigint, (array_agg(first order by place))[1], max(last_ms)
    from (
      select failed.*, known.emitter is not null or ${maxDistinctErrors} >=
        (select count(*) from error_mails where error_mails.emitter = failed.emitter)
        + row_number() over (partition by failed.emitter, known.emitter is null order by failed.place) as fits
      from (
        select emitter, fingerprint, min(owner) as owner, count(*) as occurrences, (array_agg(first order by place))[1] as first,
          (array_agg(at_ms order by place desc))[1] as last_ms, min(place) as place
        from unnest(
          ${rows.map(({ seq }) => seq)}::bigint[], ${own(({ emitter }) => emitter)}::text[], ${column(rows, fingerprintOf)}::text[],
          ${own(({ owner }) => owner)}::text[], ${integerColumn(rows, ({ occurrence }) => occurrence.at)}::bigint[],
          ${own((occurrence) => JSON.stringify(occurrence))}::text[]
        ) with ordinality as row (commit_seq, emitter, fingerprint, owner, at_ms, first, place)
        where commit_seq in (select commit_seq from live)
        group by emitter, fingerprint
      ) failed left join error_mails known on known.emitter = failed.emitter and known.fingerprint = failed.fingerprint
    ) row
    group by 1, 2 order by 1, 2
    on conflict (emitter, fingerprint) do update set
      first = case when error_mails.occurrences = 0 then excluded.first else error_mails.first end,
      occurrences = error_mails.occurrences + excluded.occurrences, last_ms = excluded.last_ms`;
}
