import { LRUCache } from "lru-cache";
import { Agent, errors, ProxyAgent, type Dispatcher } from "undici";
import { HeadwaterError } from "../../domain/errors.ts";
import type { Egress } from "./egress.ts";

export interface WebhookClientOptions {
  readonly egress: Egress;
  /** How long the endpoint may take to answer, once the connection stands. */
  readonly timeoutMs: number;
  /** Connections to one origin. */
  readonly connections: number;
  /** Everything goes through this HTTP proxy, which then resolves names and decides what they may lead to; literal addresses are judged here all the same. */
  readonly proxy?: string | undefined;
}

export type PostResult =
  | { readonly outcome: "answered"; readonly status: number; readonly retryAfter: string | undefined }
  | { readonly outcome: "unreachable"; readonly code: string; readonly message: string };

export interface WebhookClient {
  /** Never throws and follows no redirect. */
  post(message: { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: string }): Promise<PostResult>;
  close(): Promise<void>;
}

const connectTimeoutMs = 5_000;
/** Nobody reads the answer's body; this much of it is read, for this long, so that the connection can be used again. */
const largestAnswerBytes = 64 * 1024;
const readAnswerMs = 2_000;

interface Target {
  readonly origin: string;
  readonly path: string;
}

/** Posts over pooled connections to addresses the egress policy allows. */
export function createWebhookClient(options: WebhookClientOptions): WebhookClient {
  const { egress, timeoutMs } = options;
  const agent = agentOf(options);
  const targets = new LRUCache<string, Target>({ max: 10_000 });
  const targetOf = (url: string): Target => {
    const known = targets.get(url);
    if (known !== undefined) return known;
    const { hostname, origin, pathname, search } = new URL(url);
    egress.check(hostname); // A literal address never reaches the lookup; what it may not reach it may never reach.
    const target = { origin, path: pathname + search };
    targets.set(url, target);
    return target;
  };
  return {
    async post({ url, headers, body }) {
      try {
        const {
          statusCode,
          headers: answered,
          body: rest,
        } = await postTo(agent, {
          ...targetOf(url),
          headers,
          body,
          headersTimeout: timeoutMs,
          bodyTimeout: readAnswerMs,
        });
        await discard(rest);
        const retryAfter = answered["retry-after"];
        return {
          outcome: "answered",
          status: statusCode,
          retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
        };
      } catch (error) {
        return { outcome: "unreachable", ...explain(error, timeoutMs) };
      }
    },
    close: () => agent.close(),
  };
}

function agentOf({ egress, connections, proxy }: WebhookClientOptions): Dispatcher {
  const settings = {
    connections,
    keepAliveTimeout: 30_000,
    maxResponseSize: largestAnswerBytes,
  };
  const connect = { timeout: connectTimeoutMs };
  if (proxy !== undefined) return new ProxyAgent({ ...settings, uri: proxy, proxyTls: connect, requestTls: connect });
  return new Agent({ ...settings, connect: { ...connect, lookup: egress.lookup } });
}

/**
 * Once more at once when a connection ended that had been used before: its server closed it for its age just as we wrote, so nobody
 * read what was sent. Were it read all the same, the webhook-id says that it is the same.
 */
async function postTo(agent: Dispatcher, request: Omit<Dispatcher.RequestOptions, "method">) {
  const post = { ...request, method: "POST" } as const;
  try {
    return await agent.request(post);
  } catch (error) {
    if (!hasOutlivedItsConnection(error)) throw error;
    return agent.request(post);
  }
}

/** A reset tells nothing of the connection it came from. */
function hasOutlivedItsConnection(error: unknown): boolean {
  if (error instanceof errors.SocketError) return (error.socket?.bytesRead ?? 0) > 0;
  return error instanceof Error && "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
}

/** The status is the answer; a body that breaks off, trickles or is too large changes nothing about it. */
async function discard(body: Dispatcher.ResponseData["body"]): Promise<void> {
  const timer = setTimeout(() => body.destroy(), readAnswerMs);
  await body.dump({ limit: largestAnswerBytes }).catch(() => undefined);
  clearTimeout(timer);
}

function explain(error: unknown, timeoutMs: number): { code: string; message: string } {
  if (error instanceof HeadwaterError) return { code: error.code, message: error.message };
  if (!(error instanceof Error)) return { code: "unknown", message: String(error) };
  const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
  if (code === "UND_ERR_HEADERS_TIMEOUT") return { code: "timeout", message: `no answer within ${timeoutMs} ms` };
  return { code, message: error.message };
}
