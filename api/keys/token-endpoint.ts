import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response, type Router } from "express";
import { networkOf } from "../../domain/client-address.ts";
import { HeadwaterError, Unauthenticated } from "../../domain/errors.ts";
import { signedIn, signIn } from "../http/access/authentication.ts";
import { hashOf } from "../http/access/hash.ts";
import { readBodies } from "../http/request/body.ts";
import type { DoorLimits } from "../http/access/door-limits.ts";
import { known } from "../http/response/errors.ts";
import { limitFailures } from "../http/access/failure-limit.ts";
import { limitRate } from "../http/access/rate-limit.ts";
import { otherMethods } from "../http/routing/mount.ts";
import type { OperationDocument } from "../http/routing/operation.ts";
import { tokenErrorSchema, tokenSchema } from "./schemas.ts";
import { readTokenRequest, tokenFields, tokenResponse } from "./token-request.ts";
import type { ApiContext } from "../context.ts";

const path = "/oauth/token";

/** OAuth 2.0 client credentials (RFC 6749, section 4.4), for programs that cannot send an API key. Responses have no `data`. */
export const tokenOperation: OperationDocument = {
  route: `POST ${path}`,
  id: "createToken",
  summary: "Get an access token for a client",
  description:
    "OAuth 2.0 client credentials (RFC 6749, section 4.4). The token is the API key itself: it has the same scopes and expires with the key.",
  authentication: "client",
  body: tokenFields,
  responses: {
    200: tokenSchema,
    400: tokenErrorSchema,
    401: tokenErrorSchema,
    413: tokenErrorSchema,
    429: tokenErrorSchema,
    503: tokenErrorSchema,
  },
};

const maxBodyBytes = 16 * 1024;

/** Serves {@link tokenOperation}, which authenticates in its own way. */
export function tokenRouter({ config, ports }: Pick<ApiContext, "config" | "ports">, { failures, parsing }: DoorLimits): Router {
  const { accounts, bodies, clock } = ports;
  // The body has the credentials, so it is read before the caller is known.
  const holderOf = (request: Request): string => networkOf(failures.clientOf(request).address);
  const identify = async (request: Request, response: Response): Promise<void> => {
    const client = readTokenRequest(request.headers.authorization, request.body);
    const keyHash = hashOf(client.secret);
    const key = await accounts.findKey(keyHash);
    // One message for an unknown key and for a key of another user, so that it does not reveal which users exist.
    if (key === undefined || (client.id !== key.id && client.id !== key.user.id))
      throw new Unauthenticated("the client is unknown, or client_secret is not an API key of it");
    response.locals["signedIn"] = signIn(key, keyHash, clock.now());
    response.locals["clientSecret"] = client.secret;
  };
  const answer: RequestHandler = (_request, response) => {
    const secret = String(response.locals["clientSecret"]); // Set above.
    response.setHeader("pragma", "no-cache").json(tokenResponse(secret, signedIn(response).grant, clock.now()));
  };
  const named: RequestHandler = (_request, response, next) => {
    response.locals["route"] = `/v1${path}`;
    next();
  };
  const router = express.Router();
  router
    .route(path)
    .post(
      named,
      readBodies({ bodies, parsing, holderOf, limitBytes: () => maxBodyBytes }),
      limitFailures({ needed: "a valid API key", ...failures }, identify),
      limitRate(config.rateLimit, clock),
      answer,
    )
    .all(otherMethods(["POST"]));
  router.use(path, answerTokenErrors);
  return router;
}

/** Codes of RFC 6749, section 5.2, which has none for a client that must wait. */
function codeOf({ status, code }: HeadwaterError): string {
  if (code === "invalid_request" || code === "unsupported_grant_type") return code;
  if (status === 401) return "invalid_client";
  return status === 429 || status === 503 ? "temporarily_unavailable" : "invalid_request";
}

/** Writes errors in the form of RFC 6749. Unexpected errors are handled as on every route. */
const answerTokenErrors: ErrorRequestHandler = (thrown: unknown, _request, response, next) => {
  const error = known(thrown);
  if (error === undefined || error.status === 405 || response.headersSent) {
    next(thrown);
    return;
  }
  const code = codeOf(error);
  response.locals["errorCode"] = code;
  // Clients authenticate with Basic here, not with Bearer.
  if (error.status === 401) response.setHeader("www-authenticate", 'Basic realm="headwater"');
  if (error.status === 503 && !response.hasHeader("retry-after")) response.setHeader("retry-after", 1);
  response.status(error.status === 422 ? 400 : error.status).json({ error: code, error_description: error.message });
};
