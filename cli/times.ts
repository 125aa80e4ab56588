import { usageFailure } from "./failure.ts";

/** Whether a duration such as `2h` is an age or a time to come. */
export type Direction = "past" | "future";

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const isoDate = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

/**
 * Epoch milliseconds of ISO 8601, of epoch seconds (10 digits) or milliseconds (13 digits), or of a duration: `2h` is two hours ago, or in
 * two hours. @throws Failure for anything else, such as a number without a unit, and for a future time that is past
 */
export function timeOf(text: string, option: string, direction: Direction, nowMs: number = Date.now()): number {
  const at = parseTime(text, direction, nowMs);
  const forms = `write ISO 8601 such as 2027-01-31T12:00:00Z, ${direction === "past" ? "an age" : "a duration"} such as 90d or 12h, or epoch seconds`;
  if (at === undefined || Number.isNaN(at)) throw usageFailure(`${option} "${text}" is invalid`, forms);
  if (direction === "future" && at <= nowMs) throw usageFailure(`${option} "${text}" is invalid: it must be later than now`, forms);
  return at;
}

/** The same of an optional value. */
export const optionalTime = (text: string | undefined, option: string, direction: Direction): number | undefined =>
  text === undefined ? undefined : timeOf(text, option, direction);

function parseTime(text: string, direction: Direction, nowMs: number): number | undefined {
  const [, count = "", unit = ""] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const size = Object.entries(units).find(([name]) => name === unit)?.[1];
  if (size !== undefined) return nowMs + (direction === "past" ? -1 : 1) * Number(count) * size;
  if (/^\d{10}$/.test(text)) return Number(text) * 1_000;
  if (/^\d{13}$/.test(text)) return Number(text);
  return isoDate.test(text) ? Date.parse(text) : undefined;
}
