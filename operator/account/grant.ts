import { hash } from "node:crypto";
import type { AccountTokens, AccountResource } from "../../crds/account.ts";
import type { AppOauth } from "../../domain/app/app.ts";
import { InvalidInput } from "../../domain/errors.ts";
import type { OperatorPorts, RefreshRequest } from "../ports.ts";
import { clientOfAccount, formOf, refreshUrlOf, type ClientPorts, type UsableClient } from "./client-of.ts";
import { readReferences, type Missing } from "./credentials.ts";

/** The refresh request that the spec describes, with its secrets resolved. */
export interface Grant {
  /** With the refresh token of the spec, if it has one. */
  readonly request: RefreshRequest;
  /** Identifies the refresh token of the spec, or the request of a client. Tokens that replaced it belong to the same grant. */
  readonly digest: string;
  /** Changes when any field changes that a refusal may have been about. */
  readonly requestDigest: string;
}

/** `changed`: why the account can no longer be refreshed by the client that connected it. */
type GrantLookup = Grant | { readonly missing: readonly Missing[] } | { readonly changed: string };

export async function readGrant(account: AccountResource, ports: ClientPorts): Promise<GrantLookup> {
  const { oauth } = account.spec;
  if (oauth === undefined) return { missing: [] };
  const found = await clientOfAccount(account, ports);
  if (found !== undefined && "changed" in found) return found;
  if (found !== undefined && "error" in found) return { missing: [{ field: "connection.client", error: found.error }] };
  const { clientSecret, refreshToken } = oauth;
  const references = {
    ...(refreshToken === undefined ? {} : { "oauth.refreshToken": refreshToken }),
    ...(clientSecret === undefined ? {} : { "oauth.clientSecret": clientSecret }),
  };
  const { values, missing } = await readReferences(account, references, ports);
  if (missing.length > 0) return { missing };
  const token = values["oauth.refreshToken"];
  const request = await requestOf(account, oauth, found?.client, values, ports);
  const requestDigest = sha256([...Object.entries(request).toSorted(byName), ...connectedAt(account)]);
  // Tokens of a client are for what was requested: with another secret or scope, they are requested again at once.
  const digest = token === undefined ? requestDigest : digestOf(account, oauth, token);
  return { request, digest, requestDigest };
}

async function requestOf(
  account: AccountResource,
  oauth: Oauth,
  client: UsableClient | undefined,
  { "oauth.refreshToken": refreshToken, "oauth.clientSecret": own }: Readonly<Record<string, string>>,
  ports: ClientPorts,
): Promise<RefreshRequest> {
  const app = client?.app.oauth ?? (await appAt(oauth.tokenUrl, account, ports));
  const clientSecret = client === undefined ? own : client.clientSecret;
  return {
    tokenUrl: client === undefined ? oauth.tokenUrl : refreshUrlOf(client.app.oauth),
    clientId: client?.clientId ?? oauth.clientId,
    clientAuthentication: client?.clientAuthentication ?? oauth.clientAuthentication ?? "basic",
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(oauth.scope === undefined ? {} : { scope: oauth.scope }),
    ...(app === undefined ? {} : { ...formOf(app), voidGrantErrors: app.voidGrantErrors }),
  };
}

/** The app of an account whose credentials were given, if it is refreshed where the app says. */
async function appAt(tokenUrl: string, { metadata, spec }: AccountResource, { apps }: ClientPorts): Promise<AppOauth | undefined> {
  const oauth = (await apps.find(metadata.namespace, spec.app))?.oauth;
  return oauth !== undefined && refreshUrlOf(oauth) === tokenUrl ? oauth : undefined;
}

/** The digest of the account's grant, whatever became of its client; undefined: it has none, or it cannot be read. */
export async function readDigest(account: AccountResource, ports: ClientPorts): Promise<string | undefined> {
  const { oauth } = account.spec;
  if (oauth?.refreshToken === undefined) return undefined; // A token of a client is requested again.
  const { values } = await readReferences(account, { "oauth.refreshToken": oauth.refreshToken }, ports);
  const token = values["oauth.refreshToken"];
  return token === undefined ? undefined : digestOf(account, oauth, token);
}

type Oauth = NonNullable<AccountResource["spec"]["oauth"]>;
const digestOf = (account: AccountResource, { tokenUrl, clientId }: Oauth, token: string): string =>
  sha256([tokenUrl, clientId, token, ...connectedAt(account)]);

/** A service may give the same refresh token when the account is connected again: it is another grant nevertheless. */
const connectedAt = ({ spec: { connection } }: AccountResource): readonly string[] =>
  connection === undefined ? [] : [connection.connectedAt];

/** The refreshed tokens in the status, if they came from this grant. */
export async function tokensOfGrant(
  { status }: AccountResource,
  { digest }: Grant,
  { secrets }: Pick<OperatorPorts, "secrets">,
): Promise<AccountTokens> {
  const { oauth } = status;
  if (oauth?.grant === undefined) return {};
  try {
    return (await secrets.open(oauth.grant)) === digest ? oauth : {};
  } catch (error) {
    if (error instanceof InvalidInput) return {}; // Sealed with keys that no longer exist: its tokens cannot be opened either.
    throw error;
  }
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);
const sha256 = (value: unknown): string => hash("sha256", JSON.stringify(value));
