import { appLabelOf } from "../../crds/account.ts";
import { oauthClientKind, type OAuthClientResource } from "../../crds/oauth-client.ts";
import { labels } from "../../crds/resource.ts";
import { operation, type ApiContext } from "../context.ts";
import { getApp } from "../apps/library.ts";
import { InvalidInput } from "../../domain/errors.ts";
import type { Call } from "../http/request/call.ts";
import { ownerParameters } from "../http/request/parameters.ts";
import { noContent, ok } from "../http/response/replies.ts";
import { nothing, one } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import { listOperations } from "../list-operations.ts";
import { clientResponse, createClient, deleteClient, updateClient } from "./client.ts";
import { clientChanges, clientFields, clientFilters } from "./request.ts";
import { oauthClientSchema } from "./schemas.ts";

const clientOf = (call: Call, { access }: ApiContext): Promise<OAuthClientResource> =>
  access.get(oauthClientKind, "oauthClient", pathOf(call, "id"), call.user);

/** OAuth clients, by which accounts of apps are connected. Responses never contain secrets. */
export const oauthClientOperations = [
  ...listOperations({
    path: "oauth_clients",
    id: "OAuthClients",
    noun: "OAuth clients",
    kind: oauthClientKind,
    schema: oauthClientSchema,
    filters: clientFilters,
    selectionOf: ({ app }) => (app === undefined || app === "" ? {} : { labels: { [labels.app]: appLabelOf(app) } }),
    respond: async (clients, _namespace, { config }) => clients.map((client) => clientResponse(client, config.publicUrl)),
  }),
  operation({
    route: "POST /oauth_clients",
    id: "createOAuthClient",
    change: { action: "create", kind: "OAuthClient" },
    summary: "Add the OAuth client of an app",
    description: "Register `redirect_uri` of the response at the service. An owner has one client of an app.",
    query: ownerParameters,
    body: clientFields,
    responses: one(oauthClientSchema),
    errors: [409],
    handle: async (call, context) => {
      const fields = call.body();
      const owner = await context.access.owner(call);
      const app = await getApp(fields.app, await context.ports.owners.find(owner), context);
      if (app.oauth === undefined)
        throw new InvalidInput(`accounts of '${app.slug}' have no OAuth client: it takes ${app.auth}; POST /v1/accounts stores them`);
      const client = await createClient({ ...fields, app: app.slug, oauth: app.oauth }, owner, context);
      await context.ports.pages.show(oauthClientKind, client);
      return ok(clientResponse(client, context.config.publicUrl));
    },
  }),
  operation({
    route: "GET /oauth_clients/:id",
    id: "getOAuthClient",
    summary: "Get an OAuth client",
    responses: one(oauthClientSchema),
    handle: async (call, context) => ok(clientResponse(await clientOf(call, context), context.config.publicUrl)),
  }),
  operation({
    route: "PUT /oauth_clients/:id",
    id: "updateOAuthClient",
    change: { action: "update", kind: "OAuthClient" },
    summary: "Change an OAuth client",
    description: "Absent fields stay unchanged. Null removes a field. With another `client_id`, accounts must be connected again.",
    body: clientChanges,
    responses: one(oauthClientSchema),
    errors: [409],
    handle: async (call, context) => {
      const changes = call.body();
      const client = await updateClient(await clientOf(call, context), changes, context);
      await context.ports.pages.show(oauthClientKind, client);
      return ok(clientResponse(client, context.config.publicUrl, context.ports.clock.now()));
    },
  }),
  operation({
    route: "DELETE /oauth_clients/:id",
    id: "deleteOAuthClient",
    change: { action: "delete", kind: "OAuthClient" },
    summary: "Delete an OAuth client",
    description: "Accounts that it connected cannot be refreshed without it.",
    responses: nothing,
    handle: async (call, context) => {
      await deleteClient(await clientOf(call, context), context);
      return noContent;
    },
  }),
];
