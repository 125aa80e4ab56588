import { HeadwaterError } from "../../../domain/errors.ts";
import type { CursorForm, PageRequest } from "../../../domain/page.ts";
import type { Listed } from "../../ports.ts";

/** Stored bytes of a part, and one item of up to as many more. An item is at most an event or a component. */
export const maxPartBytes = 2 ** 20;

/** Consecutive items of a page. */
export interface ListPart<Data> {
  /** An array. */
  readonly data: Data;
  /** Ids or positions of all items, also of those that `data` does not show. */
  readonly ids: readonly string[];
  /** Size of the whole list. */
  readonly total: number;
  /** Whether no part follows. */
  readonly isLast: boolean;
}

/** A page of a list that is read and written in parts, so that neither Postgres' answer nor ours is in memory at once. */
export interface PartedList<Data> {
  /** Of the cursors in `page_info`; absent: the response has none, as in older forms of lists. */
  readonly form?: CursorForm;
  parts(): AsyncIterable<ListPart<Data>>;
}

interface Reading<Item, Shown> {
  readonly request: PageRequest;
  readonly idOf: (item: Item) => string;
  readonly read: (page: PageRequest) => Promise<Listed<Item>>;
  readonly show: (items: readonly Item[]) => Promise<readonly Shown[]> | readonly Shown[];
}

export async function* readParts<Item, Shown>({
  request,
  idOf,
  read,
  show,
}: Reading<Item, Shown>): AsyncGenerator<ListPart<readonly Shown[]>> {
  let found: Listed<Item> | undefined = await read({ ...request, maxBytes: maxPartBytes });
  while (found !== undefined) {
    const { items, total, left = 0, positions }: Listed<Item> = found;
    const ids: readonly string[] = positions ?? items.map(idOf);
    const last = ids.at(-1);
    const isLast: boolean = left === 0 || last === undefined;
    const data = await show(items);
    found = undefined;
    yield { data, ids, total, isLast };
    if (!isLast) found = await readBehind(last ?? "", left, read);
  }
}

/** The history may have deleted the last item in the meantime, and with it all that are older. */
async function readBehind<Item>(id: string, limit: number, read: Reading<Item, unknown>["read"]): Promise<Listed<Item>> {
  try {
    return await read({ limit, cursor: { side: "after", id }, maxBytes: maxPartBytes });
  } catch (error) {
    if (error instanceof HeadwaterError && error.code === "invalid_cursor") return { items: [], total: 0 };
    throw error;
  }
}
