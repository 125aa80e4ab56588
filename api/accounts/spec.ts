import type { AccountOauth, AccountSpec, AccountStatus } from "../../crds/account.ts";
import type { Resource } from "../../crds/resource.ts";
import type { SecretReference } from "../../crds/secret-reference.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { clientCredentialsSpec, isSameAddress, type TokenIssuer } from "./client-credentials.ts";
import type { AccountChanges } from "./request.ts";

export type AccountResource = Resource<AccountSpec, AccountStatus>;
type References = Readonly<Record<string, SecretReference>>;

const credentialOf = (field: string): string => `credential.${field}`;
const clientSecret = "oauth.client_secret";
const refreshToken = "oauth.refresh_token";

/** The secret texts of a request, by name, to be stored before the resource is written. */
export function textsOf({ credentials = {}, oauth, client_credentials: client }: AccountChanges): Readonly<Record<string, string>> {
  const texts: [string, string | null | undefined][] = [
    ...Object.entries(credentials).map(([field, text]): [string, string | null] => [credentialOf(field), text]),
    [clientSecret, oauth?.client_secret ?? client?.client_secret],
    [refreshToken, oauth?.refresh_token],
  ];
  return Object.fromEntries(texts.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

/** References in the place of those that storing the texts returns. */
export const unread = (texts: Readonly<Record<string, string>>): References =>
  Object.fromEntries(Object.keys(texts).map((name) => [name, { sealed: "" }]));

/** @param kept references to the texts of {@link textsOf} @param issuer who issues tokens by client_credentials @throws InvalidInput */
export function changedSpec(before: AccountSpec, changes: AccountChanges, kept: References, issuer: TokenIssuer): AccountSpec {
  const { name = before.name, credentials = {} } = changes;
  const given = Object.keys(credentials).flatMap((field): [string, SecretReference][] => {
    const reference = kept[credentialOf(field)];
    return reference === undefined ? [] : [[field, reference]];
  });
  const stays = Object.entries(before.credentials).filter(([field]) => !Object.hasOwn(credentials, field));
  if (isGiven(changes.oauth) && isGiven(changes.client_credentials))
    throw new InvalidInput("oauth and client_credentials exclude each other: give oauth for a refresh token, else client_credentials");
  const { oauth, connection } = isGiven(changes.client_credentials)
    ? clientCredentialsSpec(before, changes.client_credentials, kept[clientSecret], issuer)
    : withConnection(otherOauth(before.oauth, changes, kept), before);
  return {
    app: before.app,
    ...(name === undefined ? {} : { name }),
    credentials: Object.fromEntries([...stays, ...given]),
    ...(oauth === undefined ? {} : { oauth }),
    ...(connection === undefined ? {} : { connection }),
  };
}

const isGiven = <Value>(value: Value | null | undefined): value is Value => value !== undefined && value !== null;

/** The OAuth client that connected the account counts until a request replaces it by a client of its own. */
function withConnection(oauth: AccountOauth | undefined, { oauth: former, connection }: AccountSpec) {
  const isSame = oauth?.clientId === former?.clientId && oauth?.tokenUrl === former?.tokenUrl;
  return { oauth, connection: isSame && oauth?.clientSecret === undefined ? connection : undefined };
}

/** Null removes what it names. */
function otherOauth(before: AccountOauth | undefined, { oauth, client_credentials: client }: AccountChanges, kept: References) {
  const isOfClient = before?.grant === "client_credentials";
  if (oauth === null || (client === null && isOfClient && oauth === undefined)) return undefined;
  return oauth === undefined ? before : changedOauth(isOfClient ? undefined : before, oauth, kept);
}

function changedOauth(before: AccountOauth | undefined, given: NonNullable<AccountChanges["oauth"]>, kept: References): AccountOauth {
  const [tokenUrl, clientId] = [given.token_url ?? before?.tokenUrl, given.client_id ?? before?.clientId];
  const token = kept[refreshToken] ?? before?.refreshToken;
  if (tokenUrl === undefined || clientId === undefined || token === undefined)
    throw new InvalidInput("oauth is incomplete: it needs token_url, client_id and refresh_token, and the account has none yet");
  if (before !== undefined && !isSameAddress(before.tokenUrl, tokenUrl)) checkSecretsGiven(before, given);
  const secret = given.client_secret === null ? undefined : (kept[clientSecret] ?? before?.clientSecret);
  const authentication = given.client_authentication === null ? undefined : (given.client_authentication ?? before?.clientAuthentication);
  const scope = given.scope === null ? undefined : (given.scope ?? before?.scope);
  const expiresAt = given.expires_at === null ? undefined : (timeOf(given.expires_at) ?? before?.expiresAt);
  return {
    tokenUrl,
    clientId,
    refreshToken: token,
    ...(secret === undefined ? {} : { clientSecret: secret }),
    ...(authentication === undefined ? {} : { clientAuthentication: authentication }),
    ...(scope === undefined ? {} : { scope }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

/** Stored secrets are bound to the token endpoint that they were given for. @throws InvalidInput unless the request replaces them all */
function checkSecretsGiven(before: AccountOauth, given: NonNullable<AccountChanges["oauth"]>): void {
  const missing = [
    ...(given.refresh_token === undefined ? ["refresh_token"] : []),
    ...(before.clientSecret !== undefined && given.client_secret === undefined ? ["client_secret"] : []),
  ];
  if (missing.length === 0) return;
  const fields = missing.map((field) => `oauth.${field}`);
  throw new InvalidInput(
    `oauth.token_url differs from the stored one, and stored secrets are sent to no other address: also give ${fields.join(" and ")}`,
    { code: "secrets_missing", details: fields.map((field) => ({ field, message: "must be given again with another token_url" })) },
  );
}

const timeOf = (seconds: number | undefined): string | undefined =>
  seconds === undefined ? undefined : new Date(seconds * 1_000).toISOString();
