import { z } from "zod";
import type { Method } from "../http/routing/route-table.ts";
import { warningSchema } from "../resources/schemas.ts";

/** What one method of one path takes and answers. Its schemas are those by which the route reads a request and tests read its answers. */
export interface Operation {
  /** Unique: what generated clients call it. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  /** Parameters of the query. Those that many operations have are described once, in `fields.ts`. */
  readonly query?: z.ZodObject;
  /** Headers that mean something here alone, and what. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: z.ZodObject;
  /** The fields of the body may be parameters of the query as well; those win. */
  readonly bodyOrQuery?: true;
  /** What fields mean here, where that is not what `fields.ts` says. */
  readonly means?: Readonly<Record<string, string>>;
  /** Whatever the method, it only reads: a body in which no field is known does no harm. */
  readonly onlyReads?: true;
  /** The body may be a form with the files of a component. */
  readonly takesFiles?: true;
  /** The caller authenticates as an OAuth client instead of with a Bearer key. Error responses are among the answers. */
  readonly authentication?: "client";
  /** By status. */
  readonly answers: Readonly<Record<number, Answer>>;
  /** Statuses of errors that it has beside those that follow from the rest, see `errors.ts`. */
  readonly errors?: readonly number[];
}

/** A schema of JSON, a text, or nothing at all. */
export type Answer = z.ZodType | { readonly contentType: string; readonly description: string } | null;

/** By method and path as the route table has it: `GET /sources/:id`. */
export type Operations = Readonly<Partial<Record<`${Method} /${string}`, Operation>>>;

const pageInfoSchema = z
  .object({
    total_count: z.int().describe("Of the whole list."),
    count: z.int().describe("Of this page."),
    start_cursor: z.string().nullable(),
    end_cursor: z.string().nullable().describe("For `after`, to go on."),
    excluded_count: z.int().describe("What this page leaves out because it is being deleted."),
  })
  .meta({ id: "PageInfo" });

/** Beside `data`, so that clients which decode `data` alone do not meet it. */
const warnings = z.array(warningSchema).optional().describe("Absent when there are none.");

/** 200 with one thing. */
export const one = <Schema extends z.ZodType>(schema: Schema) => ({ 200: z.object({ data: schema, warnings }) });

/** 200 with all of a list. */
export const all = <Schema extends z.ZodType>(schema: Schema) => ({ 200: z.object({ data: z.array(schema), warnings }) });

/** 200 with a page of a list. */
export const page = <Schema extends z.ZodType>(schema: Schema) => ({
  200: z.object({ page_info: pageInfoSchema, data: z.array(schema), warnings }),
});

/** 202 with what is under way. */
export const accepted = <Schema extends z.ZodType>(schema: Schema) => ({ 202: z.object({ data: schema, warnings }) });

/** 204. */
export const nothing = { 204: null } as const;
