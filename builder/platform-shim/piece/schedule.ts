import { own, textOf } from "./contract.ts";

/** Times of a cron expression with five fields, in a time zone: a trigger sets them when it is enabled. */
export interface Schedule {
  readonly cronExpression: string;
  readonly timezone: string;
}

const minuteMs = 60_000;
/** How far back a time is looked for that a source has missed while it was paused. */
const maxMinutes = 40 * 24 * 60;
const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** @throws Error if it is none */
export function scheduleOf(given: unknown): Schedule {
  const cronExpression = textOf(own(given, "cronExpression"));
  if (cronExpression === undefined) throw new Error("the trigger set a schedule without a cron expression");
  fieldsOf(cronExpression);
  const timezone = textOf(own(given, "timezone")) ?? "UTC";
  new Intl.DateTimeFormat("en-US", { timeZone: timezone }); // Throws for what is none.
  return { cronExpression, timezone };
}

/** Is there a time of the schedule after one moment, and not after the other? Both are milliseconds. */
export function isDue({ cronExpression, timezone }: Schedule, after: number, until: number): boolean {
  const [minutes, hours, dates, monthNumbers, weekdays] = fieldsOf(cronExpression);
  const isAnyDate = dates.size === 31;
  const isAnyWeekday = weekdays.size === 7;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    hourCycle: "h23",
    minute: "numeric",
    hour: "numeric",
    day: "numeric",
    month: "numeric",
    weekday: "short",
  });
  /** The minute of the hour at which a quarter begins, if its hour is one of the schedule. */
  const minuteAt = (time: number): number | undefined => {
    const part = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]));
    const number = (type: "minute" | "hour" | "day" | "month"): number => Number(part.get(type));
    const isDate = dates.has(number("day"));
    const isWeekday = weekdays.has(days.indexOf((part.get("weekday") ?? "").toLowerCase()));
    // As cron does: with both, either is enough.
    const isDay = isAnyDate || isAnyWeekday ? isDate && isWeekday : isDate || isWeekday;
    return isDay && hours.has(number("hour")) && monthNumbers.has(number("month")) ? number("minute") : undefined;
  };
  const last = Math.floor(until / minuteMs);
  const first = Math.max(Math.floor(after / minuteMs) + 1, last - maxMinutes);
  // The offset of each time zone is a number of quarters, so that a quarter is in one hour.
  for (let quarter = last - (last % 15); quarter > first - 15; quarter -= 15) {
    const begin = minuteAt(quarter * minuteMs);
    if (begin === undefined) continue;
    for (let minute = Math.max(quarter, first); minute <= Math.min(quarter + 14, last); minute++)
      if (minutes.has(begin + minute - quarter)) return true;
  }
  return false;
}

type Values = ReadonlySet<number>;

function fieldsOf(expression: string): readonly [minutes: Values, hours: Values, dates: Values, months: Values, weekdays: Values] {
  const fields = expression.trim().toLowerCase().split(/\s+/);
  const [minutes = "", hours = "", dates = "", monthNumbers = "", weekdays = ""] = fields;
  if (fields.length !== 5) throw new Error(`the schedule "${expression}" of the trigger is no cron expression with five fields`);
  const read = (text: string, from: number, to: number, names: readonly string[] = []): Values => {
    const values = text.split(",").flatMap((part) => valuesOf(part, { from, to, names }));
    if (values.length === 0) throw new Error(`the schedule "${expression}" of the trigger is invalid: ${text}`);
    return new Set(values);
  };
  const weekdayValues = [...read(weekdays, 0, 7, days)].map((day) => day % 7);
  return [read(minutes, 0, 59), read(hours, 0, 23), read(dates, 1, 31), read(monthNumbers, 1, 12, ["", ...months]), new Set(weekdayValues)];
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly names: readonly string[];
}

/** `*`, `5`, `mon-fri`, each with `/2`. Empty if it is none of these. */
function valuesOf(part: string, { from, to, names }: Range): number[] {
  const [, first = "", last, step] = /^(\*|\?|\w+)(?:-(\w+))?(?:\/(\d+))?$/.exec(part) ?? [];
  const numberOf = (text: string): number => (names.includes(text) ? names.indexOf(text) : Number(text));
  const isAll = first === "*" || first === "?";
  const low = isAll ? from : numberOf(first);
  const high = isAll || (last === undefined && step !== undefined) ? to : numberOf(last ?? first);
  const by = Number(step ?? 1);
  if (first === "" || !(low >= from && high <= to && low <= high && by >= 1)) return [];
  return Array.from({ length: Math.floor((high - low) / by) + 1 }, (_, at) => low + at * by);
}
