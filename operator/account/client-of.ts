import type { AccountResource } from "../../crds/account.ts";
import type { FoundApp } from "../../crds/app-library.ts";
import { oauthClientKind, type OAuthClientResource } from "../../crds/oauth-client.ts";
import { holderOf } from "../../crds/secret-values.ts";
import type { AppOauth, ClientAuthentication } from "../../domain/app/app.ts";
import { InvalidInput, NotFound, type HeadwaterError } from "../../domain/errors.ts";
import type { OperatorPorts } from "../ports.ts";
import type { ServiceClient } from "../oauth-ports.ts";

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
export const refreshUrlOf = ({ refreshUrl, tokenUrl }: AppOauth): string => refreshUrl ?? tokenUrl;

/** The OAuth client with this id, if accounts of the namespace may use it. */
export async function findClient(id: string, namespace: string, ports: ClientPorts): Promise<ClientLookup> {
  const found = await ports.store.findById(oauthClientKind, id);
  const exists = found !== undefined && found.metadata.deletionTimestamp === undefined && found.invalid === undefined;
  const app = exists ? await ports.apps.appFor(found, namespace) : undefined;
  if (!exists || app?.oauth === undefined) return { changed: `its OAuth client ${id} no longer exists` };
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
  const { clientId, app } = found.client;
  if (clientId !== oauth.clientId) return { changed: `its OAuth client ${connection.client} has another client_id now` };
  if (refreshUrlOf(app.oauth) !== oauth.tokenUrl) return { changed: `the token endpoint of app ${app.slug} has changed` };
  return found;
}
