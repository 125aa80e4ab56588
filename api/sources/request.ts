import { z } from "zod";
import { codeFields } from "../components/request.ts";
import { flag, optional, optionalText, text } from "../http/request/parameters.ts";

/** The body of POST and PUT. */
export const sourceFields = codeFields.extend({
  name: optionalText(text.max(255, "it must have at most 255 characters")).describe("Display name."),
  configured_props: optional(z.record(z.string(), z.unknown())).describe("Values by name of the prop."),
  active: optional(flag).describe("False: the source is paused."),
  emit_on_deploy: optional(flag).describe("False: events of the deploy hook are dropped."),
});
export type SourceFields = z.infer<typeof sourceFields>;

const aboutIgnoredErrors = "True: the deactivate hook is called once instead of three times.";

/** The body of PUT; `ignore_hook_errors` may also be in the query, as in DELETE. */
export const updateFields = sourceFields.extend({ ignore_hook_errors: optional(flag).describe(aboutIgnoredErrors) });
export type UpdateFields = z.infer<typeof updateFields>;

export const deletionFields = z.object({
  ignore_hook_errors: flag.optional().describe(aboutIgnoredErrors),
  force: flag.optional().describe("True: also deletes a source that triggers workflows, and removes these triggers."),
});
