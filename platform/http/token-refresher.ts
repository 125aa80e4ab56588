import { allowInsecureRequests, ClientSecretBasic, ClientSecretPost, customFetch, None, refreshTokenGrantRequest } from "oauth4webapi";
import type { CustomFetchOptions } from "oauth4webapi";
import { Agent } from "undici";
import { z } from "zod";
import { Forbidden } from "../../domain/errors.ts";
import type { RefreshOutcome, RefreshRequest, TokenRefresher } from "../../operator/ports.ts";
import { describeConnectionError } from "./connection-error.ts";
import { createConnector } from "./connector.ts";
import type { Egress } from "./egress.ts";

export interface TokenRefresherOptions {
  readonly egress: Egress;
  readonly timeoutMs: number;
}

const maxResponseBytes = 256 * 1024;

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
const refusal = z.object({ error: z.string() });

/** Supports any OAuth 2 service, over http or https, at addresses that the egress policy allows. Redirects are not followed. */
export function createTokenRefresher({ egress, timeoutMs }: TokenRefresherOptions): TokenRefresher {
  const send = sender(egress, timeoutMs);
  return {
    async refresh(request) {
      try {
        const response = await refreshTokenGrantRequest(
          { issuer: new URL(request.tokenUrl).origin, token_endpoint: request.tokenUrl },
          { client_id: request.clientId },
          authenticationOf(request),
          request.refreshToken,
          {
            [customFetch]: send,
            [allowInsecureRequests]: true, // Services in a private network may use http; the user chooses.
            ...(request.scope === undefined ? {} : { additionalParameters: { scope: request.scope } }),
          },
        );
        return await outcomeOf(response);
      } catch (error) {
        return failureOf(error, request.tokenUrl, timeoutMs);
      }
    },
  };
}

function authenticationOf({ clientSecret, clientAuthentication }: RefreshRequest): ReturnType<typeof None> {
  if (clientSecret === undefined) return None();
  return clientAuthentication === "body" ? ClientSecretPost(clientSecret) : ClientSecretBasic(clientSecret);
}

type Send = (url: string, options: CustomFetchOptions<"POST", URLSearchParams>) => Promise<Response>;

function sender(egress: Egress, timeoutMs: number): Send {
  return async (url, { headers, body }) => {
    const { hostname, origin, pathname, search } = new URL(url);
    egress.check(hostname);
    const agent = new Agent({ connect: createConnector(egress.lookup, { timeout: timeoutMs }), maxResponseSize: maxResponseBytes });
    try {
      const answer = await agent.request({
        origin,
        path: pathname + search,
        method: "POST",
        headers: { ...headers, "content-type": "application/x-www-form-urlencoded;charset=UTF-8" },
        body: body.toString(),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const retryAfter = answer.headers["retry-after"];
      const text = await answer.body.text();
      return new Response(text === "" ? null : text, {
        status: answer.statusCode,
        headers: typeof retryAfter === "string" ? { "retry-after": retryAfter } : {},
      });
    } finally {
      await agent.destroy();
    }
  };
}

async function outcomeOf(response: Response): Promise<RefreshOutcome> {
  const { status } = response;
  const body = await response.json().catch(() => undefined);
  if (status >= 200 && status < 300) return grantedBy(body, status);
  const why = refusalOf(body);
  // Services differ in their status codes; the error code decides.
  if (why !== undefined && status < 500 && status !== 429) return { outcome: "refused", why };
  if (status >= 300 && status < 500 && status !== 408 && status !== 429) return { outcome: "refused", why: `it answered ${status}` };
  const retryAfterMs = secondsOf(response.headers.get("retry-after"));
  return { outcome: "unavailable", why: `it answered ${status}`, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

function grantedBy(body: unknown, status: number): RefreshOutcome {
  const parsed = granted.safeParse(body);
  if (!parsed.success) {
    const why = refusalOf(body);
    if (why !== undefined) return { outcome: "refused", why };
    return { outcome: "unavailable", why: `it answered ${status} without an access_token in a JSON object` };
  }
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresInSeconds } = parsed.data;
  return {
    outcome: "refreshed",
    tokens: {
      accessToken,
      ...(typeof refreshToken === "string" ? { refreshToken } : {}),
      ...(typeof expiresInSeconds === "number" ? { expiresInSeconds } : {}),
    },
  };
}

function refusalOf(body: unknown): string | undefined {
  const parsed = refusal.safeParse(body);
  if (!parsed.success) return undefined;
  const { error } = parsed.data;
  return Object.hasOwn(refusals, error) ? refusals[error] : "it returned an unknown error code";
}

function secondsOf(header: string | null): number | undefined {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) * 1_000 : undefined;
}

/** Messages of others may contain what was sent; codes do not. */
function failureOf(error: unknown, tokenUrl: string, timeoutMs: number): RefreshOutcome {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  for (const each of [error, cause]) if (each instanceof Forbidden) return { outcome: "refused", why: each.message };
  if (cause instanceof Error && cause.name === "TimeoutError")
    return { outcome: "unavailable", why: `it did not answer within ${timeoutMs / 1_000} s` };
  return { outcome: "unavailable", why: describeConnectionError(cause, tokenUrl).message };
}
