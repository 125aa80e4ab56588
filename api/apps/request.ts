import { z } from "zod";
import { appGrants, appSlug, clientAuthentications, authKinds, requestFormats, type AuthKind } from "../../domain/app/app.ts";
import { flag, httpUrl, optionalParameter, ownPages, text } from "../http/request/parameters.ts";

const shortText = text.min(1, "it must not be empty").max(255, "it must have at most 255 characters");
const scope = text
  .min(1, "it must not be empty")
  .max(512, "it must have at most 512 characters")
  .regex(/^\S+$/, "it must not contain spaces");
export const scopeList = z.array(scope).max(100, "it must have at most 100 scopes");
const maxParameters = 20;
const parameters = z
  .record(shortText, text.max(2_048, "it must have at most 2048 characters"))
  .refine((given) => Object.keys(given).length <= maxParameters, `it must have at most ${maxParameters} parameters`);
const path = shortText.regex(/^[\w-]+(\.[\w-]+)*$/, "it must be a path such as data.user.name");

/** The names of the known service, and the kinds that it has no names for. */
const authTypes = ["oauth", "keys", "basic", "none"] as const;
export const kindOfType = (type: (typeof authTypes)[number]): AuthKind => (type === "oauth" ? "oauth2" : type);

const oauthFields = z.object({
  grant: z
    .enum(appGrants, "it must be authorization_code or client_credentials")
    .nullish()
    .describe("How accounts get tokens. Default: `authorization_code`, by signing in at the service."),
  authorization_url: httpUrl.nullish().describe("The authorization endpoint. Required for `authorization_code`."),
  token_url: httpUrl.optional().describe("The token endpoint."),
  refresh_url: httpUrl.nullish().describe("Where tokens are refreshed, if not at the token endpoint."),
  revocation_url: httpUrl.nullish().describe("The revocation endpoint (RFC 7009)."),
  issuer: httpUrl.nullish().describe("The value of `iss` in redirects of the service (RFC 9207)."),
  pkce: z.boolean().nullish().describe("Whether the authorization request has a code challenge (S256). Default: true."),
  scopes: scopeList.nullish().describe("Scopes to request, unless the request names others."),
  scope_parameter: text
    .regex(/^\w{1,100}$/, "a parameter's name has at most 100 letters, digits and '_'")
    .nullish()
    .describe("Parameter of the authorization request that has the scopes. Default: `scope`."),
  scope_separator: z.enum([" ", ",", ";"], "it must be a space, a comma or a semicolon").nullish().describe("Default: a space."),
  authorization_params: parameters.nullish().describe("Further parameters of the authorization request."),
  client_authentication: z.enum(clientAuthentications, "it must be basic or body").nullish().describe("Default: `basic`."),
  request_format: z
    .enum(requestFormats, "it must be form or json")
    .nullish()
    .describe("How the token endpoint reads requests. Default: `form`."),
  token_params: parameters.nullish().describe("Further parameters of requests to the token endpoint, such as `audience`."),
  token_path: path
    .nullish()
    .describe("Path of the object in the token response that has `access_token`, such as `authed_user`. Default: the response itself."),
  void_grant_errors: z
    .array(shortText)
    .max(20)
    .nullish()
    .describe("Error codes besides `invalid_grant` that say that a refresh token is no longer valid."),
  token_fields: z
    .array(path)
    .max(10)
    .nullish()
    .describe("Paths of fields of the token response that become credentials: `team.id` becomes `team_id`."),
  test_url: httpUrl.nullish().describe("A harmless GET request with the token."),
  test_name: path.nullish().describe("Path of the account's name in its JSON answer, such as `data.user.name`."),
  test_picture: path.nullish().describe("Path of the address of the account's picture."),
});

const customField = z.object({
  name: text.regex(/^\w{1,100}$/, "a field's name has at most 100 letters, digits and '_'"),
  label: shortText.nullish(),
  description: text.max(1_000).nullish(),
  optional: flag.nullish(),
  secret: flag.nullish(),
});

const about = {
  name: shortText.describe("Display name."),
  description: text.max(2_000, "it must have at most 2000 characters").nullish().describe("Description for people."),
  auth_type: z
    .enum(authTypes, `it must be ${authTypes.slice(0, -1).join(", ")} or none`)
    .describe("`oauth`: accounts are connected by signing in at the service. `keys`, `basic`, `none`."),
  categories: z.array(shortText).max(10, "it must have at most 10 categories").nullish().describe("For search."),
  documentation_url: httpUrl.nullish().describe("Page of the service on registering a client, or on its credentials."),
  oauth: oauthFields.nullish().describe("For `oauth`."),
  custom_fields: z.array(customField).min(1).max(50).nullish().describe("Credentials that a person enters: for `keys`."),
};

export const appFields = z.object({
  name_slug: text.regex(appSlug.pattern, appSlug.message).describe("Such as `acme`. An app of yours replaces one of the installation."),
  ...about,
});
export type AppFields = z.output<typeof appFields>;

/** Absent fields stay unchanged; null removes a field. */
export const appChanges = z.object({ ...about, name: about.name.optional(), auth_type: about.auth_type.optional() });
export type AppChanges = z.output<typeof appChanges>;

export const appFilters = ownPages.extend({
  q: text
    .max(200, "it must have at most 200 characters")
    .optional()
    .describe("Words in the name, the slug or the categories, ignoring case."),
  category: optionalParameter(shortText).describe("Only apps of this category."),
  kind: optionalParameter(z.enum(authKinds, `it must be one of ${authKinds.join(", ")}`)).describe("Only apps of this kind."),
});
