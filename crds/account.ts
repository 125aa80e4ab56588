import { z } from "zod";
import { baseStatus, columnsOf, dateTime, defineKind } from "./resource.ts";
import { httpUrl, matching, time, valuesByName } from "./rules.ts";
import { secretReference } from "./secret-reference.ts";

/** Of an account's credentials together, UTF-8: they travel with each deployment that uses them. */
export const mostCredentialBytes = 262_144;

/** How a client says who it is at the token endpoint (RFC 6749, section 2.3.1). */
export const clientAuthentications = ["basic", "body"] as const;

const oauth = z.object({
  tokenUrl: httpUrl.describe("The token endpoint: http or https. Private addresses only where the installation allows them."),
  clientId: z.string().min(1).max(2_048).describe("The client's id, as the service gave it."),
  clientSecret: secretReference
    .optional()
    .describe("Where the client's secret is, when it has one: exactly one of `secretKeyRef` and `sealed`."),
  clientAuthentication: z
    .enum(clientAuthentications)
    .optional()
    .describe("How the secret is sent: `basic`, as a header (default), or `body`, among the parameters."),
  refreshToken: secretReference.describe(
    "Where the refresh token is: exactly one of `secretKeyRef` and `sealed`. Where the service replaces it, the status keeps the newer one; another one here begins anew.",
  ),
  scope: z.string().min(1).max(4_096).optional().describe("Asked for with each refresh; absent: what was granted before."),
  expiresAt: time.optional().describe("When the given `oauth_access_token` expires, RFC 3339; absent: it is refreshed at once."),
});
export type AccountOauth = z.infer<typeof oauth>;

export const appName = {
  pattern: /^[a-z0-9][a-z0-9_-]{0,62}$/,
  message: "an app is named by lower-case letters, digits, '_' and '-', at most 63 of them, such as github or google_sheets",
} as const;

const spec = z.object({
  app: matching(appName.pattern, 63, appName.message).describe("Name slug of the app, such as github or google_sheets."),
  name: z.string().max(255).optional().describe("For people."),
  credentials: valuesByName(
    secretReference.describe("Where the field's value is: exactly one of `secretKeyRef` and `sealed`."),
    50,
  ).describe(
    "Where each field of the app's credentials is, by field name, such as oauth_access_token or api_key. The text there is taken as it is.",
  ),
  oauth: oauth
    .optional()
    .describe(
      "How `oauth_access_token` is refreshed before it expires (OAuth 2, RFC 6749, section 6). The refreshed one takes the place of the credential.",
    ),
});
export type AccountSpec = z.infer<typeof spec>;

const tokens = z.object({
  accessToken: secretReference.optional().describe("The refreshed access token."),
  refreshToken: secretReference.optional().describe("The refresh token that took the place of the one in the spec."),
  expiresAt: dateTime().optional().describe("When the access token expires, as the service said, RFC 3339."),
  refreshedAt: dateTime().optional().describe("When it was refreshed, RFC 3339."),
  refreshingSince: dateTime().optional().describe("A refresh is under way since then, RFC 3339: a refresh token may count once only."),
  grant: z.string().optional().describe("Tells, to the operator alone, which refresh token of the spec these came of."),
});
export type AccountTokens = z.infer<typeof tokens>;

const status = baseStatus.extend({
  updatedAt: z.int().optional().describe("When the last change of the spec was seen, epoch milliseconds."),
  oauth: tokens.optional().describe("What refreshing the access token left."),
});
export type AccountStatus = z.infer<typeof status>;

export const accountKind = defineKind<AccountSpec, AccountStatus>({
  kind: "Account",
  plural: "accounts",
  shortNames: ["hwacc"],
  description: "Credentials of an app, as sources with an app prop use them. The values lie in Secrets.",
  columns: columnsOf(
    { name: "App", type: "string", path: ".spec.app", description: "Name slug of the app." },
    { name: "Name", type: "string", path: ".spec.name", description: "For people." },
  ),
  selectable: [".spec.app", ".status.id"],
  immutable: [
    { field: "app", message: "the app of an account cannot be changed, since sources use it as that app's: create another Account" },
  ],
  spec,
  status,
});

/** Everywhere that its secret texts lie. */
export function referencesOfAccount(spec: AccountSpec, { oauth: kept }: AccountStatus) {
  const { clientSecret, refreshToken } = spec.oauth ?? {};
  return [...Object.values(spec.credentials), clientSecret, refreshToken, kept?.accessToken, kept?.refreshToken].filter(
    (reference) => reference !== undefined,
  );
}

/** A slug may end with what a label's value may not end with; no slug holds a dot. */
export const appLabelOf = (app: string): string => (/[a-z0-9]$/.test(app) ? app : `${app.slice(0, 61)}.z`);
