import { z } from "zod";
import { InvalidInput } from "../../../domain/errors.ts";
import { maxLimit, parsePageQuery, type CursorForm, type PageRequest } from "../../../domain/page.ts";

/** @throws InvalidInput that names every invalid field and what it must be; `details` has values that are not secret */
export function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map((issue) => {
    const given = valueAt(value, issue.path);
    return { field: issue.path.join("."), message: explain(issue, given), ...shownValue(issue.path, given) };
  });
  throw new InvalidInput(issues.map(({ field, message }) => (field === "" ? message : `${field} ${message}`)).join("; "), {
    details: issues,
  });
}

/** Fields that may contain secrets or user code. Add every field that is not known to be harmless. */
const secretFields = new Set([
  "credentials",
  "oauth",
  "configured_props",
  "component_code",
  "component_files",
  "component_url",
  "url",
  "event",
  "prev_context",
  "query",
]);
const maxShown = 80;

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

/** A string that Postgres can store: without U+0000, and without unpaired surrogates, as in a string that was cut within a pair. */
export const text = z
  .string()
  .refine((value) => !value.includes("\0"), "it must not contain U+0000")
  .refine((value) => value.isWellFormed(), "it must not contain half of a surrogate pair");

/** A boolean, also as written in a query. */
export const flag = z.union(
  [z.boolean(), z.enum(["true", "1"]).transform(() => true), z.enum(["false", "0"]).transform(() => false)],
  "it must be true or false",
);

export const fieldParameters = z.object({ include: text.optional(), exclude: text.optional() });

/** A number of items in a query or a body; domain/page.ts parses it. */
export const itemCount = z.union([z.string(), z.number()], "it must be an integer from 1 to 100");

export const pageParameters = z.object({
  limit: itemCount.optional(),
  after: text.optional(),
  before: text.optional(),
});

/** Parses `limit`, `after` and `before`. Empty cursors count as absent: clients copy them from the first page. @throws InvalidInput */
export function parsePage(parameters: unknown, form: CursorForm = "resource", defaultLimit?: number): PageRequest {
  const { limit, after, before } = parse(pageParameters, parameters);
  const cursors = { after: after === "" ? undefined : after, before: before === "" ? undefined : before };
  return parsePageQuery({ limit, ...cursors }, form, defaultLimit);
}

/** A page of a list of events: up to 100 when `limit` is absent. @throws InvalidInput */
export const parseEventPage = (parameters: unknown): PageRequest => parsePage(parameters, "event", maxLimit);

/** Whether the caller requests a page of a list that is otherwise returned whole. */
export function requestsPage(parameters: Readonly<Record<string, unknown>>): boolean {
  return ["limit", "after", "before"].some((name) => parameters[name] !== undefined);
}
