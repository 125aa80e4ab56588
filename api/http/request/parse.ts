import { z } from "zod";
import { InvalidInput, maxDetails } from "../../../domain/errors.ts";

/** @throws InvalidInput that names every invalid field and what it must be; `details` has values that are not secret */
export function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, maxDetails).map((issue) => {
    const given = valueAt(value, issue.path);
    return { field: issue.path.join(".").slice(0, maxPath), message: explain(issue, given), ...shownValue(issue.path, given) };
  });
  throw new InvalidInput(issues.map(({ field, message }) => (field === "" ? message : `${field} ${message}`)).join("; "), {
    details: issues,
  });
}

/** Fields that may contain secrets or user code. Add every field that is not known to be harmless. */
const secretFields = new Set([
  "api_key",
  "link",
  "credentials",
  "oauth",
  "configured_props",
  "component_code",
  "component_files",
  "component_url",
  "url",
  "event",
  "steps",
  "prev_context",
  "query",
]);
const maxShown = 80;
/** Characters: names of fields can be as long as a body. */
const maxPath = 300;

function shownValue(path: readonly PropertyKey[], given: unknown): { readonly value?: unknown } {
  if (secretFields.has(String(path[0])) || given === undefined || typeof given === "object") return {};
  return { value: typeof given === "string" ? given.slice(0, maxShown) : given };
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, key) => (typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined), value);
}

function explain(issue: z.core.$ZodIssue, given: unknown): string {
  const expectation = expectationOf(issue);
  return `is ${given === undefined && issue.path.length > 0 ? "missing" : "invalid"}: ${expectation}`;
}

/** The schema's own message, or what zod expected. Of alternatives without a message, the last one decides. */
function expectationOf(issue: z.core.$ZodIssue): string {
  const hasMessage = !issue.message.startsWith("Invalid input");
  if (issue.code === "invalid_type" && (!hasMessage || issue.expected === "int")) return `it must be ${article(issue.expected)}`;
  if (hasMessage) return issue.message;
  const last = issue.code === "invalid_union" ? issue.errors.at(-1)?.[0] : undefined;
  return last === undefined ? issue.message : expectationOf(last);
}

/** Common names of zod's types. */
const typeNames: Readonly<Record<string, string>> = { record: "object", int: "integer" };

function article(expected: string): string {
  const type = typeNames[expected] ?? expected;
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;
}
