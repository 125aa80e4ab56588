import { z } from "zod";
import { httpUrl as storedUrl } from "../../crds/rules.ts";
import { flag, text } from "../http/parameters.ts";

const tooLong = "it must have at most 2048 characters";
const noHttpUrl = "it must begin with http:// or https:// and have a host name";

/** What is stored as it is given: another parser must not read another address in it. */
export const httpUrl = z
  .string()
  .max(2_048, tooLong)
  .refine(isHttpUrl, noHttpUrl)
  .refine(
    (value) => !isHttpUrl(value) || storedUrl.safeParse(value).success,
    "it must be written as a URL is: a blank, a control character or a lone % as %20, %00 or %25, and no fragment next to the host",
  );

/** Absent and null mean the same, as clients that always send every field mean it. */
const optional = <T>(schema: z.ZodType<T>) => schema.nullish().transform((value) => value ?? undefined);

/** An empty text says nothing either: languages whose fields always have a value send it for those that nobody set. */
const optionalText = (schema: z.ZodType<string>) =>
  schema.nullish().transform((value) => (value === "" ? undefined : (value ?? undefined)));

/** Where code comes from; unknown fields are ignored. */
export const codeFields = z.object({
  component_id: optionalText(text),
  component_code: optionalText(z.string()),
  component_url: optionalText(
    z
      .string()
      .max(2_048, tooLong)
      .refine((value) => value === "" || isHttpUrl(value), noHttpUrl),
  ),
  component_files: optional(z.record(z.string(), z.string())),
  component_entry: optionalText(z.string()),
  key: optionalText(z.string().max(255, "it must have at most 255 characters")),
});
export type CodeFields = z.infer<typeof codeFields>;

/** The body of POST and PUT. */
export const sourceFields = codeFields.extend({
  name: optionalText(text.max(255, "it must have at most 255 characters")),
  configured_props: optional(z.record(z.string(), z.unknown())),
  active: optional(flag),
  emit_on_deploy: optional(flag),
});
export type SourceFields = z.infer<typeof sourceFields>;

/** The body of PUT; `ignore_hook_errors` may also be in the query, as in DELETE. */
export const updateFields = sourceFields.extend({ ignore_hook_errors: optional(flag) });
export type UpdateFields = z.infer<typeof updateFields>;

export const deletionFields = z.object({ ignore_hook_errors: flag.optional() });

function isHttpUrl(value: string): boolean {
  // URL itself is lenient ("http:x" has the host x); this asks for what the specification asks for.
  return /^https?:\/\/[^/?#\s]/i.test(value) && URL.canParse(value) && new URL(value).hostname !== "";
}
