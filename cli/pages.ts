import { itemsOf, maxPageItems, type Page, type PageInfo } from "../client/pages.ts";

/** Items of a list, as one page in the form of the API. */
export interface Collected<T> extends Page<T> {
  readonly page_info: PageInfo & { readonly count: number };
}

/** Reads as many pages as needed for `limit` items, one or more; without a limit all pages. */
export async function collect<T>(
  readPage: (query: { readonly limit: number; readonly after?: string }) => Promise<Page<T>>,
  limit = Number.POSITIVE_INFINITY,
): Promise<Collected<T>> {
  const data: T[] = [];
  const pages: Page<T>[] = [];
  const items = itemsOf(async (after) => {
    // The last page ends with the last item that is wanted, so that its cursor continues behind it.
    const page = await readPage({ limit: Math.min(limit - data.length, maxPageItems), ...(after === undefined ? {} : { after }) });
    pages.push(page);
    return page;
  });
  for await (const item of items) {
    data.push(item);
    if (data.length === limit) break;
  }
  const [first, last] = [pages[0]?.page_info, pages.at(-1)?.page_info];
  const cursors = { start_cursor: first?.start_cursor ?? null, end_cursor: last?.end_cursor ?? null };
  return { page_info: { total_count: data.length, ...last, count: data.length, ...cursors }, data };
}
