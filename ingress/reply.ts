import { type OutgoingHttpHeaders, type ServerResponse, validateHeaderName, validateHeaderValue } from "node:http";
import { HeadwaterError, Invariant, QuotaUsedUp, UserCode } from "../domain/errors.ts";
import type { HttpResponse } from "../domain/invocation.ts";

const corsHeaders = { "access-control-allow-origin": "*", "access-control-expose-headers": "*" } as const;
const accepted = JSON.stringify({ success: true });
const acceptedHeaders = {
  ...corsHeaders,
  "content-type": "application/json",
  "content-length": Buffer.byteLength(accepted),
};
const retryAfterSeconds = "2";

/** Belong to the connection, which is ours; the length is reckoned anew. RFC 9110, section 7.6.1. */
const connectionHeaders: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "content-length",
]);

export function replyAccepted(response: ServerResponse): void {
  response.writeHead(200, acceptedHeaders).end(accepted);
}

/** Anybody's page may call an endpoint: its address is the secret, cookies mean nothing to it. */
export function replyPreflight(response: ServerResponse, requestedHeaders: string | undefined): void {
  response
    .writeHead(204, {
      ...corsHeaders,
      "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
      "access-control-allow-headers": requestedHeaders ?? "*",
      "access-control-max-age": "86400",
    })
    .end();
}

export function replyError(response: ServerResponse, thrown: unknown): void {
  const error = thrown instanceof HeadwaterError ? thrown : new Invariant("the request could not be taken", { cause: thrown });
  const status = error instanceof UserCode ? 500 : error.status;
  const text = JSON.stringify({ error: error.message, code: error.code });
  response
    .writeHead(status, {
      ...corsHeaders,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
      ...(error instanceof QuotaUsedUp ? { "retry-after": String(error.retryAfterSeconds) } : {}),
      ...(status === 503 ? { "retry-after": retryAfterSeconds } : {}),
    })
    .end(text);
}

/** Writes what `respond()` was given. @throws UserCode when that is no HTTP response; nothing is written then */
export function replyResponse(response: ServerResponse, given: HttpResponse): void {
  const headers = checkedHeaders(given.headers);
  if (!Number.isInteger(given.status) || given.status < 200 || given.status > 599)
    throw invalid(`status ${given.status} must be 200 to 599`);
  const hasNoBody = given.status === 204 || given.status === 304;
  const body = Buffer.from(given.body, given.base64 === true ? "base64" : "utf8");
  response.writeHead(given.status, {
    ...corsHeaders,
    ...headers,
    ...(hasNoBody ? {} : { "content-length": body.length }),
  });
  response.end(hasNoBody ? undefined : body);
}

function checkedHeaders(given: HttpResponse["headers"]): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {};
  for (const [rawName, rawValue] of Object.entries(given)) {
    const name = rawName.toLowerCase();
    if (connectionHeaders.has(name)) continue;
    const values = typeof rawValue === "string" ? [rawValue] : rawValue;
    try {
      validateHeaderName(name);
      for (const value of values) validateHeaderValue(name, value);
    } catch {
      throw invalid(`header ${JSON.stringify(rawName.slice(0, 100))} has a name or value that HTTP does not allow`);
    }
    headers[name] = typeof rawValue === "string" ? rawValue : [...values];
  }
  return headers;
}

const invalid = (why: string): UserCode => new UserCode(`the source answered with respond(), but ${why}`, { code: "invalid_response" });
