import { z } from "zod";
import { InvalidInput } from "../../domain/errors.ts";
import { parsePageQuery, type CursorForm, type PageRequest } from "../../domain/page.ts";

/** @throws InvalidInput that names every field and what it must be, and no value: one may be a secret. */
export function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map((issue) => ({ field: issue.path.join("."), message: explain(issue) }));
  throw new InvalidInput(issues.map(({ field, message }) => (field === "" ? message : `${field} ${message}`)).join("; "), {
    details: issues,
  });
}

function explain(issue: z.core.$ZodIssue): string {
  const missing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
  if (missing) return `is missing: it must be ${article(issue.expected)}`;
  return issue.code === "invalid_type" ? `is invalid: it must be ${article(issue.expected)}` : `is invalid: ${issue.message}`;
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

export const pageParameters = z.object({
  limit: z.union([z.string(), z.number()], "it must be an integer from 1 to 100").optional(),
  after: text.optional(),
  before: text.optional(),
});

/** `limit`, `after`, `before`. Empty cursors count as none: clients fill them from the first page's. @throws InvalidInput */
export function parsePage(parameters: unknown, form: CursorForm = "resource"): PageRequest {
  const { limit, after, before } = parse(pageParameters, parameters);
  return parsePageQuery({ limit, after: after === "" ? undefined : after, before: before === "" ? undefined : before }, form);
}

/** Does the caller ask for a page, where the whole list is the answer otherwise? */
export function asksForPage(parameters: Readonly<Record<string, unknown>>): boolean {
  return ["limit", "after", "before"].some((name) => parameters[name] !== undefined);
}
