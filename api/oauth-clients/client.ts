import { appLabelOf } from "../../crds/account.ts";
import { oauthClientKind, type OAuthClientResource, type OAuthClientSpec } from "../../crds/oauth-client.ts";
import { labels } from "../../crds/resource.ts";
import type { SecretReference } from "../../crds/secret-reference.ts";
import { allOf } from "../../crds/resource-store.ts";
import type { AppOauth } from "../../domain/app/app.ts";
import { secretOrigins } from "../../domain/app/origins.ts";
import { Conflict } from "../../domain/errors.ts";
import { newId, resourceNameOf } from "../../domain/ids.ts";
import type { ApiContext } from "../context.ts";
import { changeResource, unlessDeleted } from "../resources/change.ts";
import { publicIdOf } from "../resources/identity.ts";
import { confirmOwned } from "../resources/owner-present.ts";
import { keepOnce } from "../resources/secret-texts.ts";
import type { Answered } from "../http/response/answered.ts";
import type { ClientChanges, ClientFields } from "./request.ts";
import type { oauthClientSchema } from "./schemas.ts";

/** Path of the page to which services redirect browsers. */
export const callbackPath = "/oauth/callback";

/** @throws Conflict when the owner has a client of the app */
export async function createClient(
  given: ClientFields & { readonly oauth: AppOauth },
  owner: string,
  { ports }: ApiContext,
): Promise<OAuthClientResource> {
  const { app, name, client_id: clientId, client_secret: secret, scopes } = given;
  const id = newId("oauthClient", ports.randomBytes);
  const holder = { kind: oauthClientKind.kind, namespace: await ports.owners.ensure(owner), name: resourceNameOf(id) };
  for await (const other of allOf(ports.store, oauthClientKind, { namespace: holder.namespace }))
    if (other.spec.app === app && other.metadata.deletionTimestamp === undefined)
      throw new Conflict(`${publicIdOf(other)} is the client of app '${app}' already: change it with PUT, or delete it first`, {
        code: "already_exists",
      });
  const kept = secret === undefined ? {} : await keepOnce(holder, ports)({ client_secret: secret });
  const client = await ports.store.create(oauthClientKind, {
    name: holder.name,
    namespace: holder.namespace,
    labels: { [labels.id]: id, [labels.owner]: owner, [labels.app]: appLabelOf(app) },
    spec: {
      app,
      ...(name === undefined ? {} : { name }),
      clientId,
      ...(kept["client_secret"] === undefined ? {} : { clientSecret: kept["client_secret"] }),
      origins: secretOrigins(given.oauth),
      ...(scopes === undefined ? {} : { scopes }),
    },
  });
  await confirmOwned(oauthClientKind, client, owner, ports);
  return client;
}

/** Accounts keep the id of the client by which they were connected. Another client id makes them `needs_reconnect`. */
export async function updateClient(
  client: OAuthClientResource,
  changes: ClientChanges,
  { ports, apps }: ApiContext,
): Promise<OAuthClientResource> {
  const { namespace, name } = client.metadata;
  const keep = keepOnce({ kind: oauthClientKind.kind, namespace, name }, ports);
  const oauth = (await apps.find(namespace, client.spec.app))?.oauth;
  const origins = oauth === undefined ? undefined : secretOrigins(oauth);
  return changeResource(oauthClientKind, ports.store, client, async ({ spec }) => {
    const { client_secret: secret } = changes;
    const kept = typeof secret === "string" ? (await keep({ client_secret: secret }))["client_secret"] : undefined;
    return changedClient(spec, changes, kept, origins);
  });
}

/** @param current origins of the app now: who gives the secret agrees to them; another change does not */
function changedClient(
  before: OAuthClientSpec,
  changes: ClientChanges,
  kept: SecretReference | undefined,
  current: readonly string[] | undefined,
): OAuthClientSpec {
  const name = changes.name === null ? undefined : (changes.name ?? before.name);
  const clientSecret = changes.client_secret === null ? undefined : (kept ?? before.clientSecret);
  const scopes = changes.scopes === null ? undefined : (changes.scopes ?? before.scopes);
  const isGiven = kept !== undefined || (clientSecret === undefined && (changes.client_secret === null || changes.client_id !== undefined));
  const origins = isGiven ? current : before.origins;
  return {
    app: before.app,
    ...(name === undefined ? {} : { name }),
    clientId: changes.client_id ?? before.clientId,
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(origins === undefined ? {} : { origins: [...origins] }),
    ...(scopes === undefined ? {} : { scopes }),
  };
}

export const deleteClient = ({ metadata: { namespace, name } }: OAuthClientResource, { ports }: ApiContext): Promise<void> =>
  unlessDeleted(ports.store.delete(oauthClientKind, namespace, name));

/** @param changedAt epoch ms of a change that the operator has not seen yet */
export function clientResponse(client: OAuthClientResource, publicUrl: string, changedAt?: number): Answered<typeof oauthClientSchema> {
  const { metadata, spec, status } = client;
  const created = Date.parse(metadata.creationTimestamp);
  const ready = status.conditions?.find(({ type, observedGeneration }) => type === "Ready" && observedGeneration >= metadata.generation);
  const healthy = ready === undefined ? null : ready.status === "True";
  return {
    id: publicIdOf(client),
    app: spec.app,
    name: spec.name ?? null,
    client_id: spec.clientId,
    has_secret: spec.clientSecret !== undefined,
    scopes: spec.scopes === undefined ? null : [...spec.scopes],
    redirect_uri: publicUrl + callbackPath,
    healthy,
    problem: healthy === false ? (ready?.message ?? null) : null,
    created_at: new Date(created).toISOString(),
    updated_at: new Date(Math.max(created, changedAt ?? status.updatedAt ?? created)).toISOString(),
  };
}
