/** Where a page is in its list. */
export interface PageInfo {
  readonly total_count: number;
  /** `before` for the previous page. */
  readonly start_cursor?: string | null;
  /** `after` for the next page. */
  readonly end_cursor: string | null;
}

/** A page of a list, in the form of every list of the API. */
export interface Page<T> {
  readonly page_info: PageInfo;
  readonly data: readonly T[];
}

/** Items of one request: the API's maximum. */
export const maxPageItems = 100;

/** Reads a list page by page, newest first, as far as the caller iterates. */
export async function* itemsOf<T>(readPage: (after: string | undefined) => Promise<Page<T>>): AsyncGenerator<T, void> {
  let after: string | undefined;
  do {
    const page = await readPage(after);
    yield* page.data;
    after = page.page_info.end_cursor ?? undefined;
  } while (after !== undefined);
}
