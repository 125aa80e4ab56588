import { valueAt } from "../shared/json-path.ts";

type Test = (value: unknown, wanted: unknown) => boolean;

const asText = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
const isEqual: Test = (value, wanted) => value === wanted || (value !== undefined && asText(value) === asText(wanted));
const compare =
  (holds: (order: number) => boolean): Test =>
  (value, wanted) => {
    if (value === undefined || value === null) return false;
    const [a, b] = [Number(value), Number(wanted)];
    if (!Number.isNaN(a) && !Number.isNaN(b)) return holds(a - b);
    return holds(asText(value) < asText(wanted) ? -1 : Number(asText(value) > asText(wanted)));
  };

const contains: Test = (value, wanted) =>
  Array.isArray(value) ? value.some((each) => isEqual(each, wanted)) : typeof value === "string" && value.includes(asText(wanted));

/** Longer ones first, so that `>=` is not read as `>`. */
const tests: Readonly<Record<string, Test>> = {
  "!=": (value, wanted) => !isEqual(value, wanted),
  ">=": compare((order) => order >= 0),
  "<=": compare((order) => order <= 0),
  "=": isEqual,
  ">": compare((order) => order > 0),
  "<": compare((order) => order < 0),
  contains,
  "starts with": (value, wanted) => asText(value).startsWith(asText(wanted)),
  "ends with": (value, wanted) => asText(value).endsWith(asText(wanted)),
  matches: (value, wanted) => new RegExp(asText(wanted)).test(asText(value)),
};
const withoutValue: Readonly<Record<string, (value: unknown) => boolean>> = {
  exists: (value) => value !== undefined,
  "is missing": (value) => value === undefined,
};

/** A part of a path: a character, or brackets, within whose quotes anything may stand. */
const pathShape = String.raw`(?:\[(?:"[^"]*"|'[^']*'|\d+)\]|[^\s[])`;

/** One line, `<path> <test> <value>`: the value is JSON, or text as it stands. @throws Error that says what a condition looks like */
export function parseCondition(line: string): (event: unknown) => boolean {
  const [, path = "", name = ""] = new RegExp(`^\\s*(${pathShape}+)\\s+(exists|is missing)\\s*$`).exec(line) ?? [];
  const alone = withoutValue[name];
  if (alone !== undefined) return (event) => alone(valueAt(event, path));
  const words = Object.keys(tests).map((test) => (/\w/.test(test) ? `${test}\\b` : test));
  const [, subject, operator = "", written = ""] =
    new RegExp(`^\\s*(${pathShape}+?)\\s*(${words.join("|")})\\s*(.*?)\\s*$`).exec(line) ?? [];
  const test = tests[operator];
  if (subject === undefined || test === undefined)
    throw new Error(
      `the condition "${line}" cannot be read: it must look like "order.total >= 100", with one of ${[...Object.keys(tests), ...Object.keys(withoutValue)].join(", ")}`,
    );
  const wanted = parseValue(written);
  return (event) => test(valueAt(event, subject), wanted);
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
