import { accountKind, appLabelOf, type AccountResource, type AccountSpec } from "../../crds/account.ts";
import { labels } from "../../crds/resource.ts";
import type { SecretReference } from "../../crds/secret-reference.ts";
import type { ConnectedCredentials } from "../../domain/connection/connection.ts";
import { HeadwaterError, NotFound } from "../../domain/errors.ts";
import { isId, newId, resourceNameOf } from "../../domain/ids.ts";
import type { ApiContext } from "../context.ts";
import { callbackPath } from "../oauth-clients/client.ts";
import { changeResource } from "../resources/change.ts";
import { publicIdOf } from "../resources/identity.ts";
import { confirmOwned } from "../resources/owner-present.ts";
import type { ConnectionOutcome, StoredConnection } from "./ports.ts";

type Finishing = Pick<ApiContext, "ports" | "config">;
type Connected = ConnectedCredentials<SecretReference>;

/** Exchanges the code and stores the account. Never throws an expected error: the outcome says what happened. */
export async function finishConnection(
  connection: StoredConnection,
  given: { readonly code: string; readonly issuer: string | undefined },
  context: Finishing,
): Promise<ConnectionOutcome> {
  try {
    return await exchangeAndStore(connection, given, context);
  } catch (error) {
    if (!(error instanceof HeadwaterError)) throw error;
    return { status: "failed", code: "not_stored", message: `the account was not stored: ${error.message}. Start again` };
  }
}

async function exchangeAndStore(
  connection: StoredConnection,
  { code, issuer }: { readonly code: string; readonly issuer: string | undefined },
  { ports, config }: Finishing,
): Promise<ConnectionOutcome> {
  const { owner, request, verifier } = connection;
  const namespace = await ports.owners.ensure(owner);
  const existing = request.account === undefined ? undefined : await ports.store.findById(accountKind, request.account);
  const isGone = existing === undefined || existing.metadata.deletionTimestamp !== undefined || existing.metadata.namespace !== namespace;
  if (request.account !== undefined && isGone)
    return {
      status: "failed",
      code: "account_deleted",
      message: `account ${request.account} was deleted in the meantime: connect a new one`,
    };
  const id = request.account ?? newId("account", ports.randomBytes);
  const name = existing?.metadata.name ?? resourceNameOf(id);
  const result = await ports.connector.exchange({
    namespace,
    account: name,
    client: request.client,
    code,
    ...(issuer === undefined ? {} : { issuer }),
    verifier: verifier ?? "",
    redirectUri: config.publicUrl + callbackPath,
    scopes: request.scopes,
  });
  if (result.outcome === "failed") return { status: "failed", code: result.code, message: result.message };
  const account =
    existing === undefined
      ? await createConnected({ id, name, namespace }, connection, result, ports)
      : await changeResource(accountKind, ports.store, existing, ({ spec }) => connectedSpec(spec, connection, result, ports.clock.now()));
  await ports.pages.show(accountKind, account);
  return { status: "connected", account: publicIdOf(account), missingScopes: result.missingScopes };
}

async function createConnected(
  { id, name, namespace }: { readonly id: string; readonly name: string; readonly namespace: string },
  connection: StoredConnection,
  result: Connected,
  ports: Finishing["ports"],
): Promise<AccountResource> {
  const { owner, request } = connection;
  const display = request.name ?? result.name ?? request.appName;
  const account = await ports.store.create(accountKind, {
    name,
    namespace,
    labels: { [labels.id]: id, [labels.owner]: owner, [labels.app]: appLabelOf(request.app) },
    spec: connectedSpec({ app: request.app, name: display, credentials: {} }, connection, result, ports.clock.now()),
  });
  await confirmOwned(accountKind, account, owner, ports);
  return account;
}

/** Name and further credentials stay; what the service gave replaces the rest. */
function connectedSpec(before: AccountSpec, { request }: StoredConnection, result: Connected, now: number): AccountSpec {
  const { oauth: _, ...rest } = before;
  return {
    ...rest,
    credentials: { ...before.credentials, ...result.credentials },
    ...(result.oauth === undefined ? {} : { oauth: result.oauth }),
    connection: {
      client: request.client,
      scopes: result.scopes.filter(({ length }) => length <= 512).slice(0, 200),
      ...(result.name === undefined ? {} : { name: result.name }),
      ...(result.picture === undefined ? {} : { picture: result.picture }),
      connectedAt: new Date(now).toISOString(),
      ...(result.expiresAt === undefined ? {} : { expiresAt: result.expiresAt }),
    },
  };
}

/** Whether who began the connection may still act for its owner. */
export async function mayFinish({ owner, user }: StoredConnection, { accounts }: Finishing["ports"]): Promise<boolean> {
  if (owner === user) return true;
  return isId("organization", owner) && (await accounts.isMember(user, owner));
}

export const notFoundConnection = (id: string): NotFound =>
  new NotFound(`record not found: there is no connection ${id.slice(0, 80)} that you have begun; they are kept for twenty minutes`);
