/**
 * How one connects to a service. Apps are data: those of `registry/apps/`, and those of owners (kind App). Their facts come from the
 * services' documentation; nothing here is specific to one service.
 */
export interface App {
  /** Unique among the apps of an owner, such as `google_sheets`. */
  readonly slug: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly auth: AuthKind;
  readonly categories: readonly string[];
  /** Page of the service that says how to register a client, or where to find the credentials. */
  readonly documentationUrl?: string | undefined;
  /** For `oauth2`. */
  readonly oauth?: AppOauth | undefined;
  /** Credentials that a person enters: for `keys`. */
  readonly fields?: readonly AppField[] | undefined;
  readonly placement?: Placement | undefined;
  readonly test?: TestRequest | undefined;
}

/**
 * `oauth2`: tokens of OAuth 2, with the grant of {@link AppOauth}. `keys`: named fields. `basic`: user name and password. `none`: nothing.
 */
export const authKinds = ["oauth2", "keys", "basic", "none"] as const;
export type AuthKind = (typeof authKinds)[number];

/** How a client identifies itself at the token endpoint (RFC 6749, section 2.3.1). */
export const clientAuthentications = ["basic", "body"] as const;
export type ClientAuthentication = (typeof clientAuthentications)[number];

export const requestFormats = ["form", "json"] as const;
export type RequestFormat = (typeof requestFormats)[number];

/** How accounts of an app get tokens: for a person who signs in (RFC 6749, section 4.1), or for the client itself (section 4.4). */
export const appGrants = ["authorization_code", "client_credentials"] as const;
export type AppGrant = (typeof appGrants)[number];

export interface AppOauth {
  /** Default: `authorization_code`. */
  readonly grant?: AppGrant | undefined;
  readonly authorizationUrl?: string | undefined;
  readonly tokenUrl: string;
  /** Absent: tokens are refreshed at `tokenUrl`. */
  readonly refreshUrl?: string | undefined;
  /** RFC 7009. Absent: tokens cannot be revoked there. */
  readonly revocationUrl?: string | undefined;
  /** The service names it in its redirects (RFC 9207). Absent: it does not. */
  readonly issuer?: string | undefined;
  /** Whether the authorization request has a code challenge (RFC 7636, S256). Default: true. */
  readonly pkce?: boolean | undefined;
  /** Requested unless the request names others. */
  readonly scopes?: readonly string[] | undefined;
  /** Name of the parameter of the authorization request that has the scopes. Default: `scope`. */
  readonly scopeParameter?: string | undefined;
  /** Between scopes of the authorization request. Default: a space. */
  readonly scopeSeparator?: string | undefined;
  /** Further parameters of the authorization request. */
  readonly authorizationParameters?: Readonly<Record<string, string>> | undefined;
  /** Default: `basic`. */
  readonly clientAuthentication?: ClientAuthentication | undefined;
  /** How the token endpoint reads requests. Default: `form`, as RFC 6749 asks for. */
  readonly requestFormat?: RequestFormat | undefined;
  /** Further parameters of requests to the token endpoint, such as `audience`. */
  readonly tokenParameters?: Readonly<Record<string, string>> | undefined;
  /** Path of the object in the token response that has the tokens, such as `authed_user`. Absent: the response itself. */
  readonly tokenPath?: string | undefined;
  /** Error codes besides `invalid_grant` by which the token endpoint says that a refresh token will never be valid again. */
  readonly voidGrantErrors?: readonly string[] | undefined;
  /** Paths of fields of the token response that become credentials, such as the address of an instance. */
  readonly tokenFields?: readonly string[] | undefined;
}

export interface AppField {
  readonly name: string;
  readonly label?: string | undefined;
  readonly description?: string | undefined;
  readonly optional?: boolean | undefined;
  readonly secret?: boolean | undefined;
}

/** The credential that has the value at a path of the token response: `team.id` becomes `team_id`. */
export const credentialAt = (path: string): string => path.replaceAll(".", "_");

/** Where the token, or the only key, goes in requests. Default: `authorization: Bearer <token>`. */
export interface Placement {
  readonly in: "header" | "query";
  readonly name: string;
  readonly prefix?: string | undefined;
}

/** A harmless request that shows that a token works, and whose it is. */
export interface TestRequest {
  readonly url: string;
  /** Default: GET. */
  readonly method?: "GET" | "POST" | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Path of the account's name in the JSON answer, such as `data.photos.0.url`. */
  readonly name?: string | undefined;
  /** Path of the address of its picture. */
  readonly picture?: string | undefined;
}

export const appSlug = {
  pattern: /^[a-z0-9][a-z0-9_-]{0,62}$/,
  message: "an app's name has at most 63 lower-case letters, digits, '_' and '-', such as github or google_sheets",
} as const;

/** The form in which clients of the known service read the kind. */
export type KnownAuthType = "oauth" | "keys" | "none";

export const knownAuthTypes: Readonly<Record<AuthKind, KnownAuthType>> = {
  oauth2: "oauth",
  keys: "keys",
  basic: "keys",
  none: "none",
};

/** What a person enters for an account of the app. */
export function fieldsOf({ auth, fields = [] }: Pick<App, "auth" | "fields">): readonly AppField[] {
  if (auth === "keys") return fields;
  if (auth !== "basic") return [];
  return [
    { name: "username", label: "User name" },
    { name: "password", label: "Password", secret: true },
  ];
}

/** Whether an account of the app can be connected by signing in at the service. */
export const isConnectable = ({ auth, oauth }: Pick<App, "auth" | "oauth">): boolean =>
  auth === "oauth2" && !takesClientCredentials({ oauth }) && oauth?.authorizationUrl !== undefined;

/** Whether accounts of the app get tokens with the id and secret of a client alone. */
export const takesClientCredentials = ({ oauth }: Pick<App, "oauth">): boolean => oauth?.grant === "client_credentials";

/** Apps whose name, slug or category contains each word of the query, ignoring case. Those whose name begins with it come first. */
export function searchApps<Found extends Pick<App, "slug" | "name" | "categories">>(
  apps: readonly Found[],
  query: string,
): readonly Found[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const textOf = ({ slug, name, categories }: Found): string => [slug, name, ...categories].join(" ").toLowerCase();
  const isFirst = ({ slug, name }: Found): boolean =>
    words.length > 0 && [slug, name.toLowerCase()].some((text) => text.startsWith(words.join(" ")));
  return apps
    .filter((app) => words.every((word) => textOf(app).includes(word)))
    .toSorted(
      (a, b) => Number(isFirst(b)) - Number(isFirst(a)) || compare(a.name.toLowerCase(), b.name.toLowerCase()) || compare(a.slug, b.slug),
    );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
