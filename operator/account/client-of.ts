import type { AccountResource } from "../../crds/account.ts";
import type { FoundApp } from "../../crds/app-library.ts";
import { oauthClientKind, type OAuthClientResource } from "../../crds/oauth-client.ts";
import { holderOf } from "../../crds/secret-values.ts";
import type { AppOauth, ClientAuthentication } from "../../domain/app/app.ts";
import { secretOrigins } from "../../domain/app/origins.ts";
import { InvalidInput, NotFound, type HeadwaterError } from "../../domain/errors.ts";
import type { OperatorPorts } from "../ports.ts";
import type { ServiceClient, TokenEndpointForm } from "../oauth-ports.ts";

export type ClientPorts = Pick<OperatorPorts, "store" | "secretValues" | "apps">;

/** A client, and the app to whose addresses its secret may be sent. */
export interface UsableClient extends ServiceClient {
  readonly clientAuthentication: ClientAuthentication;
  readonly app: FoundApp & { readonly oauth: AppOauth };
}

export type ClientLookup =
  | { readonly client: UsableClient }
  /** It was deleted or changed: only connecting again helps. */
  | { readonly changed: string }
  /** Its secret cannot be read now. */
  | { readonly error: HeadwaterError };

/** Where accounts of the app are refreshed. */
export const refreshUrlOf = ({ grant, refreshUrl, tokenUrl }: AppOauth): string =>
  grant === "client_credentials" ? tokenUrl : (refreshUrl ?? tokenUrl);

export const formOf = ({ requestFormat, tokenParameters, tokenPath }: AppOauth): TokenEndpointForm => ({
  requestFormat,
  tokenParameters,
  tokenPath,
});

/** The OAuth client with this id, if accounts of the namespace may use it. */
export async function findClient(id: string, namespace: string, ports: ClientPorts): Promise<ClientLookup> {
  const found = await ports.store.findById(oauthClientKind, id);
  const exists = found !== undefined && found.metadata.deletionTimestamp === undefined && found.invalid === undefined;
  const app = exists ? await ports.apps.appFor(found, namespace) : undefined;
  if (!exists || app?.oauth === undefined) return { changed: `its OAuth client ${id} no longer exists` };
  if (!hasOriginsOf(found, { ...app, oauth: app.oauth }))
    return {
      changed: `app ${app.slug} has other addresses than when the secret of its OAuth client ${id} was given: give the secret again`,
    };
  try {
    const clientSecret = await secretOf(found, ports);
    const { oauth } = app;
    const clientAuthentication = oauth.clientAuthentication ?? "basic";
    return { client: { clientId: found.spec.clientId, clientSecret, clientAuthentication, app: { ...app, oauth } } };
  } catch (error) {
    if (error instanceof NotFound || error instanceof InvalidInput) return { error };
    throw error;
  }
}

/** Otherwise a person who may change apps, but not read secrets, could have them sent to any address. */
function hasOriginsOf({ spec: { origins } }: OAuthClientResource, app: FoundApp & { readonly oauth: AppOauth }): boolean {
  if (origins === undefined) return app.origin === "built_in";
  return secretOrigins(app.oauth).every((origin) => origins.includes(origin));
}

const secretOf = async (client: OAuthClientResource, { secretValues }: ClientPorts): Promise<string | undefined> =>
  client.spec.clientSecret === undefined ? undefined : secretValues.read(holderOf(oauthClientKind, client), client.spec.clientSecret);

/**
 * The client of a connected account. Its secret goes only to the endpoint of the app as the client's owner sees it: the account's owner may
 * have written another address into the account.
 */
export async function clientOfAccount(account: AccountResource, ports: ClientPorts): Promise<ClientLookup | undefined> {
  const { connection, oauth } = account.spec;
  if (connection === undefined || oauth === undefined || oauth.clientSecret !== undefined) return undefined;
  const found = await findClient(connection.client, account.metadata.namespace, ports);
  if (!("client" in found)) return found;
  const isOfClient = oauth.grant === "client_credentials";
  const { slug, oauth: rules } = found.client.app;
  if (isOfClient !== (rules.grant === "client_credentials")) return { changed: `the grant of app ${slug} has changed` };
  // No person has granted anything: the client and the app count as they are now.
  const changed = isOfClient ? undefined : changeSince(oauth, connection.client, found.client);
  return changed === undefined ? found : { changed };
}

/** What is different since the account was connected, so that its refresh token must not be sent. */
export function changeSince(
  oauth: Pick<NonNullable<AccountResource["spec"]["oauth"]>, "clientId" | "tokenUrl">,
  id: string,
  { clientId, app }: UsableClient,
): string | undefined {
  if (clientId !== oauth.clientId) return `its OAuth client ${id} has another client_id now`;
  return refreshUrlOf(app.oauth) === oauth.tokenUrl ? undefined : `the token endpoint of app ${app.slug} has changed`;
}
