import { nodeError } from "../errors.ts";
import { Writable } from "../stream/stream.ts";

export type HeaderValue = string | number | readonly string[];

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** The header side of a request: names keep the spelling they were set with. */
export class OutgoingMessage extends Writable {
  readonly #headers = new Map<string, { readonly name: string; readonly value: HeaderValue }>();
  headersSent = false;
  sendDate = false;
  chunkedEncoding = false;
  shouldKeepAlive = true;
  useChunkedEncodingByDefault = true;

  setHeader(name: string, value: HeaderValue): this {
    if (this.headersSent) throw nodeError("ERR_HTTP_HEADERS_SENT", "Cannot set headers after they are sent to the client");
    validateHeaderName(name);
    validateHeaderValue(name, value);
    this.#headers.set(name.toLowerCase(), { name, value });
    return this;
  }
  setHeaders(headers: Iterable<readonly [string, HeaderValue]>): this {
    for (const [name, value] of headers) this.setHeader(name, value);
    return this;
  }
  appendHeader(name: string, value: HeaderValue): this {
    const known = this.#headers.get(String(name).toLowerCase());
    return known === undefined ? this.setHeader(name, value) : this.setHeader(known.name, [known.value, value].flat().map(String));
  }
  getHeader(name: string): HeaderValue | undefined {
    return this.#headers.get(String(name).toLowerCase())?.value;
  }
  getHeaders(): Record<string, HeaderValue> {
    const headers: Record<string, HeaderValue> = Object.create(null);
    for (const [name, { value }] of this.#headers) headers[name] = value;
    return headers;
  }
  getHeaderNames(): string[] {
    return [...this.#headers.keys()];
  }
  getRawHeaderNames(): string[] {
    return [...this.#headers.values()].map(({ name }) => name);
  }
  hasHeader(name: string): boolean {
    return this.#headers.has(String(name).toLowerCase());
  }
  removeHeader(name: string): void {
    if (this.headersSent) throw nodeError("ERR_HTTP_HEADERS_SENT", "Cannot remove headers after they are sent to the client");
    this.#headers.delete(String(name).toLowerCase());
  }
  addTrailers(): void {}
  flushHeaders(): void {}

  /** One pair for each value. */
  headerPairs(): [string, string][] {
    return [...this.#headers.values()].flatMap(({ name, value }) =>
      Array.isArray(value) ? value.map((one): [string, string] => [name, String(one)]) : [[name, String(value)] as [string, string]],
    );
  }
}

export function validateHeaderName(name: unknown, label = "Header name"): void {
  if (typeof name !== "string" || !token.test(name))
    throw nodeError("ERR_INVALID_HTTP_TOKEN", `${label} must be a valid HTTP token ["${String(name)}"]`, TypeError);
}

export function validateHeaderValue(name: string, value: unknown): void {
  if (value === undefined)
    throw nodeError("ERR_HTTP_INVALID_HEADER_VALUE", `Invalid value "${String(value)}" for header "${name}"`, TypeError);
  for (const one of Array.isArray(value) ? value : [value]) {
    if (/[^\t\x20-\x7e\x80-\xff]/.test(String(one)))
      throw nodeError("ERR_INVALID_CHAR", `Invalid character in header content ["${name}"]`, TypeError);
  }
}
