import { errorOfResponse, jsonOf, Unreachable } from "./errors.ts";
import { routes, type Operations } from "./generated/operations.ts";
import { followEvents, type FollowOptions, type ServerSentEvent } from "./follow.ts";

export type OperationId = keyof Operations;
/** Operations whose response is a stream of server-sent events. */
export type StreamId = { [Id in OperationId]: (typeof routes)[Id] extends { readonly isStream: true } ? Id : never }[OperationId];

/** What an operation receives; `path` is required where the path has parameters. */
export type Arguments<Id extends OperationId> = {
  readonly query?: Operations[Id]["query"];
  readonly body?: Operations[Id]["body"];
} & (Operations[Id]["path"] extends Readonly<Record<string, never>> ? object : { readonly path: Operations[Id]["path"] });

export interface ClientOptions {
  /** Address of the API, such as `http://127.0.0.1:3000`; empty in a browser: the page's. */
  readonly baseUrl: string;
  /** Headers of every request, such as `authorization`. */
  readonly headers?: (method: string) => Readonly<Record<string, string>>;
  readonly fetch?: typeof globalThis.fetch;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** The text of a response, with what is needed to read it. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The REST API, typed by its OpenAPI document. */
export interface Client {
  /** @throws ApiError for an error response, Unreachable without a response */
  call<Id extends OperationId>(id: Id, args: Arguments<Id>, options?: CallOptions): Promise<Operations[Id]["response"]>;
  /** Requests any path: for callers that get it from the user. @throws ApiError, Unreachable */
  request(method: string, path: string, body?: unknown, options?: CallOptions): Promise<RawResponse>;
  /** The events of a stream, without end; continues after the last one when the connection is lost. @throws ApiError when the API refuses it */
  follow<Id extends StreamId>(id: Id, args: Arguments<Id>, options: FollowOptions): AsyncGenerator<ServerSentEvent, void>;
}

export function createClient({ baseUrl, headers = () => ({}), fetch = globalThis.fetch.bind(globalThis) }: ClientOptions): Client {
  const send = async (method: string, path: string, body: unknown, init: RequestInit): Promise<Response> => {
    const url = baseUrl.replace(/\/+$/, "") + path;
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const contentType = body === undefined ? {} : { "content-type": "application/json" };
    try {
      return await fetch(url, { ...init, method, ...content, headers: { ...headers(method), ...contentType, ...headersOf(init) } });
    } catch (error) {
      if (init.signal?.aborted === true) throw error;
      throw new Unreachable(`no response from ${url}: ${reasonOf(error)}`, { cause: error });
    }
  };
  const request: Client["request"] = async (method, path, body, { signal } = {}) => {
    const response = await send(method, path, body, signal === undefined ? {} : { signal });
    const text = await response.text();
    if (!response.ok) throw errorOfResponse(response, text);
    return { status: response.status, headers: response.headers, text };
  };
  return {
    request,
    call: async (id, args, options) => {
      const { text, headers: received } = await request(routes[id].method, pathOf(id, args), args.body, options);
      return (text === "" ? undefined : parsed(text, received)) as Operations[typeof id]["response"]; // By the document.
    },
    follow: (id, args, options) => {
      const path = pathOf(id, args);
      return followEvents(async (lastEventId, signal) => {
        const resume = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
        const response = await send("GET", path, undefined, { signal, headers: { accept: "text/event-stream", ...resume } });
        if (!response.ok) throw errorOfResponse(response, await response.text());
        return response;
      }, options);
    },
  };
}

/**
 * The path of an operation with its parameters. Absent and undefined query parameters are left out.
 * @throws TypeError for a path parameter that a URL would leave out: the path would be that of another operation
 */
export function pathOf<Id extends OperationId>(id: Id, args: Arguments<Id>): string {
  const values = "path" in args ? (args.path as Readonly<Record<string, string>>) : {}; // Every path parameter is a string.
  const path = routes[id].path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => {
    const value = values[name] ?? "";
    if (["", ".", ".."].includes(value)) throw new TypeError(`${name} is '${value}', which no path can have`);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(args.query ?? {})) {
    if (value !== undefined && value !== null) query.append(name, String(value));
  }
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

const headersOf = ({ headers }: RequestInit): Readonly<Record<string, string>> => Object.fromEntries(new Headers(headers));

/** Deletions of events answer with plain text. */
function parsed(text: string, headers: Headers): unknown {
  if (!(headers.get("content-type") ?? "").includes("json")) return undefined;
  const value = jsonOf(text);
  if (value === undefined) throw new Unreachable(`the response is not JSON: ${text.slice(0, 200)}`);
  return value;
}

/** `fetch failed` has its reason in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return "code" in cause && cause.message === "" ? String(cause.code) : cause.message;
}
