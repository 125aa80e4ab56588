import { ClientSecretPost, None, type ClientAuth, type CustomFetchOptions } from "oauth4webapi";
import { Agent } from "undici";
import { z } from "zod";
import type { RequestFormat } from "../../domain/app/app.ts";
import { valueAt } from "../../domain/app/json-text.ts";
import { Forbidden } from "../../domain/errors.ts";
import { describeConnectionError } from "./connection-error.ts";
import { createConnector } from "./connector.ts";
import type { Egress } from "./egress.ts";

/** What requests to services have in common: the egress policy, bounds of time and bytes, no redirects, and no texts of others in errors. */
export interface ServiceRequests {
  readonly egress: Egress;
  readonly timeoutMs: number;
}

const maxResponseBytes = 256 * 1024;
/** Some services refuse requests without it. */
const userAgent = "headwater";

interface Sent {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends one request. A redirect is the answer: it is not followed. @throws what the connection throws, Forbidden by the egress policy */
export async function sendTo(url: string, { method, headers, body }: Sent, { egress, timeoutMs }: ServiceRequests): Promise<Response> {
  const { hostname, origin, pathname, search } = new URL(url);
  egress.check(hostname);
  const agent = new Agent({ connect: createConnector(egress.lookup, { timeout: timeoutMs }), maxResponseSize: maxResponseBytes });
  try {
    const answer = await agent.request({
      origin,
      path: pathname + search,
      method,
      headers: { "user-agent": userAgent, ...headers },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const retryAfter = answer.headers["retry-after"];
    const text = await answer.body.text();
    return new Response(text === "" || isWithoutBody(answer.statusCode) ? null : text, {
      status: answer.statusCode,
      headers: typeof retryAfter === "string" ? { "retry-after": retryAfter } : {},
    });
  } finally {
    await agent.destroy();
  }
}

const isWithoutBody = (status: number): boolean => status === 204 || status === 205 || status === 304;

export type Send = (url: string, options: CustomFetchOptions<"POST", URLSearchParams>) => Promise<Response>;

/** The `fetch` of oauth4webapi. */
export const senderOf =
  (format: RequestFormat, requests: ServiceRequests): Send =>
  (url, { headers, body }) => {
    const encoded =
      format === "json"
        ? { type: "application/json", body: JSON.stringify(Object.fromEntries(body)) }
        : { type: "application/x-www-form-urlencoded;charset=UTF-8", body: body.toString() };
    return sendTo(url, { method: "POST", headers: { ...headers, "content-type": encoded.type }, body: encoded.body }, requests);
  };

export interface ClientCredentials {
  readonly clientSecret?: string | undefined;
  readonly clientAuthentication: "basic" | "body";
}

export function authenticationOf({ clientSecret, clientAuthentication }: ClientCredentials): ClientAuth {
  if (clientSecret === undefined) return None();
  return clientAuthentication === "body" ? ClientSecretPost(clientSecret) : basicAuthentication(clientSecret);
}

/**
 * RFC 6749, section 2.3.1. The library also encodes `-`, `_` and `.`, which the encoding of forms keeps: services that do not decode would
 * refuse each client whose id is a UUID.
 */
const basicAuthentication =
  (secret: string): ClientAuth =>
  (_server, { client_id: id }, _body, headers) =>
    headers.set("authorization", `Basic ${btoa([id, secret].map(formEncoded).join(":"))}`);

const formEncoded = (text: string): string => encodeURIComponent(text).replaceAll("%20", "+");

/** JSON, or the form of older services. Undefined for anything else, such as HTML. */
export async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return /^[\w.~%+-]+=[^\s<>]*$/.test(text.trim()) ? Object.fromEntries(new URLSearchParams(text.trim())) : undefined;
  }
}

const refusal = z.object({ error: z.string() });

/** The error code of RFC 6749, section 5.2. Other texts of a service may repeat what it was sent. */
export function errorCodeOf(body: unknown): string | undefined {
  const parsed = refusal.safeParse(body);
  return parsed.success ? parsed.data.error : undefined;
}

/** An error code for people. Other texts of a service may repeat what it was sent. */
export function shownCode(code: string, sent: readonly (string | undefined)[]): string {
  const isCode = code.length <= 60 && /^[a-z]+(_[a-z]+)*$/.test(code) && !sent.some((secret) => secret?.includes(code) === true);
  return isCode ? `it returned the error ${code}` : "it returned an unknown error code";
}

/** The part of a parsed token response that has the tokens; undefined if there is none. */
export const objectAt = (body: unknown, path: string | undefined): unknown => (path === undefined ? body : valueAt(body, path));

/** Why a request got no answer. Messages of others may contain what was sent; codes do not. */
export function failureOf(error: unknown, url: string, timeoutMs: number): { readonly isForbidden: boolean; readonly why: string } {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  for (const each of [error, cause]) if (each instanceof Forbidden) return { isForbidden: true, why: each.message };
  if (cause instanceof Error && cause.name === "TimeoutError")
    return { isForbidden: false, why: `it did not answer within ${timeoutMs / 1_000} s` };
  return { isForbidden: false, why: describeConnectionError(cause, url).message };
}
