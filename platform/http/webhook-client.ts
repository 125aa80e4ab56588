import { LRUCache } from "lru-cache";
import { Agent, type Dispatcher } from "undici";
import { HeadwaterError } from "../../domain/errors.ts";
import type { Egress } from "./egress.ts";

export interface WebhookClientOptions {
  readonly egress: Egress;
  /** How long the endpoint may take to answer, once the connection stands. */
  readonly timeoutMs: number;
  /** Connections to one origin. */
  readonly connections: number;
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
export function createWebhookClient({ egress, timeoutMs, connections }: WebhookClientOptions): WebhookClient {
  const agent = new Agent({
    connections,
    keepAliveTimeout: 30_000,
    connect: { lookup: egress.lookup, timeout: connectTimeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: readAnswerMs,
    maxResponseSize: largestAnswerBytes,
  });
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
        const { statusCode, headers: answered, body: rest } = await agent.request({ ...targetOf(url), method: "POST", headers, body });
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
