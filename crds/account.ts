import { z } from "zod";
import { appSlug, clientAuthentications } from "../domain/app/app.ts";
import { baseStatus, columnsOf, dateTime, defineKind, type Resource } from "./resource.ts";
import { httpUrl, matching, time, valuesByName, withRules } from "./rules.ts";
import { secretReference } from "./secret-reference.ts";

/** Bound on an account's credentials in total, UTF-8: each deployment that uses them contains them. */
export const maxCredentialBytes = 262_144;

export const accountGrants = ["refresh_token", "client_credentials"] as const;

const oauthFields = z.object({
  grant: z
    .enum(accountGrants)
    .optional()
    .describe(
      "How the access token is requested: `refresh_token` (default), or `client_credentials`, with the client's id and secret alone (RFC 6749, section 4.4).",
    ),
  tokenUrl: httpUrl.describe("The token endpoint: http or https. Private addresses only where the installation allows them."),
  clientId: z.string().min(1).max(2_048).describe("The client's id, as the service gave it."),
  clientSecret: secretReference
    .optional()
    .describe("Reference to the client's secret, if it has one: exactly one of `secretKeyRef` and `sealed`."),
  clientAuthentication: z
    .enum(clientAuthentications)
    .optional()
    .describe("How the secret is sent: `basic` (default), as a header, or `body`, as a parameter."),
  refreshToken: secretReference
    .optional()
    .describe(
      "Reference to the refresh token, for the grant `refresh_token`: exactly one of `secretKeyRef` and `sealed`. If the service replaces it, the status has the newer one; changing it here discards that one.",
    ),
  scope: z.string().min(1).max(4_096).optional().describe("Scope sent with each request. If absent, the scope granted before."),
  expiresAt: time.optional().describe("When the given `oauth_access_token` expires, RFC 3339. If absent, it is refreshed at once."),
});
const oauth = withRules(oauthFields, {
  cel: "has(self.refreshToken) != (has(self.grant) && self.grant == 'client_credentials')",
  holds: ({ grant, refreshToken }) => (refreshToken !== undefined) !== (grant === "client_credentials"),
  message: "refreshToken belongs to the grant refresh_token, which needs it",
});
const connection = z.object({
  client: z.string().min(1).max(63).describe("Public id of the OAuth client (`oac_…`) by which it was connected."),
  scopes: z.array(z.string().max(512)).max(200).optional().describe("Scopes that were granted."),
  name: z.string().max(255).optional().describe("Name at the service, as the app's test request returned it."),
  picture: z.string().max(2_048).optional().describe("Address of its picture at the service."),
  connectedAt: time.describe("When a person last connected it, RFC 3339."),
  expiresAt: time
    .optional()
    .describe("When `oauth_access_token` expires, RFC 3339, if the service gave no refresh token: then a person must connect it again."),
});
export type AccountConnection = z.infer<typeof connection>;

export type AccountOauth = z.infer<typeof oauth>;

const spec = z.object({
  app: matching(appSlug.pattern, 63, appSlug.message).describe("Name slug of the app, such as github or google_sheets."),
  name: z.string().max(255).optional().describe("Display name."),
  credentials: valuesByName(
    secretReference.describe("Reference to the field's value: exactly one of `secretKeyRef` and `sealed`."),
    50,
  ).describe(
    "References to the app's credentials, by field name, such as oauth_access_token or api_key. The text of the secret is used unchanged.",
  ),
  oauth: oauth
    .optional()
    .describe(
      "How `oauth_access_token` is refreshed before it expires (OAuth 2, RFC 6749, sections 6 and 4.4). The refreshed token replaces the one in the credentials.",
    ),
  connection: connection
    .optional()
    .describe(
      "How it was connected. Without `oauth.clientSecret`, it is refreshed with the secret of this client, at the token endpoint of the client's app only.",
    ),
});
export type AccountSpec = z.infer<typeof spec>;

const tokens = z.object({
  accessToken: secretReference.optional().describe("The refreshed access token."),
  refreshToken: secretReference.optional().describe("The refresh token that replaces the one in the spec."),
  expiresAt: dateTime().optional().describe("When the access token expires, as reported by the service, RFC 3339."),
  refreshedAt: dateTime().optional().describe("When it was refreshed, RFC 3339."),
  refreshingSince: dateTime().optional().describe("Start of the refresh in progress, RFC 3339: a refresh token may be valid only once."),
  grant: z.string().optional().describe("Identifies, for the operator only, the refresh token of the spec that these were issued for."),
});
export type AccountTokens = z.infer<typeof tokens>;

const status = baseStatus.extend({
  updatedAt: z.int().optional().describe("When the operator saw the last change of the spec, epoch milliseconds."),
  oauth: tokens.optional().describe("Result of refreshing the access token."),
  needsReconnect: z
    .boolean()
    .optional()
    .describe("True: a person must connect the account again. The service no longer accepts the refresh token, or gave none."),
});
export type AccountStatus = z.infer<typeof status>;
export type AccountResource = Resource<AccountSpec, AccountStatus>;

export const accountKind = defineKind<AccountSpec, AccountStatus>({
  kind: "Account",
  plural: "accounts",
  shortNames: ["hwacc"],
  description: "Credentials of an app, for sources with an app prop. The values are stored in Secrets.",
  columns: columnsOf(
    { name: "App", type: "string", path: ".spec.app", description: "Name slug of the app." },
    { name: "Name", type: "string", path: ".spec.name", description: "Display name." },
    { name: "Needs reconnect", type: "boolean", path: ".status.needsReconnect", description: "Whether a person must connect it again." },
  ),
  selectable: [".spec.app", ".status.id"],
  immutable: [
    { field: "app", message: "the app of an account cannot be changed, because sources use it for that app: create another Account" },
  ],
  spec,
  status,
});

/** All references to secret texts of the account. */
export function referencesOfAccount(spec: AccountSpec, { oauth: kept }: AccountStatus) {
  const { clientSecret, refreshToken } = spec.oauth ?? {};
  return [...Object.values(spec.credentials), clientSecret, refreshToken, kept?.accessToken, kept?.refreshToken].filter(
    (reference) => reference !== undefined,
  );
}

/** A slug may end with a character that a label's value must not end with. Slugs contain no dots, so the suffix is unambiguous. */
export const appLabelOf = (app: string): string => (/[a-z0-9]$/.test(app) ? app : `${app.slice(0, 61)}.z`);
