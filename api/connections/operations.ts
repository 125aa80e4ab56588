import { z } from "zod";
import { accountKind } from "../../crds/account.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { operation, type ApiContext } from "../context.ts";
import { getApp } from "../apps/library.ts";
import { scopeList } from "../apps/request.ts";
import type { Call } from "../http/request/call.ts";
import { optional, ownerParameters, text } from "../http/request/parameters.ts";
import { ok } from "../http/response/replies.ts";
import { one } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import { publicIdOf } from "../resources/identity.ts";
import { notFoundConnection } from "./finish.ts";
import type { StoredConnection } from "./ports.ts";
import { connectionSchema, startedConnectionSchema } from "./schemas.ts";
import { startConnection } from "./start.ts";

const scopes = optional(scopeList).describe("Scopes to request. Default: those of the OAuth client, else those of the app.");
const name = text.min(1, "it must not be empty").max(255, "it must have at most 255 characters");
const connectFields = z.object({
  name: optional(name).describe("Name of the account. Default: its name at the service."),
  scopes,
  account_id: optional(text).describe("Connects this account again, `apn_…`, instead of a new one."),
});
const reconnectFields = z.object({ scopes });

/** A person connects an account by signing in at the service: the browser goes there, and comes back to `/oauth/callback`. */
export const connectionOperations = [
  operation({
    route: "POST /apps/:slug/connect",
    id: "connectApp",
    change: { action: "connect", kind: "Account" },
    summary: "Begin to connect an account of an app",
    description: "A person opens `url` in a browser within ten minutes. `GET /connections/{id}` returns how it ended.",
    query: ownerParameters,
    body: connectFields,
    responses: one(startedConnectionSchema),
    handle: async (call, context) => {
      const { account_id: account, ...wanted } = call.body();
      const owner = await context.access.owner(call);
      const app = await getApp(pathOf(call, "slug"), await context.ports.owners.find(owner), context);
      if (account === undefined) return ok(await startConnection(app, owner, { ...wanted, account: undefined }, call, context));
      return ok(await reconnect(account, wanted.scopes, call, context, app.slug));
    },
  }),
  operation({
    route: "POST /accounts/:id/reconnect",
    id: "reconnectAccount",
    change: { action: "reconnect", kind: "Account" },
    summary: "Begin to connect an account again",
    description: "Its id and its name stay, and what uses it goes on with the new credentials.",
    body: reconnectFields,
    responses: one(startedConnectionSchema),
    handle: async (call, context) => ok(await reconnect(pathOf(call, "id"), call.body().scopes, call, context)),
  }),
  operation({
    route: "GET /connections/:id",
    id: "getConnection",
    summary: "Get the outcome of connecting an account",
    responses: one(connectionSchema),
    handle: async (call, { ports, access }) => {
      const id = pathOf(call, "id");
      const organization = await access.organization(call);
      const found = await ports.connections.find(id);
      if (found === undefined || found.user !== call.user.id) throw notFoundConnection(id);
      if (organization !== undefined && organization !== found.owner) throw notFoundConnection(id);
      return ok(connectionResponse(found, ports.clock.now()));
    },
  }),
];

async function reconnect(id: string, wanted: readonly string[] | undefined, call: Call, context: ApiContext, slug?: string) {
  const account = await context.access.get(accountKind, "account", id, call.user);
  if (slug !== undefined && account.spec.app !== slug)
    throw new InvalidInput(`account ${id} is of app '${account.spec.app}', not of '${slug}': connect it as what it is`);
  const { namespace } = account.metadata;
  const owner = (await context.access.ownerOf(account)) ?? call.user.id;
  const app = await getApp(account.spec.app, namespace, context);
  return startConnection(app, owner, { scopes: wanted, name: undefined, account: publicIdOf(account) }, call, context);
}

const expired = {
  code: "expired",
  message: "no one has signed in at the service within ten minutes: start again",
} as const;
const interrupted = { code: "not_stored", message: "the account was not stored, because Headwater was interrupted: start again" } as const;

function connectionResponse({ id, request, outcome, isUsed, expiresAt }: StoredConnection, now: number) {
  const problem = outcome?.status === "failed" ? outcome : outcome === null && expiresAt <= now ? (isUsed ? interrupted : expired) : null;
  return {
    id,
    app: request.app,
    status: outcome?.status ?? (problem === null ? ("pending" as const) : ("failed" as const)),
    account_id: outcome?.status === "connected" ? outcome.account : null,
    missing_scopes: outcome?.status === "connected" ? [...outcome.missingScopes] : [],
    problem: problem === null ? null : { code: problem.code, message: problem.message },
    expires_at: new Date(expiresAt).toISOString(),
  };
}
