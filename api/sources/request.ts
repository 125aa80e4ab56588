import { z } from "zod";
import { httpUrl as storedUrl } from "../../crds/rules.ts";
import { flag, text } from "../http/request/parameters.ts";

const tooLong = "it must have at most 2048 characters";
const invalidUrl = "it must begin with http:// or https:// and have a host name";

/** A URL that is stored unchanged, and that no parser reads as another address. */
export const httpUrl = z
  .string()
  .max(2_048, tooLong)
  .refine(isHttpUrl, invalidUrl)
  .refine(
    (value) => !isHttpUrl(value) || storedUrl.safeParse(value).success,
    "it must be written as a URL is: a blank, a control character or a lone % as %20, %00 or %25, and no fragment next to the host",
  );

/** Absent and null are equivalent, for clients that always send every field. */
const optional = <T>(schema: z.ZodType<T>) => schema.nullish().transform((value) => value ?? undefined);

/** Empty strings count as absent too: in some languages, unset fields are sent as empty strings. */
const optionalText = (schema: z.ZodType<string>) =>
  schema.nullish().transform((value) => (value === "" ? undefined : (value ?? undefined)));

/** Fields that name code; unknown fields are ignored. */
export const codeFields = z.object({
  component_id: optionalText(text),
  component_code: optionalText(z.string()),
  component_url: optionalText(
    z
      .string()
      .max(2_048, tooLong)
      .refine((value) => value === "" || isHttpUrl(value), invalidUrl),
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
  // URL is lenient ("http:x" has the host x); the specification is not.
  return /^https?:\/\/[^/?#\s]/i.test(value) && URL.canParse(value) && new URL(value).hostname !== "";
}
