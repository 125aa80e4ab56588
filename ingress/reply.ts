import { type OutgoingHttpHeaders, type ServerResponse, validateHeaderName, validateHeaderValue } from "node:http";
import type { HttpResponse } from "../domain/invocation.ts";
import { PublicError } from "./errors.ts";

const corsHeaders = { "access-control-allow-origin": "*", "access-control-expose-headers": "*" } as const;
const accepted = JSON.stringify({ success: true });
const acceptedHeaders = {
  ...corsHeaders,
  "content-type": "application/json",
  "content-length": Buffer.byteLength(accepted),
};
/** Belong to the connection, which is ours; the length is computed again. RFC 9110, section 7.6.1. */
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

export function replyError(response: ServerResponse, { status, code, message, retryAfterSeconds }: PublicError): void {
  const text = JSON.stringify({ error: message, code });
  response
    .writeHead(status, {
      ...corsHeaders,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
      ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
    })
    .end(text);
}

/**
 * Writes what `respond()` was given.
 * @param hold bounds what callers leave unread; told the bytes before they are written
 * @throws PublicError when that is no HTTP response, or too much is unread; nothing is written then
 */
export function replyResponse(response: ServerResponse, given: HttpResponse, hold: (bytes: number) => void): void {
  const headers = checkedHeaders(given.headers);
  // The sandbox has checked what code gave; what comes from a runner is not trusted.
  if (!Number.isInteger(given.status) || given.status < 200 || given.status > 599) throw invalid();
  const hasNoBody = given.status === 204 || given.status === 304;
  const body = Buffer.from(given.body, given.base64 === true ? "base64" : "utf8");
  hold(body.length);
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
      throw invalid();
    }
    headers[name] = typeof rawValue === "string" ? rawValue : [...values];
  }
  return headers;
}

const invalid = (): PublicError => new PublicError(500, "invalid_response", "the source gave a response that HTTP does not allow");
