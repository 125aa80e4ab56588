import { InvalidInput } from "../errors.ts";

/**
 * Cron expressions of five fields, in the dialect that NATS and the library agree on: numbers, names, lists, ranges
 * and steps over `*` or a range. `L`, `W`, `#`, wrapping ranges and `5/15` mean different things to different parsers, so they are
 * refused; `7` for Sunday, names, `?` and `*` + `/1` are rewritten to what both read alike.
 */
interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const fields: readonly Field[] = [
  { name: "minute", min: 0, max: 59, names: [] },
  { name: "hour", min: 0, max: 23, names: [] },
  { name: "day of month", min: 1, max: 31, names: [] },
  { name: "month", min: 1, max: 12, names: months },
  { name: "day of week", min: 0, max: 7, names: weekdays },
];

/** The same expression with single spaces and numbers only. @throws InvalidInput naming the field and its bounds. */
export function normalizeCron(cron: string): string {
  const parts = cron.trim().split(/\s+/);
  const refuse = (reason: string): InvalidInput =>
    new InvalidInput(`cron '${cron.slice(0, 200)}' is invalid: ${reason}`, { code: "invalid_cron" });
  if (parts.length !== fields.length) {
    const seconds = parts.length === 6 ? " (seconds cannot be given; for less than a minute use intervalSeconds)" : "";
    throw refuse(
      `it has ${cron.trim() === "" ? 0 : parts.length} fields and must have 5, minute hour day-of-month month day-of-week${seconds}`,
    );
  }
  return fields.map((field, i) => normalizeField(field, (parts[i] ?? "").toLowerCase(), refuse)).join(" ");
}

type Refuse = (reason: string) => InvalidInput;

function normalizeField(field: Field, text: string, refuse: Refuse): string {
  const items = text.split(",").map((item) => normalizeItem(field, item, refuse));
  // A list with `*` is every value; the two parsers differ on whether it restricts the day, so it becomes the plain star.
  return items.includes("*") ? "*" : [...new Set(items)].join(",");
}

function normalizeItem(field: Field, item: string, refuse: Refuse): string {
  const match = /^(\*|\?|[a-z0-9]+)(?:-([a-z0-9]+))?(?:\/([0-9]+))?$/.exec(item);
  const [, start, end, stepText] = match ?? [];
  if (start === undefined) throw refuse(`${field.name} '${item}' is none of *, a number, a range a-b, or a step */n or a-b/n`);
  const step = stepText === undefined ? 1 : Number(stepText);
  const span = field.max - field.min + (field.max === 7 ? 0 : 1);
  if (step < 1 || step > span) throw refuse(`the step of ${field.name} must be 1 to ${span}`);
  if (start === "*" || (start === "?" && field.name.startsWith("day"))) {
    if (end !== undefined) throw refuse(`${field.name} '${item}' is a range that begins with ${start}`);
    return step === 1 ? "*" : `*/${step}`;
  }
  const low = parseValue(field, start, refuse);
  if (end === undefined) {
    if (stepText !== undefined)
      throw refuse(`${field.name} '${item}' is a step over one value: write ${low}-${field.max === 7 ? 6 : field.max}/${step}`);
    return String(field.max === 7 ? low % 7 : low);
  }
  return normalizeRange(field, low, parseValue(field, end, refuse), step, refuse);
}

function normalizeRange(field: Field, low: number, high: number, step: number, refuse: Refuse): string {
  // `fri-sun` means through Sunday; as numbers it is 5-7.
  const top = field.max === 7 && high === 0 && low > 0 ? 7 : high;
  if (low > top)
    throw refuse(`the range of ${field.name} ${low}-${high} runs backwards: write it as two, ${low}-${field.max} and ${field.min}-${high}`);
  if (field.max !== 7 || top < 7) return step === 1 ? `${low}-${top}` : `${low}-${top}/${step}`;
  return [...new Set(daysBetween(low, step))].join(",");
}

/** A range that ends on 7 spelled out, with 7 as 0. */
function daysBetween(low: number, step: number): readonly number[] {
  const days: number[] = [];
  for (let day = low; day <= 7; day += step) days.push(day % 7);
  return days;
}

function parseValue(field: Field, text: string, refuse: Refuse): number {
  const named = field.names.indexOf(text);
  if (named !== -1) return named + field.min;
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= field.min && value <= field.max))
    throw refuse(
      `${field.name} must be ${field.min} to ${field.max}${field.names.length > 0 ? ` or ${field.names[0]} to ${field.names.at(-1)}` : ""}`,
    );
  return value;
}
