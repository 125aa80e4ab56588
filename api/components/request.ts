import { z } from "zod";
import { componentTypes } from "../../domain/component/definition.ts";
import { flag, itemCount, componentAddress, optional, optionalParameter, optionalText, text } from "../http/request/parameters.ts";

/** Fields that name code; unknown fields are ignored. */
export const codeFields = z.object({
  component_id: optionalText(text).describe("Id of a saved component, `sc_…`."),
  component_code: optionalText(z.string()).describe("Code of the component; together with component_files, its entry."),
  component_url: optionalText(componentAddress).describe(
    "Address of the code, also `npm:<package>@<version>/<file>` or `npm:<package>@<version>#action/<name>`; together with code, only its origin.",
  ),
  component_files: optional(z.record(z.string(), z.string())).describe("Texts of the files by path."),
  component_entry: optionalText(z.string()).describe("Path of the file that exports the component; optional with a single file."),
  key: optionalText(z.string().max(255, "it must have at most 255 characters")).describe(
    "Key of a component: of yours, otherwise of the registry.",
  ),
});
export type CodeFields = z.infer<typeof codeFields>;

/** The body of `POST /components`. */
export const componentFields = codeFields.pick({ component_code: true, component_files: true, component_entry: true, component_url: true });

export const dryRun = z.object({
  dry_run: optionalParameter(flag).describe("True: nothing is saved, and the response has the component that would have been saved."),
});

export const selection = z.object({ version: text.optional().describe("The newest component with this version.") });

export const publishedSelection = z.object({
  version: text.optional().describe("This version; by default, the newest that is not deprecated."),
});

const aboutSimilarity = "it must be a number from 0 to 1";
const similarity = optionalParameter(z.coerce.number().min(0, aboutSimilarity).max(1, aboutSimilarity), aboutSimilarity);

/** In a natural-language query, about half of the words describe the component. */
export const defaultSimilarity = 0.5;

export const search = z.object({
  query: text
    .max(500, "it must have at most 500 characters")
    .default("")
    .describe("What a person searches for: words of a name, key, description or app."),
  app: optionalParameter(text).describe("Name slug of an app, such as `github`."),
  similarity_threshold: similarity.describe(`Share of the words that must occur, from 0 to 1; ${defaultSimilarity} by default.`),
  limit: itemCount.optional().meta({ default: 10, description: "Maximum results, at most 100." }),
});

export const detailedSearch = search.extend({
  similarity_threshold: similarity.describe("Share of the words that must occur, from 0 to 1; 1 by default."),
  type: optionalParameter(z.enum(componentTypes, `it must be ${componentTypes.join(" or ")}`)).describe("Only components of this type."),
});
