import express, { type Express, type Request, type RequestHandler, type Router } from "express";
import { clientReader } from "../domain/client-address.ts";
import { codeLimits } from "../domain/component/component-code.ts";
import { adminRouter } from "./admin/router.ts";
import { consolePages, unknownPage } from "./console/pages.ts";
import { oauthCallback } from "./connections/callback.ts";
import { sessionRoutes } from "./console/session-routes.ts";
import { audited } from "./audit/audited.ts";
import type { ApiContext } from "./context.ts";
import { unversionedStreams } from "./events/stream-operations.ts";
import { authenticate, checkScope, signedIn, signedInCall } from "./http/access/authentication.ts";
import { chargeConnections, type Charge } from "./http/access/connection-share.ts";
import { limitRate } from "./http/access/rate-limit.ts";
import { readBodies } from "./http/request/body.ts";
import { Parsing } from "./http/request/parsing.ts";
import { listMemory } from "./http/response/write-list.ts";
import { answerErrors } from "./http/response/errors.ts";
import { securityHeaders } from "./http/response/security-headers.ts";
import { aliasesOf } from "./http/routing/aliases.ts";
import { mount } from "./http/routing/mount.ts";
import { noSuchRoute } from "./http/routing/no-such-route.ts";
import { refuseSeveralHosts } from "./http/routing/one-host.ts";
import { parseRoute, type OperationDocument } from "./http/routing/operation.ts";
import { collapseSlashes } from "./http/routing/paths.ts";
import { healthRoutes } from "./http/telemetry/health.ts";
import type { HttpMetrics } from "./http/telemetry/metrics.ts";
import { logRequests } from "./http/telemetry/request-log.ts";
import { traceRequests } from "./http/telemetry/traces.ts";
import { tokenOperation, tokenRouter } from "./keys/token-endpoint.ts";
import { describedOperations } from "./openapi/document.ts";
import { documentPages } from "./openapi/pages.ts";
import { operations } from "./operations.ts";
import { confirmEmailPage } from "./owners/confirm-email.ts";
import { withinOrganization } from "./owners/within-organization.ts";

const clients = "Clients";

/** The operations that the document describes, by tag. */
export const documentedOperations = { ...operations, [clients]: [tokenOperation] };

/** What the servers know about a request. */
export interface Doors {
  /** Whether a request came by an address that has the admin API. */
  readonly isAdministrable: (request: Request) => boolean;
  readonly charge: Charge;
}

/**
 * Creates the API. It authenticates callers before it reads bodies, so unknown callers cost neither memory nor parsing.
 */
export function createApp(context: ApiContext, metrics: HttpMetrics, { isAdministrable, charge }: Doors): Express {
  const { config, ports } = context;
  const app = express().disable("x-powered-by").disable("etag");
  const failures = { limit: config.failureLimit, clock: ports.clock, clientOf: clientReader(config.trustedProxies) };
  const parsing = new Parsing();
  const memory = listMemory();
  const doors = { failures, parsing, listMemory: memory };
  const isServed = ({ respond }: { readonly respond?: unknown }): boolean => respond === undefined || ports.streams !== undefined;
  const served = Object.fromEntries(Object.entries(operations).map(([tag, group]) => [tag, group.filter(isServed)]));
  const documented = { ...served, [clients]: [tokenOperation] };
  const v1 = express.Router();
  const limitRateOfKey = limitRate(config.rateLimit, ports.clock);
  v1.use(
    authenticate(ports, failures),
    chargeConnections(charge),
    limitRateOfKey,
    checkScope,
    readBodies({
      bodies: ports.bodies,
      parsing,
      holderOf: (_request, response) => signedIn(response).user.id,
      limitBytes: (request) => (uploadTo(request) === undefined ? config.bodyBytes : config.codeBodyBytes),
      uploads: { bodyOf: (request) => filesTo(request)?.body, limits: { codeBytes: config.codeBytes, files: codeLimits.files } },
    }),
  );
  mount(v1, Object.values(served).flat().map(withinOrganization).map(audited), {
    base: "/v1",
    context,
    callOf: signedInCall,
    aliasesOf,
    lists: (response) => ({ memory, holder: signedIn(response).user.id }),
  });
  app.use(logRequests(ports.log, metrics, ports.clock), traceRequests(ports.traces), securityHeaders, refuseSeveralHosts, collapseSlashes);
  app.use(healthRoutes(ports.readiness, config.servesMetrics ? metrics : undefined));
  app.use(documentPages(documented), consolePages());
  app.use(confirmEmailPage(ports, failures));
  app.use(oauthCallback(context, failures));
  app.use("/console", sessionRoutes(ports, failures, limitRateOfKey));
  if (ports.streams !== undefined) app.use(unversionedStreams);
  app.use("/v1", tokenRouter(context, doors), v1);
  if (config.adminToken !== undefined) app.use("/admin/v1", onlyIf(isAdministrable, adminRouter(context, config.adminToken, doors)));
  return app.use(unknownPage, noSuchRoute("/v1", describedOperations(documented, aliasesOf)), answerErrors(ports.log));
}

/** A router that does not exist for other requests. */
function onlyIf(condition: (request: Request) => boolean, router: Router): RequestHandler {
  return (request, response, next) => (condition(request) ? router(request, response, next) : next());
}

/** Operations whose body may contain the code of components or an event, with a pattern of their path. */
const uploads = Object.values(operations)
  .flat()
  .filter(({ takesFiles, takesCode, takesEvent }) => takesFiles === true || takesCode === true || takesEvent === true)
  .map((operation) => {
    const { method, path } = parseRoute(operation.route);
    return { operation, method, pattern: new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}/?$`) };
  });

function uploadTo({ method, path }: Request): OperationDocument | undefined {
  return uploads.find((upload) => upload.method === method && upload.pattern.test(path))?.operation;
}

function filesTo(request: Request): OperationDocument | undefined {
  const operation = uploadTo(request);
  return operation?.takesFiles === true ? operation : undefined;
}
