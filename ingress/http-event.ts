import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { withoutSession } from "../domain/session-cookie.ts";
import type { Client } from "../domain/client-address.ts";
import type { HttpEvent } from "../domain/invocation/invocation.ts";
import { parseForm } from "./form.ts";

export interface Target {
  readonly key: string;
  /** Below the key, with the leading slash. */
  readonly path: string;
  /** Without the question mark. */
  readonly search: string;
}

/**
 * Path and query of a request target. Clients send absolute URLs to proxies, and servers must accept them (RFC 9112, section 3.2.2).
 */
export function originForm(target: string): string {
  if (target.startsWith("/")) return target;
  const rest = /^https?:\/\/[^/?#]*(.*)$/is.exec(target)?.[1];
  return rest === undefined || rest.startsWith("/") ? (rest ?? target) : `/${rest}`;
}

/** `<base>/<key>[/rest][?search]`; undefined for an address outside the base path. */
export function parseTarget(url: string, basePath: string): Target | undefined {
  if (!url.startsWith(`${basePath}/`)) return undefined;
  const start = basePath.length + 1;
  const mark = url.indexOf("?", start);
  const end = mark < 0 ? url.length : mark;
  const slash = url.indexOf("/", start);
  const keyEnd = slash < 0 || slash > end ? end : slash;
  return { key: url.slice(start, keyEnd), path: url.slice(keyEnd, end) || "/", search: url.slice(end + 1) };
}

/** The event that `run` receives for the request. @param body its bytes, or what the event has in place of them */
export async function httpEvent(request: IncomingMessage, target: Target, body: Buffer | object, client: Client): Promise<HttpEvent> {
  return {
    method: request.method ?? "GET",
    path: target.path,
    url: `${client.protocol}://${request.headers.host ?? "localhost"}${originForm(request.url ?? "/")}`,
    query: parseQuery(target.search),
    headers: headersOf(request, client),
    client_ip: client.address,
    ...(Buffer.isBuffer(body) ? await contentOf(request, body) : { body }),
  };
}

async function contentOf(request: IncomingMessage, body: Buffer): Promise<Pick<HttpEvent, "bodyRaw" | "bodyBase64" | "body">> {
  if (body.length === 0) return {};
  const type = request.headers["content-type"];
  const form = type === undefined ? undefined : await parseForm(type, body);
  return {
    ...(isUtf8(body) ? { bodyRaw: body.toString("utf8") } : { bodyBase64: body.toString("base64") }),
    ...(form === undefined ? {} : { body: form }),
  };
}

export function parseQuery(search: string): Record<string, string | string[]> {
  if (search === "") return {};
  const query = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(search)) {
    const held = query.get(name);
    // Append in place: copying for each of eight thousand values of one name would take a fifth of a second.
    if (Array.isArray(held)) held.push(value);
    else query.set(name, held === undefined ? value : [held, value]);
  }
  return Object.fromEntries(query);
}

function headersOf({ headers }: IncomingMessage, { forwarded }: Client): Record<string, string> {
  const joined: Record<string, string> = {};
  for (const name in headers) {
    const value = name === "cookie" ? withoutSession(headers.cookie ?? "") : headers[name];
    if (typeof value === "string") joined[name] = value;
    else if (value !== undefined) joined[name] = value.join(", ");
  }
  return Object.assign(joined, forwarded);
}
