import type { AccountOauth, AccountSpec } from "../../crds/account.ts";
import type { FoundApp } from "../../crds/app-library.ts";
import type { OAuthClientResource } from "../../crds/oauth-client.ts";
import type { SecretReference } from "../../crds/secret-reference.ts";
import { takesClientCredentials } from "../../domain/app/app.ts";
import { InvalidInput } from "../../domain/errors.ts";
import type { ApiContext } from "../context.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { AccountChanges, ClientCredentialsFields } from "./request.ts";

/** The app of an account, and the OAuth client that its owner has for it. */
export interface TokenIssuer {
  readonly app: FoundApp | undefined;
  readonly client: OAuthClientResource | undefined;
  /** Epoch ms. */
  readonly now: number;
}

type Connection = Pick<AccountSpec, "oauth" | "connection">;
const grant = "client_credentials";

/** Reads what the request needs of the owner's apps and clients. */
export async function findIssuer(
  slug: string,
  { client_credentials: given }: Pick<AccountChanges, "client_credentials">,
  namespace: string,
  { apps, ports }: Pick<ApiContext, "apps" | "ports">,
): Promise<TokenIssuer> {
  const app = given === undefined || given === null ? undefined : await apps.find(namespace, slug);
  return { app, client: app === undefined ? undefined : await apps.clientFor(namespace, app), now: ports.clock.now() };
}

/**
 * How the account gets tokens for a client: one of its own, or the OAuth client of the app if the request names none. Fields that are
 * absent stay. @param secret the stored text of the request @throws InvalidInput
 */
export function clientCredentialsSpec(
  before: AccountSpec,
  given: ClientCredentialsFields,
  secret: SecretReference | undefined,
  issuer: TokenIssuer,
): Connection {
  const previous = before.oauth?.grant === grant ? before.oauth : undefined;
  const hasOwn = given.client_id !== undefined || secret !== undefined || previous?.clientSecret !== undefined;
  return hasOwn ? ofOwnClient(before.app, previous, given, secret, issuer) : ofClient(before.app, given, issuer);
}

function ofOwnClient(
  slug: string,
  previous: AccountOauth | undefined,
  given: ClientCredentialsFields,
  secret: SecretReference | undefined,
  { app }: TokenIssuer,
): Connection {
  const rules = app !== undefined && takesClientCredentials(app) ? app.oauth : undefined;
  const clientId = given.client_id ?? previous?.clientId;
  const clientSecret = secret ?? previous?.clientSecret;
  const tokenUrl = given.token_url ?? previous?.tokenUrl ?? rules?.tokenUrl;
  if (clientId === undefined || clientSecret === undefined)
    throw new InvalidInput(`client_credentials.${clientId === undefined ? "client_id" : "client_secret"} is missing: a client has both`);
  if (tokenUrl === undefined)
    throw new InvalidInput(
      `client_credentials.token_url is missing: app '${slug}' has no token endpoint with the grant client_credentials`,
    );
  if (previous?.clientSecret !== undefined && secret === undefined && !isSameAddress(previous.tokenUrl, tokenUrl))
    throw new InvalidInput(
      "client_credentials.token_url differs from the stored one, and stored secrets are sent to no other address: also give client_credentials.client_secret",
      {
        code: "secrets_missing",
        details: [{ field: "client_credentials.client_secret", message: "must be given again with another token_url" }],
      },
    );
  const authentication = given.client_authentication ?? previous?.clientAuthentication ?? rules?.clientAuthentication;
  const scope = given.scope ?? previous?.scope ?? (rules === undefined ? undefined : joined(rules.scopes, rules.scopeSeparator));
  return {
    oauth: {
      grant,
      tokenUrl,
      clientId,
      clientSecret,
      ...(authentication === undefined ? {} : { clientAuthentication: authentication }),
      ...(scope === undefined ? {} : { scope }),
    },
  };
}

function ofClient(slug: string, given: ClientCredentialsFields, { app, client, now }: TokenIssuer): Connection {
  if (app?.oauth === undefined || !takesClientCredentials(app))
    throw new InvalidInput(
      `client_credentials.client_id is missing: app '${slug}' does not have the grant client_credentials, so its OAuth client is not used. Give client_id, client_secret and token_url`,
    );
  if (given.token_url !== undefined || given.client_authentication !== undefined)
    throw new InvalidInput(
      "client_credentials.client_id is missing: token_url and client_authentication are for a client of the account. Without it, those of the app count",
    );
  if (client === undefined)
    throw new InvalidInput(
      `app '${slug}' has no OAuth client of yours: POST /v1/oauth_clients with {"app": "${slug}", "client_id": "…", "client_secret": "…"}, or give client_credentials.client_id and client_secret`,
      { code: "oauth_client_missing", details: { app: slug } },
    );
  const scopes = client.spec.scopes ?? app.oauth.scopes;
  const scope = given.scope ?? joined(scopes, app.oauth.scopeSeparator);
  return {
    oauth: { grant, tokenUrl: app.oauth.tokenUrl, clientId: client.spec.clientId, ...(scope === undefined ? {} : { scope }) },
    connection: {
      client: publicIdOf(client),
      connectedAt: new Date(now).toISOString(),
      ...(given.scope === undefined && scopes !== undefined ? { scopes: [...scopes] } : {}),
    },
  };
}

const joined = (scopes: readonly string[] | undefined, separator = " "): string | undefined =>
  scopes === undefined || scopes.length === 0 ? undefined : scopes.join(separator);

export const isSameAddress = (before: string, given: string): boolean => new URL(before).href === new URL(given).href;
