import { Readable } from "node:stream";

/**
 * What a component gets for `import … from "undici"`, and what packages get that bring it: the package reads answers with WebAssembly,
 * which isolates do not have, and its `fetch` is the global one. What it says of connections (agents, pools) has no meaning here; the
 * host connects.
 */
const { fetch: globalFetch, Headers, Request, Response, FormData, WebSocket } = globalThis;
const { File, CloseEvent, ErrorEvent, MessageEvent, EventSource } = globalThis as unknown as Record<string, unknown>;
export { Headers, Request, Response, FormData, File, WebSocket, CloseEvent, ErrorEvent, MessageEvent, EventSource };

type Fields = Record<string, unknown>;

interface Options extends Fields {
  readonly dispatcher?: unknown;
  readonly query?: Record<string, unknown>;
  readonly path?: string;
  readonly body?: unknown;
  readonly headers?: unknown;
}

export class Dispatcher {
  readonly closed = false;
  readonly destroyed = false;
  readonly #origin: unknown;
  constructor(origin?: unknown) {
    this.#origin = origin;
  }
  request(options: Options): Promise<Answer> {
    return request(new URL(String(options.path ?? "/"), String(options["origin"] ?? this.#origin)), options);
  }
  compose(): this {
    return this;
  }
  async close(): Promise<void> {}
  async destroy(): Promise<void> {}
  on(): this {
    return this;
  }
  once(): this {
    return this;
  }
  off(): this {
    return this;
  }
}
export class Client extends Dispatcher {}
export class Pool extends Dispatcher {}
export class BalancedPool extends Dispatcher {}
export class Agent extends Dispatcher {}
export class RetryAgent extends Dispatcher {}
export class EnvHttpProxyAgent extends Dispatcher {}
export class ProxyAgent extends Dispatcher {}

let chosen: unknown = new Agent();
export const setGlobalDispatcher = (dispatcher: unknown): void => void (chosen = dispatcher);
export const getGlobalDispatcher = (): unknown => chosen;
export const setGlobalOrigin = (): void => {};
export const getGlobalOrigin = (): undefined => undefined;
export const install = (): void => {};
export const buildConnector = (): never => unsupported("buildConnector");
export const stream = (): never => unsupported("stream");
export const pipeline = (): never => unsupported("pipeline");
export const connect = (): never => unsupported("connect");
export const upgrade = (): never => unsupported("upgrade");
const passing = () => (dispatch: unknown) => dispatch;
export const interceptors = { redirect: passing, retry: passing, dump: passing, dns: passing, cache: passing, decompress: passing };

function unsupported(name: string): never {
  throw Object.assign(new Error(`undici.${name} is not available to components: use fetch, or undici's request`), {
    code: "ERR_SANDBOX_UNSUPPORTED",
  });
}

/** Sent directly, a request meant for a proxy would arrive from the wrong address. */
function refuseProxy(dispatcher: unknown): void {
  if ((dispatcher ?? chosen) instanceof ProxyAgent) unsupported("ProxyAgent");
}

export async function fetch(input: Parameters<typeof globalFetch>[0], init?: RequestInit & { dispatcher?: unknown }): Promise<Response> {
  const { dispatcher, ...rest } = init ?? {};
  refuseProxy(dispatcher);
  return globalFetch(input, rest);
}

interface Answer {
  readonly statusCode: number;
  readonly headers: Record<string, string | string[]>;
  readonly trailers: object;
  readonly opaque: unknown;
  readonly context: object;
  readonly body: Readable & { text(): Promise<string>; json(): Promise<unknown> };
}

/** An answer of any status; redirects are not followed, as undici does not. */
export async function request(url: string | URL | { origin?: string }, options: Options = {}): Promise<Answer> {
  const { dispatcher, query, path: _, headers, body, opaque, ...rest } = options;
  refuseProxy(dispatcher);
  const target = new URL(String(url instanceof URL || typeof url === "string" ? url : url.origin));
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const one of [value].flat()) target.searchParams.append(name, String(one));
  }
  const isStream = body instanceof Readable;
  const response = await globalFetch(target, {
    redirect: "manual",
    ...rest,
    ...(headers !== undefined && headers !== null && { headers: headersOf(headers) }),
    ...(body !== undefined && body !== null && { body: (isStream ? Readable.toWeb(body) : body) as NonNullable<RequestInit["body"]> }),
    ...(isStream && { duplex: "half" }),
  } as RequestInit);
  return {
    statusCode: response.status,
    headers: plainHeaders(response.headers),
    trailers: {},
    opaque,
    context: {},
    body: bodyOf(response),
  };
}

/** undici takes a flat list of names and values, too. */
function headersOf(given: unknown): Headers {
  if (!Array.isArray(given) || Array.isArray(given[0])) {
    const defined =
      given instanceof Headers || Array.isArray(given) ? given : Object.entries(given as Fields).filter(([, v]) => v !== undefined);
    return new Headers(defined as [string, string][]);
  }
  return new Headers(given.flatMap((name, at) => (at % 2 === 0 ? [[String(name), String(given[at + 1])]] : [])) as [string, string][]);
}

function plainHeaders(headers: Headers): Record<string, string | string[]> {
  const cookies = headers.getSetCookie();
  return {
    ...Object.fromEntries(headers),
    ...(cookies.length > 0 && { "set-cookie": cookies.length === 1 ? (cookies[0] ?? "") : cookies }),
  };
}

function bodyOf(response: Response): Answer["body"] {
  const readable = response.body === null ? Readable.from([]) : Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
  const whole = async (): Promise<Buffer> => Buffer.concat(await readable.toArray());
  return Object.assign(readable, {
    text: async () => (await whole()).toString("utf8"),
    json: async (): Promise<unknown> => JSON.parse((await whole()).toString("utf8")),
    arrayBuffer: async () => new Uint8Array(await whole()).buffer,
    bytes: async () => new Uint8Array(await whole()),
    blob: async () => new Blob([new Uint8Array(await whole())]),
    dump: async () => void readable.resume(),
  });
}

const named = (name: string, code: string) =>
  class extends Error {
    override readonly name = name;
    readonly code = code;
  };
export const errors = {
  UndiciError: named("UndiciError", "UND_ERR"),
  ConnectTimeoutError: named("ConnectTimeoutError", "UND_ERR_CONNECT_TIMEOUT"),
  HeadersTimeoutError: named("HeadersTimeoutError", "UND_ERR_HEADERS_TIMEOUT"),
  BodyTimeoutError: named("BodyTimeoutError", "UND_ERR_BODY_TIMEOUT"),
  RequestAbortedError: named("AbortError", "UND_ERR_ABORTED"),
  SocketError: named("SocketError", "UND_ERR_SOCKET"),
};

export default {
  fetch,
  request,
  Headers,
  Request,
  Response,
  FormData,
  File,
  WebSocket,
  errors,
  interceptors,
  setGlobalDispatcher,
  getGlobalDispatcher,
  Dispatcher,
  Client,
  Pool,
  BalancedPool,
  Agent,
  RetryAgent,
  EnvHttpProxyAgent,
  ProxyAgent,
};
