import { AbortController, AbortSignal } from "../events/abort.ts";
import { Body, cloneContent, extract, setContent, take } from "./body.ts";
import type { BodyInit, Content } from "./body.ts";
import { tag } from "../define.ts";
import { Headers } from "./headers.ts";
import type { HeadersInit } from "./headers.ts";
import { URL } from "../url/url.ts";

type Redirect = "follow" | "manual" | "error";

export interface RequestInit {
  readonly method?: string;
  readonly headers?: HeadersInit;
  readonly body?: BodyInit | null;
  readonly redirect?: Redirect;
  readonly signal?: AbortSignal | null;
  readonly duplex?: "half";
  readonly [ignored: string]: unknown;
}

/** Stored and readable, but without effect: there is no document, cache or cookie jar. */
const passive = {
  cache: "default",
  credentials: "same-origin",
  destination: "",
  integrity: "",
  keepalive: false,
  mode: "cors",
  referrer: "about:client",
  referrerPolicy: "",
};

let cloned: (request: Request, content: Content | null) => Request;
let passiveOf: (request: Request, name: keyof typeof passive) => unknown;

export class Request extends Body {
  readonly #url: string;
  readonly #method: string;
  readonly #headers: Headers;
  readonly #redirect: Redirect;
  readonly #signal: AbortSignal;
  readonly #init: RequestInit;

  constructor(input: unknown, given: RequestInit | null = {}) {
    if (arguments.length === 0) throw new TypeError("Request constructor: 1 argument required, but 0 present");
    const init = given ?? {};
    const from = input instanceof Request ? input : undefined;
    const method = init.method === undefined ? (from?.method ?? "GET") : toMethod(init.method);
    const body = init.body !== undefined && init.body !== null ? extract(init.body) : undefined;
    if ((body !== undefined || (from !== undefined && init.body === undefined && hasBody(from))) && (method === "GET" || method === "HEAD"))
      throw new TypeError("Request with GET/HEAD method cannot have body.");
    super(body?.content ?? (from !== undefined && init.body === undefined ? take(from) : null));
    this.#url = from?.url ?? toUrl(input);
    this.#method = method;
    this.#headers = new Headers(init.headers ?? from?.headers);
    if (body?.contentType !== undefined && !this.#headers.has("content-type")) this.#headers.append("content-type", body.contentType);
    this.#redirect = toRedirect(init.redirect ?? from?.redirect ?? "follow");
    this.#signal = toSignal(init.signal === undefined ? from?.signal : init.signal);
    this.#init = init;
  }

  get url(): string {
    return this.#url;
  }
  get method(): string {
    return this.#method;
  }
  get headers(): Headers {
    return this.#headers;
  }
  get redirect(): Redirect {
    return this.#redirect;
  }
  get signal(): AbortSignal {
    return this.#signal;
  }
  get duplex(): "half" {
    return "half";
  }
  clone(): Request {
    const content = cloneContent(this);
    return cloned(this, content);
  }

  static {
    cloned = (request, content) => {
      const copy = new Request(request.url, {
        ...request.#init,
        method: request.method,
        headers: request.headers,
        body: null,
        redirect: request.redirect,
        signal: request.signal,
      });
      if (content !== null) setContent(copy, content);
      return copy;
    };
    passiveOf = (request, name) => request.#init[name] ?? passive[name];
  }
}

for (const name of Object.keys(passive) as (keyof typeof passive)[]) {
  Object.defineProperty(Request.prototype, name, {
    configurable: true,
    enumerable: true,
    get(this: Request) {
      return passiveOf(this, name);
    },
  });
}

function hasBody(request: Request): boolean {
  return request.body !== null;
}

function toUrl(input: unknown): string {
  let url: InstanceType<typeof URL>;
  try {
    url = new URL(String(input));
  } catch (cause) {
    throw new TypeError(`Failed to parse URL from ${String(input)}`, { cause });
  }
  if (url.username !== "" || url.password !== "")
    throw new TypeError("Request cannot be constructed from a URL that includes credentials: give them in the authorization header");
  return url.href;
}

function toMethod(given: unknown): string {
  const method = String(given);
  const upper = method.toUpperCase();
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(method) || ["CONNECT", "TRACE", "TRACK"].includes(upper))
    throw new TypeError(`'${method}' HTTP method is unsupported.`);
  return ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"].includes(upper) ? upper : method;
}

function toRedirect(given: unknown): Redirect {
  if (given !== "follow" && given !== "manual" && given !== "error")
    throw new TypeError(`Request constructor: ${String(given)} is not an accepted type. Expected one of follow, error, manual.`);
  return given;
}

/** Anything shaped like a signal is taken: polyfills of AbortController are common in components. */
function toSignal(given: unknown): AbortSignal {
  if (given instanceof AbortSignal) return given;
  if (given === null || given === undefined) return new AbortController().signal;
  if (typeof given !== "object" || !("aborted" in given) || !("addEventListener" in given))
    throw new TypeError("Failed to construct 'Request': member signal is not of type AbortSignal.");
  return given as AbortSignal;
}

tag(Request, "Request");
