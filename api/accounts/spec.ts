import type { AccountOauth, AccountSpec, AccountStatus } from "../../crds/account.ts";
import type { Resource } from "../../crds/resource.ts";
import type { SecretReference } from "../../crds/secret-reference.ts";
import { InvalidInput } from "../../domain/errors.ts";
import type { AccountChanges } from "./request.ts";

export type AccountResource = Resource<AccountSpec, AccountStatus>;
type References = Readonly<Record<string, SecretReference>>;

const credentialOf = (field: string): string => `credential.${field}`;
const clientSecret = "oauth.client_secret";
const refreshToken = "oauth.refresh_token";

/** The secret texts of a request, by name, to be stored before the resource is written. */
export function textsOf({ credentials = {}, oauth }: AccountChanges): Readonly<Record<string, string>> {
  const texts: [string, string | null | undefined][] = [
    ...Object.entries(credentials).map(([field, text]): [string, string | null] => [credentialOf(field), text]),
    [clientSecret, oauth?.client_secret],
    [refreshToken, oauth?.refresh_token],
  ];
  return Object.fromEntries(texts.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

/** @param kept references to the texts of {@link textsOf} @throws InvalidInput */
export function changedSpec(before: AccountSpec, changes: AccountChanges, kept: References): AccountSpec {
  const { name = before.name, credentials = {} } = changes;
  const given = Object.keys(credentials).flatMap((field): [string, SecretReference][] => {
    const reference = kept[credentialOf(field)];
    return reference === undefined ? [] : [[field, reference]];
  });
  const stays = Object.entries(before.credentials).filter(([field]) => !Object.hasOwn(credentials, field));
  const oauth = changes.oauth === null ? undefined : changedOauth(before.oauth, changes.oauth, kept);
  return {
    app: before.app,
    ...(name === undefined ? {} : { name }),
    credentials: Object.fromEntries([...stays, ...given]),
    ...(oauth === undefined ? {} : { oauth }),
    ...(before.connection === undefined ? {} : { connection: before.connection }),
  };
}

function changedOauth(before: AccountOauth | undefined, given: AccountChanges["oauth"], kept: References): AccountOauth | undefined {
  if (given === undefined || given === null) return before;
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

const isSameAddress = (before: string, given: string): boolean => new URL(before).href === new URL(given).href;

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
