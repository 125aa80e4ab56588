import { z } from "zod";
import { InvalidInput } from "../../domain/errors.ts";
import { maxLimit, parsePageQuery, type CursorForm, type PageRequest } from "../../domain/page.ts";

/** @throws InvalidInput that names every field and what it must be; `details` has the values that are no secrets */
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

/** Fields that may hold secrets, or a user's code. Where a field is not known to be harmless, add it. */
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
  const wanted = wantedBy(issue);
  return `is ${given === undefined && issue.path.length > 0 ? "missing" : "invalid"}: ${wanted}`;
}

/** A schema's own words, else what zod expected. Of alternatives without words, the last says what is wanted. */
function wantedBy(issue: z.core.$ZodIssue): string {
  const hasWords = !issue.message.startsWith("Invalid input");
  if (issue.code === "invalid_type" && (!hasWords || issue.expected === "int")) return `it must be ${article(issue.expected)}`;
  if (hasWords) return issue.message;
  const last = issue.code === "invalid_union" ? issue.errors.at(-1)?.[0] : undefined;
  return last === undefined ? issue.message : wantedBy(last);
}

/** As those say it who do not know zod. */
const typeNames: Readonly<Record<string, string>> = { record: "object", int: "integer" };

function article(expected: string): string {
  const type = typeNames[expected] ?? expected;
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;
}

/** Text that Postgres can be asked for: any but with the character U+0000 or with half a character, as a text has that was cut between two surrogates. */
export const text = z
  .string()
  .refine((value) => !value.includes("\0"), "it must not hold the character U+0000")
  .refine((value) => value.isWellFormed(), "it must not hold half of a surrogate pair");

/** Booleans of a body, and as the query writes them. */
export const flag = z.union(
  [z.boolean(), z.enum(["true", "1"]).transform(() => true), z.enum(["false", "0"]).transform(() => false)],
  "it must be true or false",
);

export const fieldParameters = z.object({ include: text.optional(), exclude: text.optional() });

/** A number of items, as a query or a body writes it; domain/page.ts reads it. */
export const itemCount = z.union([z.string(), z.number()], "it must be an integer from 1 to 100");

export const pageParameters = z.object({
  limit: itemCount.optional(),
  after: text.optional(),
  before: text.optional(),
});

/** `limit`, `after`, `before`. Empty cursors count as none: clients fill them from the first page's. @throws InvalidInput */
export function parsePage(parameters: unknown, form: CursorForm = "resource", limitIfAbsent?: number): PageRequest {
  const { limit, after, before } = parse(pageParameters, parameters);
  const cursors = { after: after === "" ? undefined : after, before: before === "" ? undefined : before };
  return parsePageQuery({ limit, ...cursors }, form, limitIfAbsent);
}

/** A page of a list of events: up to 100 when `limit` is absent. @throws InvalidInput */
export const parseEventPage = (parameters: unknown): PageRequest => parsePage(parameters, "event", maxLimit);

/** Does the caller ask for a page, where the whole list is the answer otherwise? */
export function asksForPage(parameters: Readonly<Record<string, unknown>>): boolean {
  return ["limit", "after", "before"].some((name) => parameters[name] !== undefined);
}
