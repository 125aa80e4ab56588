import type { Page } from "../../../client/pages.ts";

/** A string that a list may cut. Other strings, such as ids, are whole. */
export interface Cuttable {
  readonly cuttable: string;
  /** In place of the string, if it need not be cut. */
  readonly value?: unknown;
}

export const cuttable = (text: string | null | undefined): Cuttable | undefined =>
  text === null || text === undefined || text === "" ? undefined : { cuttable: text };

/** A value as JSON, which a list may cut. */
export const cuttableJson = (value: unknown): Cuttable => ({ cuttable: JSON.stringify(value) ?? "null", value });

/** An item of a list. Undefined and null fields are left out. */
export type Row = Readonly<Record<string, string | number | boolean | Cuttable | null | undefined>>;

interface ListOptions {
  /** Cursor of the next items; null: there are none. See `nextOf`. */
  readonly next?: string | null | undefined;
  /** Which tool shows what is cut. */
  readonly whole: string;
  /** Fields of the answer besides the items. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** The cursor behind a full page: the API returns one also with the last page. */
export const nextOf = ({ data, page_info: { end_cursor: cursor } }: Page<unknown>, limit: number): string | null =>
  data.length < limit ? null : cursor;

/** Six items take at most 1 KB. */
const [bytesOfList, bytesOfItem] = [124, 150];
const textLengths = [400, 200, 120, 80, 60, 40, 24, 12];
const maxWholeBytes = 16_384;
const mark = "…";

/** A list as JSON of about 150 bytes for each item, at most 16 KiB: the texts of all items are cut to the same length, as long as possible. */
export function listAnswer(rows: readonly Row[], options: ListOptions): string {
  const all = fittedList(rows, options);
  if (Buffer.byteLength(all) <= maxWholeBytes) return all;
  // Without a cursor: it would skip the items that are left out.
  const { next: _next, ...others } = options;
  for (let kept = rows.length - 1; ; kept--) {
    const whole = `${rows.length - kept} of ${rows.length} items are left out: ${kept === 0 ? "the first is too long" : `use limit ${kept}`}`;
    const answer = fittedList(rows.slice(0, kept), { ...others, whole, isCut: true });
    if (kept <= 0 || Buffer.byteLength(answer) <= maxWholeBytes) return answer;
  }
}

function fittedList(
  rows: readonly Row[],
  { next, whole, more = {}, isCut: isShort = false }: ListOptions & { readonly isCut?: boolean },
): string {
  const maxBytes = bytesOfList + rows.length * bytesOfItem;
  let answer = "";
  for (const maxLength of textLengths) {
    const isCut = isShort || rows.some((row) => Object.entries(row).some(([name, value]) => isLonger(name, value, maxLength)));
    const items = rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).flatMap(([name, value]) => {
          if (value === undefined || value === null) return [];
          return [[name, isCuttable(value) ? shownText(value, maxLength) : shownValue(name, value)]];
        }),
      ),
    );
    answer = JSON.stringify({ items, ...more, ...(next == null ? {} : { next }), ...(isCut ? { [mark]: whole } : {}) });
    if (Buffer.byteLength(answer) <= maxBytes) break;
  }
  return answer;
}

/** Fields that name a thing, which an agent passes on: they are whole. */
const idFields: ReadonlySet<string> = new Set(
  ["id", "key", "emitter", "listener", "component", "package", "delivery", "run", "trace", "event", "send", "template"].concat(["name"]),
);
/** Of other strings that lists do not shorten, such as versions and scopes. */
const maxPlainLength = 100;

const isLonger = (name: string, value: Row[string], maxLength: number): boolean =>
  isCuttable(value) ? value.cuttable.length > maxLength : shownValue(name, value) !== value;

const shownValue = (name: string, value: Row[string]): unknown =>
  typeof value === "string" && !idFields.has(name) ? cutText(value, maxPlainLength) : value;

const isCuttable = (value: Row[string]): value is Cuttable => typeof value === "object" && value !== null;

function shownText({ cuttable: text, value }: Cuttable, maxLength: number): unknown {
  if (value !== undefined && text.length <= maxLength) return value;
  return cutText(oneLine(text, maxLength), maxLength);
}

/** Without line breaks; of a long text its beginning. */
const oneLine = (text: string, maxLength: number): string =>
  text.slice(0, maxLength * 4).replaceAll(/\s+/g, " ") + text.slice(maxLength * 4);

/** At most this many characters; a cut text ends with a mark. A surrogate pair stays whole. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return text.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, "") + mark;
}

/** What is shown of texts and lists, from most to least. Of the first, nothing is cut that would fit. */
const bounds = [
  { length: maxWholeBytes, items: maxWholeBytes / 2 },
  { length: 16_000, items: 1_000 },
  { length: 4_000, items: 200 },
  { length: 1_000, items: 60 },
  { length: 300, items: 30 },
  { length: 100, items: 12 },
  { length: 40, items: 6 },
] as const;
const maxDepth = 60;

/**
 * One thing as JSON of at most 16 KiB, without null and empty fields, with times as ISO 8601. Long texts and lists are cut.
 * @param whole what shows all of it, such as a command
 */
export function wholeAnswer(value: unknown, whole: string): string {
  const record = readable(value);
  const note = `\n${mark} marks what is cut: ${whole} shows all`;
  let answer = "";
  for (const [index, bound] of bounds.entries()) {
    answer = shortened(record, bound);
    const end = index === 0 ? "" : note;
    if (Buffer.byteLength(answer) + Buffer.byteLength(end) <= maxWholeBytes) return answer + end;
  }
  return cutBytes(answer, maxWholeBytes - Buffer.byteLength(note)) + note;
}

/** Lines of at most 16 KiB. */
export function linesAnswer(lines: readonly string[], whole: string): string {
  const text = lines.join("\n");
  if (Buffer.byteLength(text) <= maxWholeBytes) return text;
  const note = `\n${mark} the rest is cut: ${whole} shows all`;
  return cutBytes(text, maxWholeBytes - Buffer.byteLength(note)) + note;
}

const [maxMessageBytes, maxHintBytes] = [4_096, 1_024];

/** A message and perhaps a line with a hint, of at most 4 KiB together. */
export function messageAnswer(text: string, hint?: string): string {
  const line = hint === undefined ? "" : `\nhint: ${hint}`;
  if (Buffer.byteLength(text) + Buffer.byteLength(line) <= maxMessageBytes) return text + line;
  const end = cutBytes(line, maxHintBytes);
  return cutBytes(text, maxMessageBytes - Buffer.byteLength(end)) + end;
}

function cutBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const kept = Buffer.from(text).subarray(0, maxBytes - Buffer.byteLength(mark));
  return new TextDecoder().decode(kept, { stream: true }) + mark; // As a stream: half a character at the end is left out.
}

/** JSON of at most about this many characters, without reading more of a large value. */
export const shortJson = (value: unknown, maxLength: number): string => shortened(value, { length: maxLength, items: 20 });

const shortened = (value: unknown, bound: Bound): string => JSON.stringify(shorten(value, bound, 0)) ?? "null";

interface Bound {
  readonly length: number;
  readonly items: number;
}

function shorten(value: unknown, bound: Bound, depth: number): unknown {
  if (typeof value === "string") {
    return value.length <= bound.length ? value : `${cutText(value, bound.length)} (${value.length} characters)`;
  }
  if (typeof value !== "object" || value === null) return value;
  if (depth > maxDepth) return mark;
  if (Array.isArray(value)) {
    const items = value.slice(0, bound.items).map((item) => shorten(item, bound, depth + 1));
    return value.length <= bound.items ? items : [...items, `${mark} ${value.length - bound.items} more`];
  }
  const entries = Object.entries(value);
  const kept = entries.slice(0, bound.items).map(([name, each]) => [cutText(name, bound.length), shorten(each, bound, depth + 1)]);
  const rest = entries.length <= bound.items ? [] : [[mark, `${entries.length - bound.items} more`]];
  return Object.fromEntries([...kept, ...rest]);
}

/** Fields with values of users: they are shown as they are. */
const userFields: ReadonlySet<string> = new Set(
  ["event", "result", "configured_props", "props", "value", "default", "inputs", "exports", "argument", "body", "headers"].concat([
    "$return_value",
    "$summary",
    "options",
    "context",
    "data",
  ]),
);

/** A record of the API without null and empty fields, and with times as ISO 8601. */
function readable(value: unknown, depth = 0): unknown {
  if (typeof value !== "object" || value === null || depth > maxDepth) return value;
  if (Array.isArray(value)) return value.map((item) => readable(item, depth + 1));
  const entries = Object.entries(value);
  const names = new Set(entries.map(([name]) => name));
  return Object.fromEntries(
    entries.flatMap(([name, each]): [string, unknown][] => {
      if (names.has(`${name}_ms`) || isEmpty(each)) return [];
      const at = timeIn(name, each);
      if (at !== undefined) return [[name.replace(/_ms$/, ""), at]];
      return [[name, userFields.has(name) ? each : readable(each, depth + 1)]];
    }),
  );
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === "" || (typeof value === "object" && value !== null && Object.keys(value).length === 0);

const [minEpochSeconds, minEpochMs] = [1e9, 1e11];

function timeIn(name: string, value: unknown): string | undefined {
  if (typeof value !== "number" || value < minEpochSeconds) return undefined;
  if (/(^at|_at|_until|since)$/.test(name) && value < minEpochMs) return new Date(value * 1_000).toISOString();
  return /((^|_)(at|from|to)_ms|^ts)$/.test(name) && value >= minEpochMs && value < 8e15 ? new Date(value).toISOString() : undefined;
}

/** A time of epoch seconds or milliseconds, or in ISO 8601, to the second. */
export function secondOf(value: unknown): string | undefined {
  if (typeof value !== "number" && typeof value !== "string") return undefined;
  const date = new Date(typeof value === "number" && value < minEpochMs ? value * 1_000 : value);
  return Number.isNaN(date.getTime()) ? undefined : `${date.toISOString().slice(0, 19)}Z`;
}
