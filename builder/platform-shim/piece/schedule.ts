import { own, textOf } from "./contract.ts";

/**
 * Times of a cron expression in a time zone: a trigger sets them when it is enabled. Of six fields the first, seconds, is not looked at: a
 * trigger runs at the ticks of its timer. `L` is the last day of a month, `5L` its last Friday, `5#2` its second Friday.
 */
export interface Schedule {
  readonly cronExpression: string;
  readonly timezone: string;
}

const minuteMs = 60_000;
/** How far back a time is looked for that a source has missed while it was paused. */
const maxMinutes = 40 * 24 * 60;
const monthNames = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const weekdayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

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
  const { minutes, hours, months, isDay } = fieldsOf(cronExpression);
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    hourCycle: "h23",
    minute: "numeric",
    hour: "numeric",
    day: "numeric",
    month: "numeric",
    year: "numeric",
    weekday: "short",
  });
  /** The minute of the hour at which a quarter begins, if its hour is one of the schedule. */
  const minuteAt = (time: number): number | undefined => {
    const part = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]));
    const number = (type: "minute" | "hour" | "day" | "month" | "year"): number => Number(part.get(type));
    const [date, month] = [number("day"), number("month")];
    const last = new Date(Date.UTC(number("year"), month, 0)).getUTCDate();
    const day = { date, last, weekday: weekdayNames.indexOf((part.get("weekday") ?? "").toLowerCase()) };
    return hours.has(number("hour")) && months.has(month) && isDay(day) ? number("minute") : undefined;
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

interface Day {
  readonly date: number;
  /** The last date of its month. */
  readonly last: number;
  /** 0: Sunday. */
  readonly weekday: number;
}

interface Fields {
  readonly minutes: Values;
  readonly hours: Values;
  readonly months: Values;
  readonly isDay: (day: Day) => boolean;
}

/** @throws Error unless all fields are valid */
function fieldsOf(expression: string): Fields {
  const given = expression.trim().toLowerCase().split(/\s+/);
  const [minutes = "", hours = "", dates = "", months = "", weekdays = ""] = given.length === 6 ? given.slice(1) : given;
  if (given.length !== 5 && given.length !== 6)
    throw new Error(`the schedule "${expression}" of the trigger is no cron expression with five or six fields`);
  const read = (text: string, range: Range): Values => {
    const values = text.split(",").map((part) => valuesOf(part, range));
    if (values.some(({ length }) => length === 0)) throw new Error(`the schedule "${expression}" of the trigger is invalid: ${text}`);
    return new Set(values.flat());
  };
  if (given.length === 6) read(given[0] ?? "", { from: 0, to: 59 });
  const isDate = anyPart(dates, (part) => {
    if (part === "l") return ({ date, last }) => date === last;
    const values = read(part, { from: 1, to: 31 });
    return ({ date }) => values.has(date);
  });
  const isWeekday = anyPart(weekdays, (part) => {
    const [, name = part, nth] = /^(\w+?)(?:l|#([1-5]))$/.exec(part) ?? [];
    const values = new Set([...read(name, { from: 0, to: 7, names: weekdayNames })].map((day) => day % 7));
    const isWeek = name === part ? () => true : nth === undefined ? isLastWeek : ({ date }: Day) => Math.ceil(date / 7) === Number(nth);
    return (day) => values.has(day.weekday) && isWeek(day);
  });
  // As cron does: with both, either is enough.
  const isAny = [dates, weekdays].some((text) => /^[*?]/.test(text));
  return {
    minutes: read(minutes, { from: 0, to: 59 }),
    hours: read(hours, { from: 0, to: 23 }),
    months: read(months, { from: 1, to: 12, names: ["", ...monthNames] }),
    isDay: (day) => (isAny ? isDate(day) && isWeekday(day) : isDate(day) || isWeekday(day)),
  };
}

type IsDay = (day: Day) => boolean;

const isLastWeek: IsDay = ({ date, last }) => date + 7 > last;

function anyPart(field: string, read: (part: string) => IsDay): IsDay {
  const parts = field.split(",").map(read);
  return (day) => parts.some((isPart) => isPart(day));
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly names?: readonly string[];
}

/** `*`, `5`, `mon-fri`, each with `/2`. Empty if it is none of these. */
function valuesOf(part: string, { from, to, names = [] }: Range): number[] {
  const [, first = "", last, step] = /^(\*|\?|\w+)(?:-(\w+))?(?:\/(\d+))?$/.exec(part) ?? [];
  const numberOf = (text: string): number => (names.includes(text) ? names.indexOf(text) : Number(text));
  const isAll = first === "*" || first === "?";
  const low = isAll ? from : numberOf(first);
  const high = isAll || (last === undefined && step !== undefined) ? to : numberOf(last ?? first);
  const by = Number(step ?? 1);
  if (first === "" || !(low >= from && high <= to && low <= high && by >= 1)) return [];
  return Array.from({ length: Math.floor((high - low) / by) + 1 }, (_, at) => low + at * by);
}
