import { z } from "zod";
import { appGrants, appSlug, authKinds, clientAuthentications, requestFormats, type App } from "../domain/app/app.ts";
import { baseStatus, columnsOf, defineKind, type Resource } from "./resource.ts";
import { httpUrl, matching, valuesByName, withRules } from "./rules.ts";

const slug = matching(appSlug.pattern, 63, appSlug.message);
const shortText = z.string().min(1).max(255);
const scope = z.string().min(1).max(512);
const parameterName = matching(/^\w{1,100}$/, 100, "a parameter's name has at most 100 letters, digits and '_'");

export const appOauth = z.object({
  grant: z
    .enum(appGrants)
    .optional()
    .describe(
      "How accounts get tokens: `authorization_code` (default), for a person who signs in at the service, or `client_credentials`, with the id and secret of a client alone (RFC 6749, section 4.4).",
    ),
  authorizationUrl: httpUrl
    .optional()
    .describe("The authorization endpoint, which a browser opens. Required unless the grant is `client_credentials`."),
  tokenUrl: httpUrl.describe("The token endpoint: http or https. Private addresses only where the installation allows them."),
  refreshUrl: httpUrl.optional().describe("Where tokens are refreshed, if not at the token endpoint."),
  revocationUrl: httpUrl
    .optional()
    .describe("The revocation endpoint (RFC 7009). If absent, tokens stay valid when an account is deleted."),
  issuer: httpUrl
    .optional()
    .describe("The value of `iss` that the service adds to its redirects (RFC 9207). If absent, `iss` is not compared."),
  pkce: z.boolean().optional().describe("Whether the authorization request has a code challenge (S256). Default: true."),
  scopes: z.array(scope).max(100).optional().describe("Scopes to request, unless the request names others."),
  scopeParameter: parameterName
    .optional()
    .describe("Parameter of the authorization request that has the scopes, such as `user_scope`. Default: `scope`."),
  scopeSeparator: z.enum([" ", ",", ";"]).optional().describe("Separates the scopes of an authorization request. Default: a space."),
  authorizationParameters: valuesByName(z.string().max(2_048), 20)
    .optional()
    .describe("Further parameters of the authorization request, such as `access_type: offline`."),
  clientAuthentication: z
    .enum(clientAuthentications)
    .optional()
    .describe("How the client's secret is sent to the token endpoint: `basic` (default), as a header, or `body`, as a parameter."),
  requestFormat: z
    .enum(requestFormats)
    .optional()
    .describe("How the token endpoint reads requests: `form` (default), or `json`, as some services ask for."),
  tokenParameters: valuesByName(z.string().max(2_048), 20)
    .optional()
    .describe("Further parameters of requests to the token endpoint, such as `audience`."),
  tokenPath: shortText
    .optional()
    .describe("Path of the object in the token response that has `access_token`, such as `authed_user`. Default: the response itself."),
  voidGrantErrors: z
    .array(shortText)
    .max(20)
    .optional()
    .describe(
      "Error codes besides `invalid_grant` by which the token endpoint says that a refresh token is no longer valid: then a person must connect the account again.",
    ),
  tokenFields: z
    .array(z.string().min(1).max(100))
    .max(10)
    .optional()
    .describe(
      "Paths of fields of the token response that become credentials, such as the address of an instance. `team.id` becomes the credential `team_id`.",
    ),
});

export const appField = z.object({
  name: z.string().min(1).max(100).describe("Name of the credential, such as api_key."),
  label: shortText.optional().describe("Label for people."),
  description: z.string().max(1_000).optional().describe("Where to find the value."),
  optional: z.boolean().optional().describe("Whether it may be absent. Default: false."),
  secret: z.boolean().optional().describe("Whether its input is hidden. Default: false."),
});

export const appPlacement = z.object({
  in: z.enum(["header", "query"]).describe("Part of the request."),
  name: shortText.describe("Name of the header or parameter."),
  prefix: shortText.optional().describe("Text before the token."),
});

export const appTest = z.object({
  url: httpUrl.describe("Address of a harmless request with the token, such as that of the signed-in user."),
  method: z.enum(["GET", "POST"]).optional().describe("Default: GET."),
  headers: valuesByName(z.string().max(1_000), 10).optional().describe("Further headers."),
  name: shortText.optional().describe("Path of the account's name in the JSON answer, such as `data.user.name`."),
  picture: shortText.optional().describe("Path of the address of the account's picture in the JSON answer."),
});

const spec = withRules(
  z.object({
    slug: slug.describe("Name slug of the app, such as `acme`. An app of an owner replaces one of the installation with the same slug."),
    name: shortText.describe("Display name."),
    description: z.string().max(2_000).optional().describe("Description for people."),
    auth: z
      .enum(authKinds)
      .describe(
        "How accounts are connected: `oauth2` by signing in at the service, `keys` with named fields, `basic` with user name and password, `none`.",
      ),
    categories: z.array(shortText).max(10).default([]).describe("Categories, for search."),
    documentationUrl: httpUrl
      .optional()
      .describe("Page of the service that says how to register a client, or where to find the credentials."),
    oauth: appOauth.optional().describe("Addresses and parameters of OAuth 2: for `oauth2`."),
    fields: z.array(appField).max(50).optional().describe("Credentials that a person enters: for `keys`."),
    placement: appPlacement.optional().describe("Where the token goes in requests. Default: the header `authorization: Bearer <token>`."),
    test: appTest.optional().describe("A request that shows that a token works, and whose it is."),
  }),
  {
    cel: "(self.auth == 'oauth2') == has(self.oauth)",
    holds: ({ auth, oauth }) => (auth === "oauth2") === (oauth !== undefined),
    message: "oauth belongs to auth oauth2, which needs it",
  },
  {
    cel: "(self.auth == 'keys') == has(self.fields)",
    holds: ({ auth, fields }) => (auth === "keys") === (fields !== undefined),
    message: "fields belong to auth keys, which needs them",
  },
  {
    cel: "!has(self.oauth) || has(self.oauth.authorizationUrl) || (has(self.oauth.grant) && self.oauth.grant == 'client_credentials')",
    holds: ({ oauth }) => oauth === undefined || oauth.authorizationUrl !== undefined || oauth.grant === "client_credentials",
    message: "oauth.authorizationUrl is missing: the grant authorization_code needs it",
  },
);
export type AppSpec = z.infer<typeof spec>;
export type AppStatus = z.infer<typeof baseStatus>;
export type AppResource = Resource<AppSpec, AppStatus>;

export const appKind = defineKind<AppSpec, AppStatus>({
  kind: "App",
  plural: "apps",
  shortNames: ["hwapp"],
  description: "How one connects to a service: its kind of credentials, addresses and scopes. Accounts refer to it by its slug.",
  columns: columnsOf(
    { name: "Slug", type: "string", path: ".spec.slug", description: "Name slug of the app." },
    { name: "Auth", type: "string", path: ".spec.auth", description: "How accounts are connected." },
    { name: "Name", type: "string", path: ".spec.name", description: "Display name." },
  ),
  selectable: [".spec.slug", ".status.id"],
  immutable: [
    { field: "slug", message: "the slug of an app cannot be changed, because accounts and components name it: create another App" },
  ],
  spec,
  status: baseStatus,
});

/** A resource's spec has the form of the tables. */
export const appOf = ({ spec: given }: Pick<AppResource, "spec">): App => given;
