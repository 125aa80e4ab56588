import { dateTime } from "./time.ts";

const millisecondsFrom = 1e11;

/** Fields as `name:  value`, nested ones indented; epoch times as dates. */
export function fieldLines(value: unknown, indent = ""): string[] {
  if (typeof value !== "object" || value === null) return [`${indent}${scalarText("", value)}`];
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  const width = Math.max(0, ...entries.map(([name]) => name.length)) + 3;
  return entries.flatMap(([name, each]) => {
    const label = `${indent}${`${name}:`.padEnd(width)}`;
    if (isNested(each)) return [`${indent}${name}:`, ...nestedLines(each, `${indent}  `)];
    const [first = "", ...rest] = scalarText(name, each).split("\n");
    return [label + first, ...rest.map((line) => indent + " ".repeat(width) + line)];
  });
}

function nestedLines(value: object, indent: string): string[] {
  if (!Array.isArray(value)) return fieldLines(value, indent);
  return value.flatMap((item: unknown) => {
    const [first = "", ...rest] = fieldLines(item, `${indent}  `);
    return [`${indent}- ${first.trimStart()}`, ...rest];
  });
}

const isNested = (value: unknown): value is object =>
  typeof value === "object" && value !== null && (Array.isArray(value) ? value.length > 0 : Object.keys(value).length > 0);

function scalarText(name: string, value: unknown): string {
  if (value === null || value === undefined) return "-";
  if (typeof value === "object") return JSON.stringify(value);
  if (typeof value === "string") return value.trimEnd();
  if (typeof value !== "number") return JSON.stringify(value);
  if (value === Number.MAX_SAFE_INTEGER) return "no limit"; // What the API answers for a quota that does not exist.
  if (/(_at|_until|_ts|_end_ts|since)$/.test(name) && value > 1e9 && value < millisecondsFrom) return dateTime(value * 1_000);
  if (/(_ms|^ts)$/.test(name) && value >= millisecondsFrom) return dateTime(value);
  return String(value);
}
