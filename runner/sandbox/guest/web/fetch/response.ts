import { Body, cloneContent, extract, setContent } from "./body.ts";
import type { BodyInit, Content } from "./body.ts";
import { tag } from "../define.ts";
import { freeze, Headers } from "./headers.ts";
import type { HeadersInit } from "./headers.ts";
import { URL } from "../url/url.ts";

export interface ResponseInit {
  readonly status?: number;
  readonly statusText?: string;
  readonly headers?: HeadersInit;
}

/** Fields that only a network response has. */
interface Origin {
  readonly type: "default" | "basic" | "error";
  readonly url: string;
  readonly redirected: boolean;
  readonly status?: number;
}

const local: Origin = { type: "default", url: "", redirected: false };
const withoutBody = [101, 103, 204, 205, 304];

let setOrigin: (response: Response, origin: Origin) => void;

export class Response extends Body {
  readonly #status: number;
  readonly #statusText: string;
  readonly #headers: Headers;
  #origin = local;

  constructor(body: BodyInit | null | undefined = null, given: ResponseInit | null = {}) {
    const init = given ?? {};
    const status = init.status === undefined ? 200 : Number(init.status);
    if (!(status >= 200 && status <= 599)) throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.');
    const statusText = String(init.statusText ?? "");
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(statusText)) throw new TypeError("Invalid statusText");
    if (body !== null && withoutBody.includes(status)) throw new TypeError(`Response constructor: Invalid response status code ${status}`);
    const extracted = body === null ? undefined : extract(body);
    super(extracted?.content ?? null);
    this.#status = status;
    this.#statusText = statusText;
    this.#headers = new Headers(init.headers);
    if (extracted?.contentType !== undefined && !this.#headers.has("content-type"))
      this.#headers.append("content-type", extracted.contentType);
  }

  get type(): string {
    return this.#origin.type;
  }
  get url(): string {
    return this.#origin.url;
  }
  get redirected(): boolean {
    return this.#origin.redirected;
  }
  get status(): number {
    return this.#origin.status ?? this.#status;
  }
  get ok(): boolean {
    return this.status >= 200 && this.status <= 299;
  }
  get statusText(): string {
    return this.#statusText;
  }
  get headers(): Headers {
    return this.#headers;
  }
  clone(): Response {
    const content = cloneContent(this);
    const copy = new Response(null, { statusText: this.#statusText, headers: this.#headers });
    if (content !== null) setContent(copy, content);
    copy.#origin = { ...this.#origin, status: this.status };
    return copy;
  }

  static json(value: unknown, init: ResponseInit = {}): Response {
    const text = JSON.stringify(value);
    if (text === undefined) throw new TypeError("The data is not JSON serializable");
    const headers = new Headers(init.headers);
    if (!headers.has("content-type")) headers.set("content-type", "application/json");
    return new Response(text, { ...init, headers });
  }
  static redirect(url: string, status = 302): Response {
    const location = new URL(String(url)).href;
    if (![301, 302, 303, 307, 308].includes(status)) throw new RangeError(`Invalid status code ${status}`);
    const response = new Response(null, { status, headers: { location } });
    freeze(response.#headers);
    return response;
  }
  static error(): Response {
    const response = new Response(null);
    setOrigin(response, { type: "error", url: "", redirected: false, status: 0 });
    freeze(response.#headers);
    return response;
  }

  static {
    setOrigin = (response, origin) => {
      response.#origin = origin;
    };
  }
}

/** A network response: any status, immutable headers. */
export function networkResponse(
  content: Content | null,
  init: ResponseInit & { readonly url: string; readonly redirected: boolean },
): Response {
  const status = init.status ?? 200;
  const response = new Response(null, { statusText: init.statusText ?? "", headers: init.headers ?? {} });
  if (content !== null) setContent(response, content);
  setOrigin(response, { type: "basic", url: init.url, redirected: init.redirected, status });
  freeze(response.headers);
  return response;
}

tag(Response, "Response");
