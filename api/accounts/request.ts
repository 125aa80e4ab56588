import { z } from "zod";
import { maxCredentialBytes } from "../../crds/account.ts";
import { appSlug, clientAuthentications } from "../../domain/app/app.ts";
import { flag, httpUrl, optional, text } from "../http/request/parameters.ts";

const maxFields = 50;
const encoder = new TextEncoder();
const bytesOf = (texts: readonly (string | null)[]): number => texts.reduce((sum, each) => sum + encoder.encode(each ?? "").length, 0);
const secret = z.string().refine((given) => bytesOf([given]) <= 65_536, "it must have at most 65536 bytes");
const small = (values: Readonly<Record<string, string | null>>): boolean => bytesOf(Object.values(values)) <= maxCredentialBytes;
const tooLarge = `they must have at most ${maxCredentialBytes} bytes together`;
const field = z.string().min(1, "a field has a name").max(100, "a field's name has at most 100 characters");
/** Counts the fields before it checks each of them. */
const few = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((given, { addIssue }) => {
    if (typeof given === "object" && given !== null && Object.keys(given).length > maxFields)
      addIssue({ code: "custom", message: `it must have at most ${maxFields} fields` });
    return given;
  }, schema);
const name = text.min(1, "it must not be empty").max(255, "it must have at most 255 characters");
const about = {
  name: "Display name.",
  credentials: "Values by field.",
  oauth: "How the access token is refreshed.",
  clientCredentials:
    "The access token is requested with the id and secret of a client alone (RFC 6749, section 4.4). `{}`: with the OAuth client of the app.",
};

const epochSeconds = z
  .int("it must be a time in epoch seconds")
  .min(0, "it must be a time in epoch seconds")
  .max(253_402_300_799, "it must be a time in epoch seconds, not milliseconds");
const oauth = {
  token_url: httpUrl,
  client_id: z.string().min(1, "it must not be empty").max(2_048, "it must have at most 2048 characters"),
  client_secret: secret,
  client_authentication: z.enum(clientAuthentications, "it must be basic or body"),
  refresh_token: secret.min(1, "it must not be empty"),
  scope: z.string().min(1, "it must not be empty").max(4_096, "it must have at most 4096 characters"),
  expires_at: epochSeconds,
};

const clientCredentials = z.object({
  client_id: oauth.client_id.optional(),
  client_secret: oauth.client_secret.min(1, "it must not be empty").optional(),
  token_url: oauth.token_url.optional().describe("Default: that of the app."),
  client_authentication: oauth.client_authentication.optional().describe("Default: that of the app."),
  scope: oauth.scope.optional().describe("Default: the scopes of the OAuth client, or of the app."),
});
export type ClientCredentialsFields = z.infer<typeof clientCredentials>;

const nameSlug = text.regex(appSlug.pattern, appSlug.message);
/** The slug, or the app as in responses. */
const app = z.union(
  [nameSlug, z.object({ name_slug: nameSlug }).transform(({ name_slug }) => name_slug)],
  "it must be the name slug of an app, such as github, or an object with that as name_slug",
);
const aboutApp = "Name slug of an app, such as `github`.";

export const accountFields = z.object({
  app: app.describe(aboutApp),
  name: optional(name).describe(about.name),
  credentials: optional(few(z.record(field, secret).refine(small, tooLarge))).describe(about.credentials),
  oauth: optional(
    z.object({
      ...oauth,
      client_secret: optional(oauth.client_secret),
      client_authentication: optional(oauth.client_authentication),
      scope: optional(oauth.scope),
      expires_at: optional(oauth.expires_at),
    }),
  ).describe(about.oauth),
  client_credentials: optional(clientCredentials).describe(about.clientCredentials),
});
export type AccountFields = z.infer<typeof accountFields>;

/** The body of PUT: absent fields stay, null removes a field. */
export const accountChanges = z.object({
  name: optional(name).describe(about.name),
  credentials: optional(few(z.record(field, secret.nullable()).refine(small, tooLarge))).describe(about.credentials),
  oauth: z
    .object({
      token_url: oauth.token_url.optional(),
      client_id: oauth.client_id.optional(),
      client_secret: oauth.client_secret.nullish(),
      client_authentication: oauth.client_authentication.nullish(),
      refresh_token: oauth.refresh_token.optional(),
      scope: oauth.scope.nullish(),
      expires_at: oauth.expires_at.nullish(),
    })
    .nullish()
    .describe(about.oauth),
  client_credentials: clientCredentials.nullish().describe(about.clientCredentials),
});
export type AccountChanges = z.infer<typeof accountChanges>;

/** An empty value counts as absent. */
export const listFields = z.object({
  app: text
    .refine((slug) => slug === "" || appSlug.pattern.test(slug), appSlug.message)
    .optional()
    .describe(aboutApp),
});
export const deletionFields = z.object({ force: flag.optional().describe("True: also deletes an account that sources or workflows use.") });
