import { type OutgoingHttpHeaders, type ServerResponse, validateHeaderName, validateHeaderValue } from "node:http";
import type { HttpResponse } from "../domain/run-products.ts";
import { setsSession } from "../domain/session-cookie.ts";
import { PublicError } from "./errors.ts";

export const corsHeaders = { "access-control-allow-origin": "*", "access-control-expose-headers": "*" } as const;
const accepted = JSON.stringify({ success: true });
const acceptedHeaders = {
  ...corsHeaders,
  "content-type": "application/json",
  "content-length": Buffer.byteLength(accepted),
};
/** Headers of the connection, which the ingress sets itself, as well as the length. RFC 9110, section 7.6.1. */
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

/** @param status 202: it is stored, and its effect is not known yet */
export function replyAccepted(response: ServerResponse, status: 200 | 202 = 200): void {
  response.writeHead(status, acceptedHeaders).end(accepted);
}

/** Pages of all origins may call an endpoint: its address is the secret, and cookies are ignored. */
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
 * Writes the response given to `respond()`.
 * @param hold bounds unread bytes; called before the write
 * @throws PublicError, before anything is written, when the response is invalid or too much is unread
 */
export function replyResponse(response: ServerResponse, given: HttpResponse, hold: (bytes: number) => void): void {
  const headers = checkedHead(given);
  const hasNoBody = isEmpty(given);
  const body = Buffer.from(given.body, given.base64 === true ? "base64" : "utf8");
  hold(body.length);
  response.writeHead(given.status, {
    ...corsHeaders,
    ...headers,
    ...(hasNoBody ? {} : { "content-length": body.length }),
  });
  response.end(hasNoBody ? undefined : body);
}

/** Writes the head of a response whose body follows. @returns whether it may have one. @throws PublicError as `replyResponse` */
export function replyHead(response: ServerResponse, given: HttpResponse): boolean {
  response.writeHead(given.status, { ...corsHeaders, ...checkedHead(given) });
  // The caller learns at once that its response begins.
  response.flushHeaders();
  return !isEmpty(given) && response.req.method !== "HEAD";
}

/** A response with this status has no body (RFC 9110, section 6.4.1). */
const isEmpty = ({ status }: HttpResponse): boolean => status === 204 || status === 304;

/** The sandbox has checked the response, but messages of runners are not trusted. */
function checkedHead({ status, headers }: HttpResponse): OutgoingHttpHeaders {
  if (!Number.isInteger(status) || status < 200 || status > 599) throw invalid();
  return checkedHeaders(headers);
}

function checkedHeaders(given: HttpResponse["headers"]): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {};
  for (const [rawName, rawValue] of Object.entries(given)) {
    const name = rawName.toLowerCase();
    if (connectionHeaders.has(name)) continue;
    const all = typeof rawValue === "string" ? [rawValue] : rawValue;
    // A component must not give its callers a session of the console.
    const values = name === "set-cookie" ? all.filter((value) => !setsSession(value)) : all;
    try {
      validateHeaderName(name);
      for (const value of values) validateHeaderValue(name, value);
    } catch {
      throw invalid();
    }
    headers[name] = typeof rawValue === "string" && values.length === 1 ? rawValue : [...values];
  }
  return headers;
}

const invalid = (): PublicError => new PublicError(500, "invalid_response", "the source passed an invalid HTTP response");
