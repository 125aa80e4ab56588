import type { Dispatcher } from "undici";
import { HeadwaterError } from "../../../domain/errors.ts";
import { retry } from "../../../domain/retry.ts";
import type { ClusterAccess } from "./access.ts";
import { codeOf, errorFrom, retryAfterOf, unreachable } from "../errors.ts";
import { findAccess } from "./find-access.ts";
import { createTransports, type Transport } from "./transport.ts";

export interface KubernetesRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** `/api/v1/namespaces/x`; see paths.ts. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Default: `application/json`. */
  readonly contentType?: string;
  /** Default: `application/json`. Other types request other representations, such as metadata only. */
  readonly accept?: string;
  /** Cancels the request, which then throws the signal's reason. */
  readonly signal?: AbortSignal;
}

/** The API of one cluster as REST: JSON in, JSON out, errors mapped by errors.ts. */
export interface Kubernetes {
  readonly server: string;
  /** Namespace of our pod or of the kubeconfig's context. */
  readonly namespace: string;
  /**
   * Retries what was certainly not executed (no connection, 429) and what is idempotent (GET).
   * @returns the response body @throws NotFound, Conflict, InvalidInput, Gone, Unavailable, …
   */
  request(request: KubernetesRequest): Promise<unknown>;
  /** The streamed response body, for watches. Errors of the body are undici's. */
  stream(request: KubernetesRequest & { readonly signal: AbortSignal }): Promise<AsyncIterable<Uint8Array>>;
  /** Closes all connections at once. */
  close(): Promise<void>;
}

export interface KubernetesOptions {
  /** Default: from the environment. */
  readonly access?: ClusterAccess;
  /** Shown in the API server's audit log. */
  readonly userAgent?: string;
  /** Timeout for the response headers, and between two parts of the body. */
  readonly timeoutMs?: number;
  /** Bookmarks arrive about every minute; a watch that is silent for longer is reopened. */
  readonly watchSilenceMs?: number;
}

/** For requests; watches have their own. */
const connections = 16;
const maxAttempts = 4;
const firstPauseMs = 100;
/** Longer waits are left to the caller, with the delay that the server asks for. */
const maxPauseMs = 5_000;

/** Does not connect yet. @throws InvalidInput when no cluster is configured */
export async function connectKubernetes(options: KubernetesOptions = {}): Promise<Kubernetes> {
  const connection = new Connection(options.access ?? (await findAccess()), options);
  // A plain object, which callers can spread to replace one function.
  return {
    server: connection.server,
    namespace: connection.namespace,
    request: (request) => connection.request(request),
    stream: (request) => connection.stream(request),
    close: () => connection.close(),
  };
}

class Connection implements Kubernetes {
  readonly server: string;
  readonly namespace: string;
  readonly #access: ClusterAccess;
  readonly #transports: ReturnType<typeof createTransports>;
  readonly #origin: string;
  /** Path of the server's URL; empty for the root. */
  readonly #prefix: string;
  readonly #userAgent: string;

  constructor(access: ClusterAccess, { timeoutMs = 15_000, watchSilenceMs = 90_000, userAgent = "headwater" }: KubernetesOptions) {
    const { origin, pathname } = new URL(access.server);
    this.server = access.server;
    this.namespace = access.namespace;
    this.#access = access;
    this.#transports = createTransports(access, { connections, timeoutMs, silenceMs: watchSilenceMs });
    this.#origin = origin;
    this.#prefix = pathname === "/" ? "" : pathname;
    this.#userAgent = userAgent;
  }

  request(request: KubernetesRequest): Promise<unknown> {
    return withRetries(() => this.#sendAndParse(request), request);
  }

  stream(request: KubernetesRequest & { readonly signal: AbortSignal }): Promise<AsyncIterable<Uint8Array>> {
    return withRetries(async () => {
      const response = await this.#send(request, "watches");
      if (response.statusCode < 300) return response.body;
      throw errorOf(response, await response.body.text(), request);
    }, request);
  }

  close(): Promise<void> {
    return this.#transports.close();
  }

  async #sendAndParse(request: KubernetesRequest): Promise<unknown> {
    const response = await this.#send(request, "requests");
    const text = await response.body.text().catch((error: unknown) => rethrow(error, request));
    if (response.statusCode < 300) return parsed(text);
    throw errorOf(response, text, request);
  }

  async #send(request: KubernetesRequest, over: keyof Transport, renew = false): Promise<Dispatcher.ResponseData> {
    const { authorization, tls } = await this.#access.credentials(renew);
    const response = await this.#transports
      .for(tls)
      [over].request({
        origin: this.#origin,
        path: this.#prefix + request.path + searchOf(request.query),
        method: request.method,
        headers: this.#headersOf(request, authorization),
        body: request.body === undefined ? null : JSON.stringify(request.body),
        ...(request.signal === undefined ? {} : { signal: request.signal }),
      })
      .catch((error: unknown) => rethrow(error, request));
    // Closing may end a body that is no longer read, and an unhandled "error" event would end the process. Readers still get the error.
    response.body.on("error", () => undefined);
    // The token may just have been replaced: read it again once.
    if (response.statusCode !== 401 || renew) return response;
    await response.body.dump();
    return this.#send(request, over, true);
  }

  #headersOf({ accept, body, contentType }: KubernetesRequest, authorization: string | undefined): ClusterAccess["headers"] {
    return {
      accept: accept ?? "application/json",
      "user-agent": this.#userAgent,
      ...this.#access.headers,
      ...(authorization === undefined ? {} : { authorization }),
      ...(body === undefined ? {} : { "content-type": contentType ?? "application/json" }),
    };
  }
}

/** @throws the signal's reason if the request was cancelled, else Unavailable */
function rethrow(error: unknown, request: KubernetesRequest): never {
  throw request.signal?.aborted === true ? request.signal.reason : unreachable(error, nameOf(request));
}

/** Retries requests that the server refused without executing them, and reads whose response was lost. */
async function withRetries<T>(attempt: () => Promise<T>, { method, signal }: KubernetesRequest): Promise<T> {
  const isTransient = (error: unknown): boolean => isRetryable(error, method) && (retryAfterOf(error) ?? 0) <= maxPauseMs;
  const delay = { firstMs: firstPauseMs, maxMs: maxPauseMs, requestedDelayMs: retryAfterOf };
  return retry(attempt, { ...delay, maxAttempts, signal, isTransient }).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw error;
  });
}

const neverSent = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

function isRetryable(error: unknown, method: KubernetesRequest["method"]): boolean {
  if (!(error instanceof HeadwaterError) || error.code !== "kubernetes_unavailable") return false;
  return method === "GET" || neverSent.has(codeOf(error.cause) ?? "") || isTooMany(error.details);
}

const isTooMany = (details: unknown): boolean =>
  typeof details === "object" && details !== null && "status" in details && details.status === 429;

function errorOf(response: Dispatcher.ResponseData, text: string, request: KubernetesRequest): HeadwaterError {
  const after = response.headers["retry-after"];
  return errorFrom({
    status: response.statusCode,
    body: parsed(text),
    retryAfter: Array.isArray(after) ? after[0] : after,
    asked: nameOf(request),
  });
}

/** Some responses are plain text: `404 page not found`. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const nameOf = ({ method, path }: KubernetesRequest): string => `${method} ${path}`;

function searchOf(query: KubernetesRequest["query"] = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? "" : `?${search.toString()}`;
}

export { pathOf } from "../paths.ts";
