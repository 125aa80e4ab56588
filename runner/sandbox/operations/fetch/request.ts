import { connectionHeaders } from "../../../../domain/connection-headers.ts";
import { validateHeaderName, validateHeaderValue } from "node:http";
import { bytesArgument, choiceArgument, integerArgument, recordArgument, textArgument } from "../arguments.ts";
import { parseTls } from "../network/socket-options.ts";
import type { TlsOptions } from "../network/socket-options.ts";

export type HeaderPairs = readonly (readonly [name: string, value: string])[];

export interface FetchRequest {
  /** Chosen by the guest; names the body it pulls and the request it aborts. */
  readonly id: number;
  readonly url: URL;
  readonly method: string;
  readonly headers: HeaderPairs;
  readonly body: Uint8Array | undefined;
  readonly redirect: "follow" | "manual" | "error";
  /** For `node:http`: headers as given, the body as it came over the wire. */
  readonly raw: boolean;
  /** Sent instead of the URL's own path: signatures of raw requests cover what the caller wrote. */
  readonly path: string | undefined;
  readonly tls: TlsOptions | undefined;
}

const maxUrlLength = 64 * 1024;
const maxHeaders = 500;
const maxHeaderBytes = 64 * 1024;
/** Largest request body, 10 MiB. */
export const maxRequestBytes = 10 * 1024 * 1024;

const refusedMethods = new Set(["CONNECT", "TRACE", "TRACK"]);

/** `fetch` arguments: `{id, url, method, headers, redirect, raw}` and the body, bytes or undefined. */
export function parseFetchRequest([given, body]: readonly unknown[]): FetchRequest {
  const { id, url, method, headers, redirect, raw, path, tls } = recordArgument(given, "request");
  return {
    id: integerArgument(id, "id", 1, Number.MAX_SAFE_INTEGER),
    url: parseUrl(textArgument(url, "URL", maxUrlLength)),
    method: parseMethod(textArgument(method, "method", 64)),
    headers: parseHeaders(headers),
    body: body === undefined || body === null ? undefined : bytesArgument(body, "request body", maxRequestBytes),
    redirect: choiceArgument(redirect, "redirect", ["follow", "manual", "error"]),
    raw: raw === true,
    path: path === undefined ? undefined : parsePath(textArgument(path, "path", maxUrlLength)),
    tls: tls === undefined || tls === null ? undefined : parseTls(tls),
  };
}

/** Throws `ERR_INVALID_PROTOCOL` for anything but http and https. */
export function parseUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (url === null) throw coded(new TypeError("the URL is invalid"), "ERR_INVALID_URL");
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw coded(new TypeError(`protocol "${url.protocol}" is not supported: only http: and https: are`), "ERR_INVALID_PROTOCOL");
  }
  return url;
}

function parsePath(path: string): string {
  if (!/^\/[\x21-\x7e\x80-\xff]*$/.test(path))
    throw coded(new TypeError("the path contains unescaped characters"), "ERR_UNESCAPED_CHARACTERS");
  return path;
}

function parseMethod(method: string): string {
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(method) || refusedMethods.has(method.toUpperCase())) {
    throw coded(new TypeError("the method is not allowed"), "ERR_INVALID_HTTP_TOKEN");
  }
  return method;
}

function parseHeaders(given: unknown): HeaderPairs {
  if (!Array.isArray(given) || given.length > maxHeaders)
    throw coded(new TypeError(`headers must be an array of at most ${maxHeaders} pairs`), "ERR_INVALID_ARG_TYPE");
  let room = maxHeaderBytes;
  const headers: [string, string][] = [];
  for (const pair of given as unknown[]) {
    const [name, value]: unknown[] = Array.isArray(pair) ? pair : [];
    const header: [string, string] = [textArgument(name, "header name", 1024), textArgument(value, "header value", maxHeaderBytes)];
    room -= header[0].length + header[1].length;
    if (room < 0) throw coded(new RangeError(`headers are larger than ${maxHeaderBytes} bytes`), "limit_exceeded");
    validateHeaderName(header[0]);
    validateHeaderValue(header[0], header[1]);
    if (!connectionHeaders.has(header[0].toLowerCase())) headers.push(header);
  }
  return headers;
}

export function coded(error: Error, code: string): Error {
  return Object.assign(error, { code });
}
