import { pageInfo, type CursorForm, type PageRequest } from "../../../domain/page.ts";
import type { Warning } from "../../../domain/component/warning.ts";
import type { Listed } from "../../ports.ts";
import { readParts, type PartedList } from "./list-parts.ts";

/** Response of an operation. `handle` applies `include` and `exclude` to `data`, and adds the request's warnings. */
export type Reply<Data extends object = object> =
  | {
      readonly status: number;
      readonly body: { readonly data: Data; readonly page_info?: object; readonly warnings?: readonly Warning[] };
    }
  /** A page of a list whose items may be large. */
  | { readonly status: number; readonly list: PartedList<Data> }
  /** A body of another form, for clients that expect it. */
  | { readonly status: number; readonly json: object }
  | { readonly status: number; readonly text: string };

export const ok = <const Data extends object>(data: Data, warnings: readonly Warning[] = []): Reply<Data> => ({
  status: 200,
  body: { data, warnings },
});

/** The requested work is in progress. */
export const accepted = <const Data extends object>(data: Data): Reply<Data> => ({ status: 202, body: { data } });

/** A page of a list, with the cursors of adjacent pages. */
export function okPage<Item extends { readonly id: string }, Shown extends object>(
  { items, total }: Listed<Item>,
  show: (item: Item) => Shown,
  form?: CursorForm,
): Reply<readonly Shown[]> {
  const ids = items.map(({ id }) => id);
  return { status: 200, body: { page_info: pageInfo(ids, total, form), data: items.map(show) } };
}

/** A page of a list whose items may be large, which is read and written in parts. */
export function okList<Item extends { readonly id: string }, Shown extends object>(
  read: (page: PageRequest) => Promise<Listed<Item>>,
  request: PageRequest,
  show: (item: Item) => Shown,
  form: CursorForm = "resource",
): Reply<readonly Shown[]> {
  return { status: 200, list: { form, parts: partsOf(read, request, show) } };
}

/** The same without `page_info`. */
export const okWholeList = <Item extends { readonly id: string }, Shown extends object>(
  read: (page: PageRequest) => Promise<Listed<Item>>,
  request: PageRequest,
  show: (item: Item) => Shown,
): Reply<readonly Shown[]> => ({ status: 200, list: { parts: partsOf(read, request, show) } });

const partsOf =
  <Item extends { readonly id: string }, Shown extends object>(
    read: (page: PageRequest) => Promise<Listed<Item>>,
    request: PageRequest,
    show: (item: Item) => Shown,
  ) =>
  () =>
    readParts({ request, idOf: ({ id }: Item): string => id, read, show: (items) => items.map(show) });

export const noContent: Reply<never> = { status: 204, text: "" };
