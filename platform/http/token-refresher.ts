import { allowInsecureRequests, clientCredentialsGrantRequest, customFetch, refreshTokenGrantRequest } from "oauth4webapi";
import { z } from "zod";
import type { RefreshOutcome, RefreshRequest, TokenRefresher } from "../../operator/ports.ts";
import { authenticationOf, bodyOf, errorCodeOf, failureOf, objectAt, senderOf, shownCode, type ServiceRequests } from "./token-endpoint.ts";

/** RFC 6749, section 5.1. Parsed here, because the library would also check id tokens of unknown issuers. */
const granted = z.object({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1).nullish(),
  expires_in: z.coerce
    .number()
    .positive()
    .max(10 * 366 * 24 * 60 * 60)
    .nullish()
    .catch(undefined),
});

/** RFC 6749, section 5.2. Other texts of a service may repeat what it was sent. */
const refusals: Readonly<Record<string, string>> = {
  invalid_grant: "the refresh token is expired, revoked, used before, or of another client (invalid_grant)",
  invalid_client: "the client's id or secret is wrong, or must be sent in another way: see clientAuthentication (invalid_client)",
  unauthorized_client: "the client may not refresh tokens (unauthorized_client)",
  invalid_scope: "the scope is more than was granted (invalid_scope)",
  invalid_request: "the request lacks something that this service requires (invalid_request)",
  unsupported_grant_type: "the service does not refresh tokens (unsupported_grant_type)",
};

/** The same of requests of a client for itself. */
const clientRefusals: Readonly<Record<string, string>> = {
  ...refusals,
  invalid_grant: "the client's credentials are no longer valid (invalid_grant)",
  unauthorized_client: "the client may not request tokens for itself (unauthorized_client)",
  invalid_scope: "the service does not know a scope, or the client may not request it (invalid_scope)",
  unsupported_grant_type: "the service issues no tokens to clients alone (unsupported_grant_type)",
};

/** The client is the grant: no retry helps when the service does not know it. */
const voidClientErrors = ["invalid_grant", "invalid_client", "unauthorized_client"];

/** Supports any OAuth 2 service, over http or https, at addresses that the egress policy allows. Redirects are not followed. */
export function createTokenRefresher(requests: ServiceRequests): TokenRefresher {
  return {
    async refresh(request) {
      try {
        return await outcomeOf(await send(request, requests), request);
      } catch (error) {
        const { isForbidden, why } = failureOf(error, request.tokenUrl, requests.timeoutMs);
        return isForbidden ? { outcome: "refused", why } : { outcome: "unavailable", why };
      }
    },
  };
}

function send(request: RefreshRequest, requests: ServiceRequests): Promise<Response> {
  const { tokenUrl, clientId, refreshToken, scope, requestFormat = "form", tokenParameters } = request;
  const server = { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl };
  const [client, authentication] = [{ client_id: clientId }, authenticationOf(request)];
  const parameters = { ...tokenParameters, ...(scope === undefined ? {} : { scope }) };
  const options = {
    [customFetch]: senderOf(requestFormat, requests),
    [allowInsecureRequests]: true, // Services in a private network may use http; the user chooses.
  };
  return refreshToken === undefined
    ? clientCredentialsGrantRequest(server, client, authentication, parameters, options)
    : refreshTokenGrantRequest(server, client, authentication, refreshToken, { ...options, additionalParameters: parameters });
}

async function outcomeOf(response: Response, request: RefreshRequest): Promise<RefreshOutcome> {
  const { status } = response;
  const body = await bodyOf(response);
  if (status >= 200 && status < 300) return grantedBy(body, status, request);
  const refused = refusalOf(body, request);
  // Services differ in their status codes; the error code decides.
  if (refused !== undefined && status < 500 && status !== 429) return refused;
  if (status >= 300 && status < 500 && status !== 408 && status !== 429) return { outcome: "refused", why: `it answered ${status}` };
  const retryAfterMs = secondsOf(response.headers.get("retry-after"));
  return { outcome: "unavailable", why: `it answered ${status}`, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

function grantedBy(body: unknown, status: number, request: RefreshRequest): RefreshOutcome {
  // Some services nest tokens in responses to codes alone.
  const nested = granted.safeParse(objectAt(body, request.tokenPath));
  const parsed = nested.success ? nested : granted.safeParse(body);
  if (!parsed.success) {
    const refused = refusalOf(body, request);
    if (refused !== undefined) return refused;
    return { outcome: "unavailable", why: `it answered ${status} without an access_token in a JSON object` };
  }
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresInSeconds } = parsed.data;
  return {
    outcome: "refreshed",
    tokens: {
      accessToken,
      // A client needs none: it requests the next token as it did this one (RFC 6749, section 4.4.3).
      ...(typeof refreshToken === "string" && request.refreshToken !== undefined ? { refreshToken } : {}),
      ...(typeof expiresInSeconds === "number" ? { expiresInSeconds } : {}),
    },
  };
}

/**
 * `invalid_grant` says that this refresh token will never be valid again, and so do the codes that the app names. Others may be a mistake in
 * the client's registration.
 */
function refusalOf(body: unknown, request: RefreshRequest): Extract<RefreshOutcome, { outcome: "refused" }> | undefined {
  const code = errorCodeOf(body);
  if (code === undefined) return undefined;
  const { clientSecret, refreshToken, voidGrantErrors = [] } = request;
  const [texts, voiding] = refreshToken === undefined ? [clientRefusals, voidClientErrors] : [refusals, ["invalid_grant"]];
  const why = (Object.hasOwn(texts, code) ? texts[code] : undefined) ?? shownCode(code, [clientSecret, refreshToken]);
  return { outcome: "refused", why, ...([...voiding, ...voidGrantErrors].includes(code) ? { isGrantVoid: true } : {}) };
}

function secondsOf(header: string | null): number | undefined {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) * 1_000 : undefined;
}
