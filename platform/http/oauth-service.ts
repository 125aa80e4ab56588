import {
  allowInsecureRequests,
  AuthorizationResponseError,
  authorizationCodeGrantRequest,
  customFetch,
  expectNoState,
  nopkce,
  OperationProcessingError,
  revocationRequest,
  validateAuthResponse,
} from "oauth4webapi";
import { z } from "zod";
import { textAt } from "../../domain/app/json-text.ts";
import { credentialAt, type Placement, type TestRequest } from "../../domain/app/app.ts";
import type { CodeOutcome, CodeRequest, Identity, OauthService, RevocationRequest } from "../../operator/oauth-ports.ts";
import {
  authenticationOf,
  bodyOf,
  errorCodeOf,
  failureOf,
  objectAt,
  sendTo,
  senderOf,
  shownCode,
  type ServiceRequests,
} from "./token-endpoint.ts";

const issued = z.looseObject({
  access_token: z.string().min(1).max(65_536),
  refresh_token: z.string().min(1).max(65_536).nullish(),
  expires_in: z.coerce
    .number()
    .positive()
    .max(10 * 366 * 24 * 60 * 60)
    .nullish()
    .catch(undefined),
  scope: z.unknown(),
});

/** RFC 6749, section 5.2, for codes. Other texts of a service may repeat what it was sent. */
const refusals: Readonly<Record<string, string>> = {
  invalid_grant: "the code has expired, was used before, or the redirect address differs from the registered one (invalid_grant)",
  invalid_client: "the client's id or secret is wrong, or must be sent in another way: see client_authentication (invalid_client)",
  unauthorized_client: "the client may not use this flow (unauthorized_client)",
  invalid_request: "the request lacks something that this service requires (invalid_request)",
  invalid_scope: "the client may not request these scopes (invalid_scope)",
};

/** Requests of the code flow to any service, at addresses that the egress policy allows. Redirects are not followed. */
export function createOauthService(requests: ServiceRequests): OauthService {
  return {
    exchange: (request) => exchange(request, requests),
    identify: (test, placement, token) => identify(test, placement, token, requests),
    revoke: (request) => revoke(request, requests),
  };
}

async function exchange(request: CodeRequest, requests: ServiceRequests): Promise<CodeOutcome> {
  const { tokenUrl, clientId, code, redirectUri, verifier, issuer } = request;
  const server = {
    issuer: issuer?.expected ?? new URL(tokenUrl).origin,
    token_endpoint: tokenUrl,
    authorization_response_iss_parameter_supported: issuer !== undefined,
  };
  const client = { client_id: clientId };
  try {
    const given = new URLSearchParams({ code, ...(issuer?.given === undefined ? {} : { iss: issuer.given }) });
    // The API has found the connection by its state.
    const parameters = validateAuthResponse(server, client, given, expectNoState);
    const response = await authorizationCodeGrantRequest(
      server,
      client,
      authenticationOf(request),
      parameters,
      redirectUri,
      verifier ?? nopkce,
      {
        [customFetch]: senderOf(request.requestFormat ?? "form", requests),
        [allowInsecureRequests]: true,
        additionalParameters: { ...request.tokenParameters },
      },
    );
    return outcomeOf(response.status, await bodyOf(response), request);
  } catch (error) {
    // The library's own checks of the parameters: `iss` is missing or differs.
    if (error instanceof OperationProcessingError || error instanceof AuthorizationResponseError) return { outcome: "issuer_mismatch" };
    const { isForbidden, why } = failureOf(error, tokenUrl, requests.timeoutMs);
    return { outcome: isForbidden ? "refused" : "unavailable", why };
  }
}

function outcomeOf(status: number, body: unknown, { tokenPath, tokenFields, code: sent, clientSecret }: CodeRequest): CodeOutcome {
  const parsed = status >= 200 && status < 300 ? issued.safeParse(objectAt(body, tokenPath)) : undefined;
  if (parsed?.success === true) {
    const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresInSeconds, scope } = parsed.data;
    const fields = tokenFields.flatMap((path): readonly [string, string][] => {
      const text = textAt(body, path);
      return text === undefined ? [] : [[credentialAt(path), text]];
    });
    return {
      outcome: "issued",
      tokens: {
        accessToken,
        refreshToken: refreshToken ?? undefined,
        expiresInSeconds: expiresInSeconds ?? undefined,
        scope,
        fields: Object.fromEntries(fields),
      },
    };
  }
  const code = errorCodeOf(body);
  if (code !== undefined && status < 500)
    return {
      outcome: "refused",
      why: (Object.hasOwn(refusals, code) ? refusals[code] : undefined) ?? shownCode(code, [sent, clientSecret]),
    };
  const where = tokenPath === undefined ? "" : ` at ${tokenPath}`;
  if (status >= 200 && status < 300) return { outcome: "unavailable", why: `it answered ${status} without an access_token${where}` };
  if (status >= 300 && status < 400)
    return { outcome: "refused", why: `it answered ${status}: redirects of token endpoints are not followed` };
  return { outcome: status >= 400 && status < 500 && status !== 429 ? "refused" : "unavailable", why: `it answered ${status}` };
}

/** An account without a name is better than none: whatever fails here does not fail the connection. */
async function identify(
  { url, method = "GET", headers = {}, name, picture }: TestRequest,
  placement: Placement | undefined,
  token: string,
  requests: ServiceRequests,
): Promise<Identity> {
  try {
    const { in: where, name: key, prefix = "" } = placement ?? { in: "header", name: "authorization", prefix: "Bearer " };
    const address = new URL(url);
    if (where === "query") address.searchParams.set(key, token);
    const response = await sendTo(
      address.href,
      { method, headers: { accept: "application/json", ...headers, ...(where === "header" ? { [key]: prefix + token } : {}) } },
      requests,
    );
    if (response.status !== 200) return {};
    const body = await bodyOf(response);
    const image = textAt(body, picture);
    return {
      name: textAt(body, name)?.slice(0, 255),
      ...(image !== undefined && /^https:\/\/[^\s"'<>]+$/.test(image) ? { picture: image } : {}),
    };
  } catch {
    return {};
  }
}

async function revoke(request: RevocationRequest, requests: ServiceRequests): Promise<boolean> {
  const { revocationUrl, clientId, token, kind } = request;
  try {
    const { status } = await revocationRequest(
      { issuer: new URL(revocationUrl).origin, revocation_endpoint: revocationUrl },
      { client_id: clientId },
      authenticationOf(request),
      token,
      { [customFetch]: senderOf("form", requests), [allowInsecureRequests]: true, additionalParameters: { token_type_hint: kind } },
    );
    return status >= 200 && status < 300;
  } catch {
    return false;
  }
}
