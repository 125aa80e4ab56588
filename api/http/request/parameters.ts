import { z } from "zod";
import "zod-openapi"; // For the types of `override` and `param`.
import { httpUrl as storedUrl } from "../../../crds/rules.ts";
import { isNpmAddress } from "../../../domain/component/npm-origin.ts";
import { hostProblem } from "../../../domain/http-url.ts";
import { suggestion } from "../../../domain/nearest-name.ts";
import { maxLimit, parsePageQuery, type CursorForm, type PageRequest } from "../../../domain/page.ts";
import { parse } from "./parse.ts";

/** A string that Postgres can store: without U+0000, and without unpaired surrogates, as in a string that was cut within a pair. */
export const text = z
  .string()
  .refine((value) => !value.includes("\0"), "it must not contain U+0000")
  .refine((value) => value.isWellFormed(), "it must not contain half of a surrogate pair");

/** A boolean, also as written in a query; the document shows only the boolean. */
export const flag = z
  .union(
    [z.boolean(), z.enum(["true", "1"]).transform(() => true), z.enum(["false", "0"]).transform(() => false)],
    "it must be true or false",
  )
  .meta({
    override: ({ jsonSchema }) => {
      delete jsonSchema.anyOf;
      jsonSchema.type = "boolean";
    },
  });

/** A number of items in a query or a body; domain/page.ts parses it. */
export const itemCount = z.union([z.string(), z.number()], "it must be an integer from 1 to 100").meta({
  override: ({ jsonSchema }) => {
    delete jsonSchema.anyOf;
    Object.assign(jsonSchema, { type: "integer", minimum: 1 });
  },
});

/** Absent and null are equivalent, for clients that always send every field. */
export const optional = <T>(schema: z.ZodType<T>) => schema.nullish().transform((value) => value ?? undefined);

/** Empty strings count as absent too: in some languages, unset fields are sent as empty strings. */
export const optionalText = (schema: z.ZodType<string>) =>
  schema.nullish().transform((value) => (value === "" ? undefined : (value ?? undefined)));

/** A query parameter whose empty value counts as absent. The document shows only the schema itself. */
export const optionalParameter = <T>(schema: z.ZodType<T>, message?: string) =>
  z.union([z.literal("").transform(() => undefined), schema], message).optional();

const maxSearchedLength = 200;
/** Text that the items of a list must contain. */
export const searchedText = text.max(maxSearchedLength, `it must have at most ${maxSearchedLength} characters`).optional();

/** A query parameter with one of these values; a refusal names the nearest one. An empty value counts as absent. */
export function optionalChoice<const Values extends readonly [string, ...string[]]>(values: Values) {
  const all = `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`;
  // Hints ignore `-`, which reverses an order.
  const alike = (input: string): readonly string[] => values.filter((value) => value.startsWith("-") === input.startsWith("-"));
  const message = ({ input }: { readonly input?: unknown }): string =>
    `it must be ${all}${typeof input === "string" ? suggestion(input, alike(input)) : ""}`;
  return z.union([z.literal("").transform(() => undefined), z.enum(values, { error: message })], { error: message }).optional();
}

const tooLongUrl = "it must have at most 2048 characters";
const invalidUrl = "it must begin with http:// or https:// and have a host name";

const notAsWritten =
  "it must be written as a URL is: a blank, a control character or a lone % as %20, %00 or %25, and no fragment next to the host";
const maxUrlCharacters = 2_048;

/** The first problem only: a URL that is too long would have others. */
const checkedUrl = (problemOf: (url: string) => string | undefined) =>
  z
    .string()
    .superRefine((value, context) => {
      const message = value.length > maxUrlCharacters ? tooLongUrl : problemOf(value);
      if (message !== undefined) context.addIssue({ code: "custom", message });
    })
    .meta({ maxLength: maxUrlCharacters });

const httpUrlProblem = (value: string): string | undefined => {
  if (!/^https?:\/\/[^/?#\s]/i.test(value)) return invalidUrl;
  return hostProblem(value) ?? (isHttpUrl(value) ? undefined : invalidUrl);
};

/** Where a component is: an address that is only read, or one of npm, `npm:…`, which `codeOf` checks. */
export const componentAddress = checkedUrl((value) => {
  const problem = value === "" || isNpmAddress(value) ? undefined : httpUrlProblem(value);
  return problem === invalidUrl ? `${invalidUrl}, or be an address of npm such as npm:<package>/<file>` : problem;
});

/** A URL that is stored unchanged, and that no parser reads as another address. */
export const httpUrl = checkedUrl((value) => httpUrlProblem(value) ?? (storedUrl.safeParse(value).success ? undefined : notAsWritten));

function isHttpUrl(value: string): boolean {
  // URL is lenient ("http:x" has the host x); the specification is not.
  return /^https?:\/\/[^/?#\s]/i.test(value) && URL.canParse(value) && new URL(value).hostname !== "";
}

/** Parameters of nearly all operations. Their schemas are shared instances: the document lists each once and refers to it. */
const common = <Schema extends z.ZodType>(schema: Schema, id: string, description: string): Schema =>
  schema.meta({ description, param: { id } });

export const fieldParameters = z.object({
  include: common(text.optional(), "include", "Comma-separated fields of `data` to return."),
  exclude: common(text.optional(), "exclude", "Comma-separated fields of `data` to omit."),
});

/** The owner on whose behalf a request acts. */
export const ownerParameters = z.object({
  org_id: common(text.optional(), "org_id", "Acts on behalf of this organization, `o_…`, instead of the user."),
  workspace_id: common(text.optional(), "workspace_id", "The same as `org_id`."),
});

/** A page of a list. */
export const pages = z.object({
  limit: itemCount.optional().meta({
    default: 10,
    description: "Maximum items of a page; more than 100 counts as 100.",
    param: { id: "limit" },
  }),
  after: common(text.optional(), "after", "The page after this cursor: an `end_cursor` of `page_info`."),
  before: common(text.optional(), "before", "The page before this cursor: a `start_cursor` of `page_info`. Not together with `after`."),
});

/** A page of a list of the caller, or of the organization in `org_id`. */
export const ownPages = pages.extend(ownerParameters.shape);

/** A page of a list of events. */
export const eventPages = pages.extend({
  limit: itemCount.optional().meta({ default: maxLimit, description: "Maximum items of a page, at most 100." }),
});

/** Parses `limit`, `after` and `before`. Empty cursors count as absent: clients copy them from the first page. @throws InvalidInput */
export function parsePage(parameters: unknown, form: CursorForm = "resource", defaultLimit?: number): PageRequest {
  const { limit, after, before } = parse(pages, parameters);
  const cursors = { after: after === "" ? undefined : after, before: before === "" ? undefined : before };
  return parsePageQuery({ limit, ...cursors }, form, defaultLimit);
}

/** A page of a list of events: up to 100 when `limit` is absent. @throws InvalidInput */
export const parseEventPage = (parameters: unknown): PageRequest => parsePage(parameters, "event", maxLimit);

/** Whether the caller requests a page of a list that is otherwise returned whole. */
export function requestsPage(parameters: Readonly<Record<string, unknown>>): boolean {
  return ["limit", "after", "before"].some((name) => parameters[name] !== undefined);
}
