import { InvalidInput } from "../errors.ts";

// Creating a formatter takes about 50 µs. There are about 600 zones, so the cache stays small.
const fixedZones = new Map<string, boolean>();
const firstYear = 2025;
const lastYear = 2037;

/** The zone as the IANA database spells it. @throws InvalidInput if it is unknown, or an offset instead of a name */
export function parseTimezone(timezone: string): string {
  // NATS looks up a zone as a file, case-sensitively, and supports no offsets such as +02:00.
  const resolved = /^[a-z]/i.test(timezone) ? resolve(timezone) : undefined;
  if (resolved !== undefined && resolved.toLowerCase() === timezone.toLowerCase()) return resolved;
  if (resolved !== undefined && /^[A-Z][\w+-]*(\/[A-Z][\w+-]*)*$/.test(timezone)) return timezone;
  throw new InvalidInput(`timezone '${timezone.slice(0, 100)}' is invalid: it must be a name of the IANA database such as Europe/Berlin`, {
    code: "invalid_timezone",
  });
}

/**
 * Whether the zone's offset from UTC never changes: it is the same on the 1st and the 15th of every month from 2025 to 2037. Each clock
 * change lasts for weeks, including those for Ramadan, so this finds all of them.
 */
export function isFixedZone(timezone: string): boolean {
  const cached = fixedZones.get(timezone);
  if (cached !== undefined) return cached;
  const fixed = hasOneOffset(timezone);
  fixedZones.set(timezone, fixed);
  return fixed;
}

function hasOneOffset(timezone: string): boolean {
  const format = new Intl.DateTimeFormat("en", { timeZone: timezone, timeZoneName: "longOffset" });
  const offsetAt = (ms: number): string | undefined => format.formatToParts(ms).find((part) => part.type === "timeZoneName")?.value;
  const first = offsetAt(Date.UTC(firstYear, 0, 1));
  for (let month = 0; month < (lastYear - firstYear + 1) * 12; month++) {
    for (const day of [1, 15]) if (offsetAt(Date.UTC(firstYear, month, day)) !== first) return false;
  }
  return true;
}

function resolve(timezone: string): string | undefined {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: timezone }).resolvedOptions().timeZone;
  } catch {
    return undefined; // A RangeError: Intl does not know the zone.
  }
}
