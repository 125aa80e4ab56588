import { accountKind, type AccountResource } from "../../crds/account.ts";
import type { SecretReference } from "../../crds/secret-reference.ts";
import { holderOf } from "../../crds/secret-values.ts";
import { grantedScopes, missingScopes } from "../../domain/app/scopes.ts";
import type { CodeExchange, ConnectionFailure, ExchangeResult } from "../../domain/connection/connection.ts";
import type { OperatorPorts } from "../ports.ts";
import { changeSince, findClient, formOf, refreshUrlOf, type UsableClient } from "./client-of.ts";
import type { IssuedTokens } from "../oauth-ports.ts";
import { accessTokenField } from "./credentials.ts";

type Ports = Pick<OperatorPorts, "store" | "secretValues" | "apps" | "oauthService" | "clock">;
type Result = ExchangeResult<SecretReference>;

const refreshToken = "oauth.refresh_token";

/**
 * Exchanges a code for tokens, and stores them for an account that the API writes afterwards. The API has authorized the request; it gets
 * references, because it may not read secrets.
 */
export async function exchangeCode(request: CodeExchange, ports: Ports): Promise<Result> {
  const { namespace, account, client: id, code, redirectUri, verifier, issuer, scopes } = request;
  const found = await findClient(id, namespace, ports);
  if ("changed" in found) return failed("client_changed", `${found.changed}: connect again`);
  if ("error" in found) return failed("client_changed", `the secret of the OAuth client cannot be read: ${found.error.message}`);
  const { client } = found;
  const { oauth } = client.app;
  if (isOtherIssuer(oauth, issuer)) return otherService;
  const outcome = await ports.oauthService.exchange({
    ...serviceClient(client),
    tokenUrl: oauth.tokenUrl,
    code,
    redirectUri,
    ...(oauth.pkce === false ? {} : { verifier }),
    ...(oauth.issuer === undefined ? {} : { issuer: { expected: oauth.issuer, given: issuer } }),
    ...formOf(oauth),
    tokenFields: oauth.tokenFields ?? [],
  });
  const { host } = new URL(oauth.tokenUrl);
  switch (outcome.outcome) {
    case "issuer_mismatch":
      return otherService;
    case "refused":
      return failed("token_refused", `the token endpoint at ${host} refused the code: ${outcome.why}`);
    case "unavailable":
      return failed("token_endpoint_unavailable", `the token endpoint at ${host} gave no token: ${outcome.why}. Start again later`);
    case "issued":
      return store({ namespace, account, scopes }, client, outcome.tokens, ports);
  }
}

const failed = (code: ConnectionFailure, message: string): Result => ({ outcome: "failed", code, message });
const otherService = failed("issuer_mismatch", "another service answered than the one that was asked: nothing was connected; start again");

/** Of an app that names no issuer: one at the origin of the authorization endpoint is the service itself. */
function isOtherIssuer({ issuer: expected, authorizationUrl }: UsableClient["app"]["oauth"], given: string | undefined): boolean {
  if (expected !== undefined || given === undefined) return false;
  return authorizationUrl === undefined || URL.parse(given)?.origin !== new URL(authorizationUrl).origin;
}

const serviceClient = ({ clientId, clientSecret, clientAuthentication }: UsableClient) => ({
  clientId,
  clientSecret,
  clientAuthentication,
});

async function store(
  { namespace, account, scopes }: Pick<CodeExchange, "namespace" | "account" | "scopes">,
  client: UsableClient,
  tokens: IssuedTokens,
  { secretValues, oauthService, clock }: Ports,
): Promise<Result> {
  const issuedAt = clock.now();
  const { test, placement, oauth } = client.app;
  const texts = {
    [accessTokenField]: tokens.accessToken,
    ...tokens.fields,
    ...(tokens.refreshToken === undefined ? {} : { [refreshToken]: tokens.refreshToken }),
  };
  const { [refreshToken]: kept, ...credentials } = await secretValues.keep({ kind: accountKind.kind, namespace, name: account }, texts);
  // Afterwards: a slow service must not delay storing tokens that it issued once.
  const identity = test === undefined ? {} : await oauthService.identify(test, placement, tokens.accessToken);
  const granted = grantedScopes(tokens.scope);
  const expiresAt = expiryOf(tokens, issuedAt);
  return {
    outcome: "connected",
    credentials,
    ...(kept === undefined
      ? expiresAt
      : {
          oauth: {
            tokenUrl: refreshUrlOf(oauth),
            clientId: client.clientId,
            clientAuthentication: client.clientAuthentication,
            refreshToken: kept,
            ...expiresAt,
          },
        }),
    scopes: granted ?? scopes,
    missingScopes: missingScopes(scopes, granted),
    ...identity,
  };
}

const expiryOf = ({ expiresInSeconds }: IssuedTokens, issuedAt: number): { readonly expiresAt?: string } =>
  expiresInSeconds === undefined ? {} : { expiresAt: new Date(issuedAt + expiresInSeconds * 1_000).toISOString() };

/** Asks the service to revoke the account's tokens, before it is deleted. Best effort: returns whether the service has accepted it. */
export async function revokeAccount(
  account: AccountResource,
  ports: Pick<OperatorPorts, "store" | "secretValues" | "apps" | "oauthService">,
): Promise<boolean> {
  const { connection, oauth: refresh, credentials } = account.spec;
  if (connection === undefined) return false;
  const found = await findClient(connection.client, account.metadata.namespace, ports);
  const revocationUrl = "client" in found ? found.client.app.oauth.revocationUrl : undefined;
  if (!("client" in found) || revocationUrl === undefined) return false;
  if (refresh !== undefined && changeSince(refresh, connection.client, found.client) !== undefined) return false;
  // An App can be changed after the account was connected: its tokens go only to the service that issued them.
  const isAtSameService = refresh !== undefined && new URL(refresh.tokenUrl).origin === new URL(revocationUrl).origin;
  if (found.client.app.origin !== "built_in" && !isAtSameService) return false;
  const kept = account.status.oauth;
  // With the refresh token, services revoke the access tokens that came from it.
  const [kind, reference] =
    refresh === undefined
      ? (["access_token", credentials[accessTokenField]] as const)
      : refresh.grant === "client_credentials"
        ? (["access_token", kept?.accessToken] as const)
        : (["refresh_token", kept?.refreshToken ?? refresh.refreshToken] as const);
  if (reference === undefined) return false;
  const token = await ports.secretValues.read(holderOf(accountKind, account), reference);
  return ports.oauthService.revoke({ ...serviceClient(found.client), revocationUrl, token, kind });
}
