import { setTimeout as delay } from "node:timers/promises";
import type { Dispatcher } from "undici";
import { HeadwaterError } from "../../domain/errors.ts";
import type { ClusterAccess } from "./access.ts";
import { codeOf, errorFrom, retryAfterOf, unreachable } from "./errors.ts";
import { findAccess } from "./find-access.ts";
import { createTransports, type Transport } from "./transport.ts";

export interface KubernetesRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** `/api/v1/namespaces/x`; see paths.ts. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** `application/json` unless it is a patch. */
  readonly contentType?: string;
  /** `application/json`; another one asks for another form, such as metadata alone. */
  readonly accept?: string;
  /** Gives the request up: it then throws the signal's reason. */
  readonly signal?: AbortSignal;
}

/** The API of one cluster as REST: JSON in, JSON out, refusals as our errors (errors.ts). */
export interface Kubernetes {
  readonly server: string;
  /** Our pod's namespace, or that of the kubeconfig's context. */
  readonly namespace: string;
  /**
   * Tries again by itself what certainly was not done (no connection, 429) and what may be done twice (GET).
   * @returns the answer's body @throws NotFound, Conflict, InvalidInput, Gone, Unavailable, …
   */
  request(request: KubernetesRequest): Promise<unknown>;
  /** The answer's body as it comes; for watches. Errors of the body itself are undici's. */
  stream(request: KubernetesRequest & { readonly signal: AbortSignal }): Promise<AsyncIterable<Uint8Array>>;
  /** Ends all connections at once. */
  close(): Promise<void>;
}

export interface KubernetesOptions {
  /** Where the cluster is; by default what the environment says. */
  readonly access?: ClusterAccess;
  /** Shown in the API server's audit log. */
  readonly userAgent?: string;
  /** For the answer's headers, and between two parts of its body. */
  readonly timeoutMs?: number;
  /** Bookmarks come about every minute; a watch silent for longer is opened again. */
  readonly watchSilenceMs?: number;
}

/** For requests; watches have their own. */
const connections = 16;
const attempts = 4;
const firstPauseMs = 100;
/** Longer than this nobody waits within a request; the caller is told how long the server wants. */
const longestPauseMs = 5_000;

/** Opens nothing yet. @throws InvalidInput when no cluster is named */
export async function connectKubernetes(options: KubernetesOptions = {}): Promise<Kubernetes> {
  const access = options.access ?? (await findAccess());
  const transports = createTransports(access, {
    connections,
    timeoutMs: options.timeoutMs ?? 15_000,
    silenceMs: options.watchSilenceMs ?? 90_000,
  });
  const base = new URL(access.server);
  const prefix = base.pathname === "/" ? "" : base.pathname;
  const agent = options.userAgent ?? "headwater";

  async function send(request: KubernetesRequest, over: keyof Transport, renew = false): Promise<Dispatcher.ResponseData> {
    const { authorization, tls } = await access.credentials(renew);
    const answer = await transports
      .for(tls)
      [over].request({
        origin: base.origin,
        path: prefix + request.path + searchOf(request.query),
        method: request.method,
        headers: {
          accept: request.accept ?? "application/json",
          "user-agent": agent,
          ...access.headers,
          ...(authorization === undefined ? {} : { authorization }),
          ...(request.body === undefined ? {} : { "content-type": request.contentType ?? "application/json" }),
        },
        body: request.body === undefined ? null : JSON.stringify(request.body),
        ...(request.signal === undefined ? {} : { signal: request.signal }),
      })
      .catch((error: unknown) => {
        throw request.signal?.aborted === true ? request.signal.reason : unreachable(error, nameOf(request));
      });
    // Closing may end a body that nobody reads any more, and an error that nobody hears ends the process. Readers hear of theirs.
    answer.body.on("error", () => undefined);
    // A token that was replaced a moment ago is read again once.
    if (answer.statusCode !== 401 || renew) return answer;
    await answer.body.dump();
    return send(request, over, true);
  }

  async function answered(request: KubernetesRequest): Promise<unknown> {
    const answer = await send(request, "requests");
    const text = await answer.body.text().catch((error: unknown) => {
      throw request.signal?.aborted === true ? request.signal.reason : unreachable(error, nameOf(request));
    });
    if (answer.statusCode < 300) return parsed(text);
    throw refusal(answer, text, request);
  }

  return {
    server: access.server,
    namespace: access.namespace,
    request: (request) => patiently(() => answered(request), request),
    stream: (request) =>
      patiently(async () => {
        const answer = await send(request, "watches");
        if (answer.statusCode < 300) return answer.body;
        throw refusal(answer, await answer.body.text(), request);
      }, request),
    close: () => transports.close(),
  };
}

/** Every refusal is tried again that has done nothing; a read also when its answer was lost. */
async function patiently<T>(attempt: () => Promise<T>, { method, signal }: KubernetesRequest): Promise<T> {
  for (let n = 1; ; n++) {
    try {
      return await attempt();
    } catch (error) {
      const pauseMs = retryAfterOf(error) ?? firstPauseMs * 2 ** (n - 1) * (0.5 + Math.random());
      if (n === attempts || pauseMs > longestPauseMs || !mayRepeat(error, method)) throw error;
      await delay(pauseMs, undefined, signal === undefined ? {} : { signal }).catch(() => signal?.throwIfAborted());
    }
  }
}

const neverSent = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

function mayRepeat(error: unknown, method: KubernetesRequest["method"]): boolean {
  if (!(error instanceof HeadwaterError) || error.code !== "kubernetes_unavailable") return false;
  return method === "GET" || neverSent.has(codeOf(error.cause) ?? "") || isTooMany(error.details);
}

const isTooMany = (details: unknown): boolean =>
  typeof details === "object" && details !== null && "status" in details && details.status === 429;

function refusal(answer: Dispatcher.ResponseData, text: string, request: KubernetesRequest): HeadwaterError {
  const after = answer.headers["retry-after"];
  return errorFrom({
    status: answer.statusCode,
    body: parsed(text),
    retryAfter: Array.isArray(after) ? after[0] : after,
    asked: nameOf(request),
  });
}

/** Some answers are plain text: `404 page not found`. */
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

export { pathOf } from "./paths.ts";
