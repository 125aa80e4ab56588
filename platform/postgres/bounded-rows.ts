import { sql, type RawBuilder } from "kysely";

/** Larger than any page. */
const unlimitedBytes = 2 ** 50;

interface Page {
  /** Subquery of the rows, at most as many as the page's limit. */
  readonly rows: RawBuilder<unknown>;
  /** Stored bytes of a row of `page`. `octet_length` reads them without the value itself. */
  readonly bytes: RawBuilder<unknown>;
  /** Order of the list. */
  readonly order: RawBuilder<unknown>;
  readonly maxBytes: number | undefined;
}

/** A subquery of the first rows of a page, up to its bytes; `rows_left` counts those of the page behind each row. */
export function boundedRows({ rows, bytes, order, maxBytes = unlimitedBytes }: Page): RawBuilder<unknown> {
  return sql`(
    select * from (
      select page.*, count(*) over () - row_number() over (order by ${order}) as rows_left,
        sum(${bytes}) over (order by ${order} rows between unbounded preceding and 1 preceding) as bytes_before
      from (${rows}) page
    ) sized where coalesce(bytes_before, 0) < ${maxBytes}::bigint
  )`;
}

/** How many items of the page are behind the last row, if there are any. */
export function leftBehind(rows: readonly { readonly rows_left?: number | null }[]): { readonly left?: number } {
  const left = rows.at(-1)?.rows_left ?? 0;
  return left === 0 ? {} : { left };
}
