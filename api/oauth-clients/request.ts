import { z } from "zod";
import { appSlug } from "../../domain/app/app.ts";
import { scopeList } from "../apps/request.ts";
import { optional, text } from "../http/request/parameters.ts";

const name = text.min(1, "it must not be empty").max(255, "it must have at most 255 characters");
const clientId = text.min(1, "it must not be empty").max(2_048, "it must have at most 2048 characters");
const clientSecret = z.string().min(1, "it must not be empty").max(16_384, "it must have at most 16384 characters");
const about = {
  name: "Display name.",
  clientId: "The client's id, as the service gave it.",
  clientSecret: "The client's secret. No response shows it.",
  scopes: "Scopes to request with this client. Default: those of the app.",
};

export const clientFields = z.object({
  app: text.regex(appSlug.pattern, appSlug.message).describe("Name slug of the app, such as `slack`."),
  name: optional(name).describe(about.name),
  client_id: clientId.describe(about.clientId),
  client_secret: optional(clientSecret).describe(about.clientSecret),
  scopes: optional(scopeList).describe(about.scopes),
});
export type ClientFields = z.output<typeof clientFields>;

/** Absent fields stay unchanged; null removes a field. */
export const clientChanges = z.object({
  name: name.nullish().describe(about.name),
  client_id: clientId.optional().describe(about.clientId),
  client_secret: clientSecret.nullish().describe(about.clientSecret),
  scopes: scopeList.nullish().describe(about.scopes),
});
export type ClientChanges = z.output<typeof clientChanges>;

export const clientFilters = z.object({
  app: text
    .refine((slug) => slug === "" || appSlug.pattern.test(slug), appSlug.message)
    .optional()
    .describe("Only clients of this app."),
});
