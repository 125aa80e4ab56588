import { z } from "zod";

/** Schemas of response envelopes, by status, for the declarations of operations. */

const warningSchema = z
  .object({
    code: z.string().describe("For programs: stable, snake_case."),
    message: z.string().describe("What was found, and how to fix it."),
    path: z.string().describe("A field of the request, or a path in the component's definition, such as `props.count.default`."),
  })
  .meta({ id: "Warning", description: "A probable mistake in an accepted request." });

/** Next to `data`, so that clients that decode only `data` are not affected. */
const warnings = z.array(warningSchema).optional().describe("Absent when there are none.");

const pageInfoSchema = z
  .object({
    total_count: z.int().describe("Number of items in the whole list."),
    count: z.int().describe("Number of items on this page."),
    start_cursor: z.string().nullable().describe("`before` for the previous page."),
    end_cursor: z.string().nullable().describe("`after` for the next page."),
    excluded_count: z.int().describe("Number of items that this page omits because they are being deleted."),
  })
  .meta({ id: "PageInfo" });

/** 200 with one object. */
export const one = <Schema extends z.ZodType>(schema: Schema) => ({ 200: z.object({ data: schema, warnings }) });

/** 200 with a whole list. */
export const all = <Schema extends z.ZodType>(schema: Schema) => ({ 200: z.object({ data: z.array(schema), warnings }) });

/** 200 with a page of a list. */
export const page = <Schema extends z.ZodType>(schema: Schema) => ({
  200: z.object({ page_info: pageInfoSchema, data: z.array(schema), warnings }),
});

/** 202 with work in progress. */
export const inProgress = <Schema extends z.ZodType>(schema: Schema) => ({ 202: z.object({ data: schema, warnings }) });

/** 204. */
export const nothing = { 204: null } as const;
