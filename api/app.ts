import express, { type Express, type Request } from "express";
import { clientReader } from "../domain/client-address.ts";
import { codeLimits } from "../domain/component/component-code.ts";
import { adminRouter } from "./admin/routes.ts";
import { authenticate, checkScope, signedIn, signedInCall } from "./http/access/authentication.ts";
import type { Call } from "./http/request/call.ts";
import { readBodies } from "./http/request/body.ts";
import { answerErrors } from "./http/response/errors.ts";
import type { HttpMetrics } from "./http/telemetry/metrics.ts";
import { refuseSeveralHosts } from "./http/routing/one-host.ts";
import { collapseSlashes } from "./http/routing/paths.ts";
import { Parsing } from "./http/request/parsing.ts";
import { limitRate } from "./http/access/rate-limit.ts";
import { logRequests } from "./http/telemetry/request-log.ts";
import { noSuchRoute } from "./http/routing/no-such-route.ts";
import { mount, routesOf, type RouteTable } from "./http/routing/route-table.ts";
import { securityHeaders } from "./http/response/security-headers.ts";
import { traceRequests } from "./http/telemetry/traces.ts";
import { publicApi } from "./openapi/document.ts";
import { knownNames } from "./openapi/known-names.ts";
import type { TabledOperations } from "./openapi/operations.ts";
import { documentRoutes } from "./openapi/routes.ts";
import type { RoutesOf } from "./openapi/typed-routes.ts";
import { accountRoutes } from "./accounts/operations.ts";
import { documentedRoutes, withAliases } from "./http/routing/aliases.ts";
import { autoSubscriptionRoutes } from "./subscriptions/auto-operations.ts";
import { componentListRoutes } from "./components/list-operations.ts";
import { componentRoutes } from "./components/operations.ts";
import { configurationRoutes } from "./configuration/operations.ts";
import type { ApiContext } from "./context.ts";
import { deliveryRoutes } from "./deliveries/operations.ts";
import { eventRoutes } from "./events/operations.ts";
import { healthRoutes } from "./http/telemetry/health.ts";
import { keyRoutes } from "./keys/operations.ts";
import { listRoutes } from "./resources/lists.ts";
import { memberRoutes } from "./organizations/member-operations.ts";
import { organizationRoutes } from "./organizations/operations.ts";
import { replayRoutes } from "./replays/operations.ts";
import { runRoutes } from "./runs/operations.ts";
import { sourceRoutes } from "./sources/operations.ts";
import { streamed, streamRoutes, unversionedStreams } from "./streams/operations.ts";
import { subscriptionRoutes } from "./subscriptions/operations.ts";
import { tickRoutes } from "./runs/tick-operations.ts";
import { tokenRoute, tokenRouter } from "./keys/token-endpoint.ts";
import { userRoutes } from "./owners/operations.ts";
import { webhookRoutes } from "./webhooks/operations.ts";
import { workflowRoutes } from "./workflows/operations.ts";

/** All routes of the API. */
export function routes(context: ApiContext): RoutesOf<TabledOperations, Call> & RouteTable {
  const accounts = accountRoutes(context);
  const autoSubscriptions = autoSubscriptionRoutes(context);
  const components = componentRoutes(context);
  const library = componentListRoutes(context);
  const configuration = configurationRoutes(context);
  const deliveries = deliveryRoutes(context);
  const events = eventRoutes(context);
  const keys = keyRoutes(context);
  const members = memberRoutes(context);
  const organization = organizationRoutes(context);
  const replays = replayRoutes(context);
  const runs = runRoutes(context);
  const sources = sourceRoutes(context);
  const subscriptions = subscriptionRoutes(context);
  const ticks = tickRoutes(context);
  const users = userRoutes(context);
  const webhooks = webhookRoutes(context);
  const workflows = workflowRoutes(context);
  const { mine, organizations } = listRoutes(context);
  return {
    "/users/me": { GET: users.me },
    "/users/me/keys": { GET: keys.list, POST: keys.create },
    "/users/me/keys/:id": { DELETE: keys.revoke },
    "/users/me/accounts": { GET: mine.accounts },
    "/users/me/auto_subscriptions": { GET: mine.autoSubscriptions },
    "/users/me/sources": { GET: mine.sources },
    "/users/me/subscriptions": { GET: mine.subscriptions },
    "/users/me/webhooks": { GET: mine.webhooks },
    "/users/me/workflows": { GET: mine.workflows },

    "/orgs": { POST: organization.create },
    "/orgs/:org_id": { GET: organization.get, DELETE: organization.delete },
    "/orgs/:org_id/members": { GET: members.list, POST: members.add },
    "/orgs/:org_id/members/:user_id": { PUT: members.put, DELETE: members.remove },
    "/orgs/:org_id/accounts": { GET: organizations.accounts },
    "/orgs/:org_id/auto_subscriptions": { GET: organizations.autoSubscriptions },
    "/orgs/:org_id/sources": { GET: organizations.sources },
    "/orgs/:org_id/subscriptions": { GET: organizations.subscriptions },
    "/orgs/:org_id/webhooks": { GET: organizations.webhooks },
    "/orgs/:org_id/workflows": { GET: organizations.workflows },

    "/accounts": { POST: accounts.create },
    "/accounts/:id": { GET: accounts.get, PUT: accounts.update, DELETE: accounts.delete },

    "/components": { GET: library.own, POST: components.create },
    "/components/search": { GET: library.search },
    "/components/search/details": { GET: library.searchDetails },
    "/components/registry": { GET: library.registry },
    "/components/registry/:key": { GET: library.published },
    "/components/:key": { GET: components.get, DELETE: components.delete },
    "/components/:key/versions": { GET: library.versions },
    "/components/:key/options": { POST: configuration.componentOptions },
    "/components/:key/props": { POST: configuration.componentProps },

    "/sources": { POST: sources.create },
    "/sources/:id": { GET: sources.get, PUT: sources.update, DELETE: sources.delete },
    "/sources/:id/event_summaries": { GET: events.summaries },
    "/sources/:id/events": { GET: events.legacy, DELETE: events.delete },
    "/sources/:id/events/deletions": { GET: events.deletions },
    "/sources/:id/replays": { POST: replays.create },
    "/sources/:id/runs": { GET: runs.list, POST: runs.create },
    "/sources/:id/runs/:run_id": { GET: runs.get },
    "/sources/:id/ticks": { GET: ticks.list },
    "/sources/:id/logs": { GET: runs.logs },
    "/sources/:id/options": { POST: configuration.sourceOptions },
    "/sources/:id/props": { POST: configuration.sourceProps },

    "/subscriptions": { POST: subscriptions.create, DELETE: subscriptions.delete },
    "/subscriptions/:id": { DELETE: subscriptions.deleteById },
    "/auto_subscriptions": { POST: autoSubscriptions.create, DELETE: autoSubscriptions.delete },
    "/webhooks": { POST: webhooks.create },
    "/webhooks/:id": { GET: webhooks.get, PUT: webhooks.update, DELETE: webhooks.delete },
    "/webhooks/:id/rotate_key": { POST: webhooks.rotateKey },
    "/webhooks/:id/previous_key": { DELETE: webhooks.endPreviousKey },
    "/webhooks/:id/test": { POST: webhooks.test },
    "/webhooks/:id/backlog": { GET: deliveries.backlog },
    "/webhooks/:id/deliveries": { GET: deliveries.attempts },
    "/webhooks/:id/dead_letters": { GET: deliveries.deadLetters, DELETE: deliveries.purge },
    "/webhooks/:id/dead_letters/redrive": { POST: deliveries.redrive },
    "/deliveries/:id/retry": { POST: deliveries.retry },

    "/workflows/:workflow_id": { GET: workflows.get },
    "/workflows/:workflow_id/event_summaries": { GET: workflows.summaries },
    "/workflows/:workflow_id/$errors/event_summaries": { GET: workflows.errors },
  };
}

/** Whether the request may contain a component's code. */
function takesCode({ method, path }: Request): boolean {
  return method === "POST" ? /^\/(components|sources)\/?$/.test(path) : method === "PUT" && /^\/sources\/[^/]+\/?$/.test(path);
}

/** Creates the API. It authenticates callers before it reads bodies, so unknown callers cost neither memory nor parsing. */
export function createApp(context: ApiContext, metrics: HttpMetrics): Express {
  const { config, ports } = context;
  const app = express().disable("x-powered-by").disable("etag");
  const failures = { limit: config.failureLimit, clock: ports.clock, clientOf: clientReader(config.trustedProxies) };
  const parsing = new Parsing();
  const v1 = express.Router();
  v1.use(
    authenticate(ports.accounts, failures),
    limitRate(config.rateLimit, ports.clock),
    checkScope,
    readBodies({
      bodies: ports.bodies,
      parsing,
      holderOf: (_request, response) => signedIn(response).user.id,
      limitBytes: (request) => (takesCode(request) ? config.codeBodyBytes : config.bodyBytes),
      uploads: { takes: takesCode, limits: { codeBytes: config.codeBytes, files: codeLimits.files } },
    }),
  );
  if (ports.streams !== undefined) v1.use(streamRoutes(context));
  const table = routes(context);
  mount(v1, "/v1", withAliases(table), signedInCall, knownNames(publicApi));
  const served = [...documentedRoutes(routesOf(table)), tokenRoute, ...(ports.streams === undefined ? [] : streamed)];
  app.use(logRequests(ports.log, metrics, ports.clock), traceRequests(ports.traces), securityHeaders, refuseSeveralHosts, collapseSlashes);
  app.use(healthRoutes(ports.readiness, config.servesMetrics ? metrics : undefined));
  app.use(documentRoutes(served));
  if (ports.streams !== undefined) app.use(unversionedStreams);
  app.use("/v1", tokenRouter(context, { failures, parsing }), v1);
  if (config.adminToken !== undefined) app.use("/admin/v1", adminRouter(context, config.adminToken, { failures, parsing }));
  return app.use(noSuchRoute("/v1", served), answerErrors(ports.log));
}
