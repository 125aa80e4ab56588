import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { HttpEvent } from "../domain/invocation.ts";
import { parseForm } from "./form.ts";

export interface Target {
  readonly key: string;
  /** Below the key, with the leading slash. */
  readonly path: string;
  /** Without the question mark. */
  readonly search: string;
}

/**
 * Path and query of what a request is for. Proxies are sent whole addresses, and every server has to take them (RFC 9112, section 3.2.2).
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

/** What the source's `run` receives for the request. */
export async function httpEvent(request: IncomingMessage, target: Target, body: Buffer, trustedProxies: number): Promise<HttpEvent> {
  const form =
    body.length === 0 || request.headers["content-type"] === undefined ? undefined : await parseForm(request.headers["content-type"], body);
  return {
    method: request.method ?? "GET",
    path: target.path,
    url: `${protocol(request, trustedProxies)}://${request.headers.host ?? "localhost"}${originForm(request.url ?? "/")}`,
    query: parseQuery(target.search),
    headers: joinHeaders(request),
    client_ip: clientAddress(request, trustedProxies),
    ...(body.length === 0 ? {} : isUtf8(body) ? { bodyRaw: body.toString("utf8") } : { bodyBase64: body.toString("base64") }),
    ...(form === undefined ? {} : { body: form }),
  };
}

export function parseQuery(search: string): Record<string, string | string[]> {
  if (search === "") return {};
  const query = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(search)) {
    const held = query.get(name);
    // In place: a copy for each of eight thousand values of one name, in one request line, would take a fifth of a second.
    if (Array.isArray(held)) held.push(value);
    else query.set(name, held === undefined ? value : [held, value]);
  }
  return Object.fromEntries(query);
}

function joinHeaders(request: IncomingMessage): Record<string, string> {
  const joined: Record<string, string> = {};
  const { headers } = request;
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === "string") joined[name] = value;
    else if (value !== undefined) joined[name] = value.join(", ");
  }
  return joined;
}

/** Each trusted proxy appends the address that called it, so the caller's own claims stand further left. */
function clientAddress(request: IncomingMessage, trustedProxies: number): string {
  const address = (request.socket.remoteAddress ?? "").replace(/^::ffff:/, "");
  if (trustedProxies === 0) return address;
  const forwarded = String(request.headers["x-forwarded-for"] ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  return forwarded[Math.max(0, forwarded.length - trustedProxies)] ?? address;
}

function protocol(request: IncomingMessage, trustedProxies: number): "http" | "https" {
  return trustedProxies > 0 && request.headers["x-forwarded-proto"] === "https" ? "https" : "http";
}
