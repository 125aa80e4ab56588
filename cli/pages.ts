import { itemsOf, maxPageItems, type Page } from "../client/pages.ts";

/** Items of a list, as one page in the form of the API. */
export interface Collected<T> {
  readonly page_info: { readonly total_count: number; readonly count: number; readonly end_cursor: string | null };
  readonly data: readonly T[];
}

/** Reads as many pages as needed for `limit` items; without a limit all pages. */
export async function collect<T>(
  readPage: (query: { readonly limit: number; readonly after?: string }) => Promise<Page<T>>,
  limit?: number,
): Promise<Collected<T>> {
  const data: T[] = [];
  let last: Page<T> | undefined;
  const pageItems = Math.min(limit ?? maxPageItems, maxPageItems);
  if (limit === 0) return { page_info: { total_count: 0, count: 0, end_cursor: null }, data };
  const pages = itemsOf(async (after) => (last = await readPage({ limit: pageItems, ...(after === undefined ? {} : { after }) })));
  for await (const item of pages) {
    data.push(item);
    if (data.length === limit) break;
  }
  const { total_count = data.length, end_cursor = null } = last?.page_info ?? {};
  return { page_info: { total_count, count: data.length, end_cursor }, data };
}
