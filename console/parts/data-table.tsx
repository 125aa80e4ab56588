import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp, ArrowUpDown } from "lucide-react";
import { useEffect, useRef, type ReactNode } from "react";
import type { List } from "../api/queries.ts";
import { text } from "./bulk/strings.ts";
import type { Selection } from "./bulk/use-selection.ts";
import { directionOf, nextSort, type SortField, type Sorting } from "./list/order.ts";
import { ErrorNotice, Loaded } from "./notices.tsx";

export interface Column<Item> {
  readonly title: string;
  readonly cell: (item: Item) => ReactNode;
  /** Share of the width, in parts; default 1. */
  readonly parts?: number;
  /** Left out on narrow screens. */
  readonly isSecondary?: boolean;
  /** The header sorts the list by this field, if the table has `sorting`. */
  readonly sortsBy?: SortField;
}

interface TableProps<Item> {
  readonly label: string;
  readonly columns: readonly Column<Item>[];
  readonly list: Pick<List<Item>, "items" | "error" | "isLoading" | "hasMore" | "readMore" | "reload">;
  readonly keyOf: (item: Item) => string;
  /** Instead of the table, when there is nothing. */
  readonly empty: ReactNode;
  /** Called with the item of a clicked row; links in cells serve the keyboard. */
  readonly onOpen?: ((item: Item) => void) | undefined;
  /** Rows have a checkbox, whose label has the name. */
  readonly selects?: { readonly selection: Selection<Item>; readonly nameOf: (item: Item) => string } | undefined;
  readonly sorting?: Sorting;
  readonly isCompact?: boolean;
}

const rowPixels = 41;
const compactRowPixels = 27;
/** The next page is read when so few rows are left. */
const readAheadRows = 30;

/** A table with any number of rows, of which only the visible ones exist. It scrolls inside itself when there are many. */
export function DataTable<Item>(props: TableProps<Item>) {
  const { list, empty } = props;
  const { items } = list;
  return (
    <Loaded isLoading={list.isLoading} error={items.length === 0 ? list.error : null} retry={list.reload}>
      {items.length === 0 ? empty : <Rows {...props} />}
      {list.error !== null && <ErrorNotice error={list.error} retry={list.reload} />}
    </Loaded>
  );
}

function Rows<Item>(props: TableProps<Item>) {
  const { label, columns, list, keyOf, onOpen, selects, isCompact = false } = props;
  const { items, hasMore, readMore } = list;
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (isCompact ? compactRowPixels : rowPixels),
    overscan: 12,
    getItemKey: (index) => keyOf(items[index] as Item), // The index is below the count.
  });
  // Rows that are not visible have the height from before.
  useEffect(() => rows.measure(), [rows, isCompact]);
  const visible = rows.getVirtualItems();
  const last = visible.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && last >= items.length - readAheadRows) readMore();
  }, [hasMore, items.length, last, readMore]);
  const before = visible[0]?.start ?? 0;
  const after = rows.getTotalSize() - (visible.at(-1)?.end ?? 0);
  return (
    <div
      ref={scroller}
      tabIndex={0}
      role="group"
      aria-label={label}
      className="max-h-[calc(100dvh-11rem)] min-h-24 overflow-y-auto rounded-lg border border-line bg-surface"
      style={
        {
          "--columns": template(columns, selects !== undefined),
          "--narrow-columns": template(
            columns.filter((column) => column.isSecondary !== true),
            selects !== undefined,
          ),
        } as never
      }
    >
      <table role="table" aria-label={label} aria-rowcount={hasMore ? -1 : items.length + 1} className="block w-full text-left text-sm">
        <thead role="rowgroup" className="sticky top-0 z-10 block bg-surface">
          <Header {...props} />
        </thead>
        <tbody role="rowgroup" className="block" style={{ paddingTop: before, paddingBottom: after }}>
          {visible.map(({ key, index }) => (
            <Row
              key={key as string}
              item={items[index] as Item}
              index={index}
              columns={columns}
              onOpen={onOpen}
              selects={selects}
              isCompact={isCompact}
              measure={rows.measureElement}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Header<Item>({ columns, selects, sorting }: Pick<TableProps<Item>, "columns" | "selects" | "sorting">) {
  return (
    <tr role="row" className={rowLook}>
      {selects !== undefined && (
        <th role="columnheader" scope="col" className={cellLook(false)}>
          <SelectAll selection={selects.selection} />
        </th>
      )}
      {columns.map(({ title, isSecondary, sortsBy }) => (
        <th
          role="columnheader"
          key={title}
          scope="col"
          aria-sort={sorting === undefined || sortsBy === undefined ? undefined : directionOf(sorting.sort, sortsBy)}
          className={`${cellLook(isSecondary)} font-medium text-muted`}
        >
          {sorting === undefined || sortsBy === undefined ? title : <SortButton title={title} field={sortsBy} {...sorting} />}
        </th>
      ))}
    </tr>
  );
}

const sortIcons = { ascending: ArrowUp, descending: ArrowDown, none: ArrowUpDown } as const;

function SortButton({ title, field, sort, onSort }: Sorting & { readonly title: string; readonly field: SortField }) {
  const direction = directionOf(sort, field);
  const Icon = sortIcons[direction];
  return (
    <button
      type="button"
      className="inline-flex max-w-full items-center gap-1 rounded hover:text-text"
      onClick={() => onSort(nextSort(sort, field))}
    >
      <span className="min-w-0 truncate">{title}</span>
      <Icon aria-hidden className={`size-3.5 shrink-0 ${direction === "none" ? "opacity-50" : "text-accent"}`} />
    </button>
  );
}

function SelectAll<Item>({ selection: { items, isAll, toggleAll } }: { readonly selection: Selection<Item> }) {
  const box = useRef<HTMLInputElement>(null);
  const isPart = items.length > 0 && !isAll;
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = isPart;
  }, [isPart]);
  return <input ref={box} type="checkbox" className="block" aria-label={text.selectAll} checked={isAll} onChange={toggleAll} />;
}

interface RowProps<Item> extends Pick<TableProps<Item>, "columns" | "onOpen" | "selects"> {
  readonly isCompact: boolean;
  readonly item: Item;
  readonly index: number;
  readonly measure: (element: Element | null) => void;
}

function Row<Item>({ item, index, columns, onOpen, selects, isCompact, measure }: RowProps<Item>) {
  return (
    <tr
      role="row"
      ref={measure}
      data-index={index}
      aria-rowindex={index + 2}
      onClick={(event) => {
        if (onOpen !== undefined && !(event.target as Element).closest("a,button,input,label")) onOpen(item);
      }}
      className={`${rowLook} hover:bg-accent-soft ${onOpen === undefined ? "" : "cursor-pointer"}`}
    >
      {selects !== undefined && (
        <td role="cell" className={cellLook(false, isCompact)}>
          <input
            type="checkbox"
            className="block"
            aria-label={text.select(selects.nameOf(item))}
            checked={selects.selection.has(item)}
            onChange={(event) => selects.selection.toggle(item, (event.nativeEvent as MouseEvent).shiftKey)} // A change of a checkbox is a click.
          />
        </td>
      )}
      {columns.map(({ title, cell, isSecondary }) => (
        <td role="cell" key={title} className={cellLook(isSecondary, isCompact)}>
          {cell(item)}
        </td>
      ))}
    </tr>
  );
}

const template = <Item,>(columns: readonly Column<Item>[], selects: boolean): string =>
  [...(selects ? ["2.5rem"] : []), ...columns.map(({ parts = 1 }) => `minmax(0,${parts}fr)`)].join(" ");

const rowLook = "grid grid-cols-(--narrow-columns) items-center border-b border-line md:grid-cols-(--columns)";
const cellLook = (isSecondary: boolean | undefined, isCompact = false): string =>
  `min-w-0 truncate px-1 min-[20rem]:px-3 ${isCompact ? "py-0.5" : "py-2"} ${isSecondary === true ? "max-md:hidden" : ""}`;
