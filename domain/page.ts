import { InvalidInput } from "./errors.ts";
import type { ListOrder } from "./list-order.ts";

/**
 * Pages of a list that is newest first (specification, "Pagination"). A cursor names an item by its id: resources as
 * unpadded base64url of the id, events as the id itself. In a list sorted by a field that may change, it is unpadded base64url of the position
 * (`list-order.ts`), which takes the part of the id.
 */
export type CursorForm = "resource" | "event" | "position";

export interface PageQuery {
  readonly limit?: string | number | undefined;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
}

/**
 * A request for a page. `after` the cursor: the first `limit` items that follow it in list order. `before`: the `limit`
 * items nearest to it among those that precede it, still in list order (SQL: read them in reverse order, then reverse them).
 */
export interface PageRequest {
  readonly limit: number;
  readonly cursor: { readonly side: "after" | "before"; readonly id: string } | null;
  /**
   * The page ends early behind the first item that exceeds so many stored bytes: it has at least one. Absent: unlimited, for callers that
   * know that items are small.
   */
  readonly maxBytes?: number;
  /** Of resources; absent: newest first. */
  readonly order?: ListOrder;
}

/** Events between two ids, both inclusive and optional; without a channel, of all of them. */
export interface EventRange {
  readonly startId?: string;
  readonly endId?: string;
  readonly channel?: string;
}

export interface PageInfo {
  readonly total_count: number;
  readonly count: number;
  readonly start_cursor: string | null;
  readonly end_cursor: string | null;
  readonly excluded_count: number;
}

const defaultLimit = 10;
/** Also the default of event lists: known clients send no limit there and expect all stored events. */
export const maxLimit = 100;

/**
 * @param limitIfAbsent the limit when the query has none
 * @throws InvalidInput for a limit that is not an integer of at least 1, an unreadable cursor, both cursors at once.
 */
export function parsePageQuery(query: PageQuery, form: CursorForm = "resource", limitIfAbsent = defaultLimit): PageRequest {
  const { after, before } = query;
  if (after !== undefined && before !== undefined) throw new InvalidInput("after and before are both set: use one of them");
  const limit = parseLimit(query.limit, "limit", limitIfAbsent);
  if (after !== undefined) return { limit, cursor: { side: "after", id: idOfCursor(after, form) } };
  if (before !== undefined) return { limit, cursor: { side: "before", id: idOfCursor(before, form) } };
  return { limit, cursor: null };
}

/** More than 100 is clamped, however much more, since known clients send 500. @param name of the parameter, for the refusal */
export function parseLimit(limit: string | number | undefined, name = "limit", limitIfAbsent = defaultLimit): number {
  if (limit === undefined) return limitIfAbsent;
  if (typeof limit === "string" ? /^0*[1-9]\d*$/.test(limit) : Number.isInteger(limit) && limit >= 1)
    return Math.min(Number(limit), maxLimit);
  throw new InvalidInput(`${name} '${String(limit).slice(0, 80)}' is invalid: it must be an integer from 1 to ${maxLimit}`);
}

export function cursorOf(id: string, form: CursorForm): string {
  if (form === "event") return id;
  const bytes = form === "position" ? String.fromCodePoint(...new TextEncoder().encode(id)) : id;
  return btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @throws InvalidInput */
export function idOfCursor(cursor: string, form: CursorForm): string {
  const id = form === "event" ? cursor : decodeBase64url(cursor);
  if (id !== undefined && form === "position") return new TextDecoder().decode(Uint8Array.from(id, (byte) => byte.codePointAt(0) ?? 0));
  const pattern = form === "event" ? /^\d{1,15}-\d{1,15}$/ : /^[A-Za-z]+_[A-Za-z0-9]+$/;
  if (id === undefined || !pattern.test(id))
    throw new InvalidInput(`cursor '${cursor}' is invalid: it must be one that page_info gave`, {
      code: "invalid_cursor",
    });
  return id;
}

/** Of the ids on the page, in list order; `total` counts the whole list. */
export function pageInfo(ids: readonly string[], total: number, form: CursorForm = "resource", excluded = 0): PageInfo {
  const [first, last] = [ids.at(0), ids.at(-1)];
  return {
    total_count: total,
    count: ids.length,
    start_cursor: first === undefined ? null : cursorOf(first, form),
    end_cursor: last === undefined ? null : cursorOf(last, form),
    excluded_count: excluded,
  };
}

/** The page of a list in memory: the reference for every store. @throws InvalidInput when the cursor's item was deleted */
export function pageOf<Item>(list: readonly Item[], idOf: (item: Item) => string, request: PageRequest): readonly Item[] {
  const { cursor, limit } = request;
  if (cursor === null) return list.slice(0, limit);
  const at = list.findIndex((item) => idOf(item) === cursor.id);
  if (at === -1) throw unknownCursor(cursor.id);
  return cursor.side === "after" ? list.slice(at + 1, at + 1 + limit) : list.slice(Math.max(0, at - limit), at);
}

export function unknownCursor(id: string): InvalidInput {
  return new InvalidInput(`the cursor names ${id}, which is not in this list or was deleted: begin again without a cursor`, {
    code: "invalid_cursor",
  });
}

function decodeBase64url(text: string): string | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(text) || text.length % 4 === 1) return undefined;
  return atob(text.replaceAll("-", "+").replaceAll("_", "/"));
}
