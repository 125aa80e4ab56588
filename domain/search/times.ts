const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const date = /^(\d{4})-(\d\d)-(\d\d)$/;
const dateTime = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/i;

export const timeForms = "write an age such as -2h (s, m, h, d or w), or ISO 8601 such as 2027-01-31 or 2027-01-31T12:00Z";

/**
 * Epoch milliseconds of an age (`-2h`, or `2h`), of a date, or of a date with a time (ISO 8601); without a zone, in UTC. Undefined: it is
 * none of these.
 */
export function searchTime(text: string, nowMs: number): number | undefined {
  const [, count, unit = ""] = /^-?(\d{1,6})([a-z])$/.exec(text) ?? [];
  if (count !== undefined) {
    const size = Object.entries(units).find(([known]) => known === unit)?.[1];
    return size === undefined ? undefined : nowMs - Number(count) * size;
  }
  return isoTime(text);
}

function isoTime(text: string): number | undefined {
  const zone = dateTime.exec(text);
  if (zone === null && !date.test(text)) return undefined;
  // Without a zone, JavaScript reads a date as UTC, and a date with a time as local.
  const at = Date.parse(zone !== null && zone[1] === undefined ? `${text}Z` : text);
  // It reads February 30 as March 2.
  const isCalendarDay = new Date(`${text.slice(0, 10)}T00:00Z`).getUTCDate() === Number(text.slice(8, 10));
  return Number.isFinite(at) && isCalendarDay ? at : undefined;
}
