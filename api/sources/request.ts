import { z } from "zod";
import { flag, text } from "../http/parameters.ts";

export const httpUrl = z
  .string()
  .max(2_048, "it must have at most 2048 characters")
  .refine(isHttpUrl, "it must begin with http:// or https:// and have a host name");

/** Absent and null mean the same, as clients that always send every field mean it. */
const optional = <T>(schema: z.ZodType<T>) => schema.nullish().transform((value) => value ?? undefined);

/** Where code comes from; unknown fields are ignored. */
export const codeFields = z.object({
  component_id: optional(text),
  component_code: optional(z.string().min(1, "it must not be empty")),
  component_url: optional(httpUrl),
  component_files: optional(z.record(z.string(), z.string())),
  component_entry: optional(z.string().min(1, "it must not be empty")),
  key: optional(z.string().min(1, "it must not be empty").max(255, "it must have at most 255 characters")),
});
export type CodeFields = z.infer<typeof codeFields>;

/** The body of POST and PUT. */
export const sourceFields = codeFields.extend({
  name: optional(text.min(1, "it must not be empty").max(255, "it must have at most 255 characters")),
  configured_props: optional(z.record(z.string(), z.unknown())),
  active: optional(z.boolean()),
  emit_on_deploy: optional(z.boolean()),
});
export type SourceFields = z.infer<typeof sourceFields>;

export const deletionFields = z.object({ ignore_hook_errors: flag.optional() });

function isHttpUrl(value: string): boolean {
  // URL itself is lenient ("http:x" has the host x); this asks for what the specification asks for.
  return /^https?:\/\/[^/?#\s]/i.test(value) && URL.canParse(value) && new URL(value).hostname !== "";
}
