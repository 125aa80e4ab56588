import type { SecureContext } from "node:tls";
import { LRUCache } from "lru-cache";
import { Agent, ProxyAgent, type Dispatcher } from "undici";
import { describeConnectionError } from "./connection-error.ts";
import { createConnector } from "./connector.ts";
import type { Egress } from "./egress.ts";
import type { ChangingFiles } from "../tls/changing-files.ts";
import { PostExchange, PendingPosts, type PostResult } from "./post-exchange.ts";

export type { PostResult } from "./post-exchange.ts";

export interface WebhookClientOptions {
  readonly egress: Egress;
  /** Timeout for the wait for a connection, and again for the response; accurate to a tenth of a second. */
  readonly timeoutMs: number;
  /** Connections per origin. */
  readonly connections: number;
  /** HTTP proxy for all requests, which then resolves names and decides what they may lead to. Literal addresses are still checked here. */
  readonly proxy?: string | undefined;
  /** Trusted authorities. Default: the public ones. */
  readonly trusted?: ChangingFiles<SecureContext> | undefined;
}

export interface OutgoingRequest {
  /** Default: POST. */
  readonly method?: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Absent: none. */
  readonly body?: string;
  /** How many bytes of the response's body are returned, with its headers. Absent: neither. */
  readonly keepBytes?: number;
}

export interface WebhookClient {
  /** Never throws, does not follow redirects. */
  post(message: OutgoingRequest): Promise<PostResult>;
  close(): Promise<void>;
}

const connectTimeoutMs = 5_000;
/** How much of the response's body is read, so that the connection can be reused. */
const maxResponseBytes = 64 * 1024;

interface Target {
  readonly origin: string;
  readonly path: string;
}

/** Posts over pooled connections to addresses that the egress policy allows. */
export function createWebhookClient(options: WebhookClientOptions): WebhookClient {
  const { egress, timeoutMs, proxy } = options;
  const agents = new Agents(options);
  const pending = new PendingPosts(timeoutMs);
  const targets = new LRUCache<string, Target>({ max: 10_000 });
  const targetOf = (url: string): Target => {
    const known = targets.get(url);
    if (known !== undefined) return known;
    const { hostname, origin, pathname, search } = new URL(url);
    egress.check(hostname); // A literal address never reaches the lookup, so it is checked here.
    const target = { origin, path: pathname + search };
    targets.set(url, target);
    return target;
  };
  return {
    post: ({ method = "POST", url, headers, body, keepBytes }) =>
      new Promise((resolve) => {
        const report = proxy === undefined ? resolve : (result: PostResult) => resolve(throughProxy(result));
        try {
          const { origin, path } = targetOf(url);
          // No timeouts of undici, which creates a timer for each of them and each request.
          const given = headers as Record<string, string | string[]>; // Undici does not change it.
          const request = { origin, path, method, headers: given, body: body ?? null, headersTimeout: 0, bodyTimeout: 0 };
          new PostExchange(agents.current, request, pending, report, keepBytes).begin();
        } catch (error) {
          resolve({ outcome: "unreachable", ...describeConnectionError(error, url) });
        }
      }),
    close: async () => {
      await agents.close();
      pending.stop();
    },
  };
}

/** The error does not distinguish an unreachable proxy from an unreachable endpoint. */
function throughProxy(result: PostResult): PostResult {
  return result.outcome === "unreachable" ? { ...result, message: `${result.message} (asked through the delivery proxy)` } : result;
}

/** Connections by the authorities that they were verified with: changed authorities get new connections. */
class Agents {
  readonly #options: WebhookClientOptions;
  readonly #closing = new Set<Promise<void>>();
  #context: SecureContext | undefined;
  #agent: Dispatcher;

  constructor(options: WebhookClientOptions) {
    this.#options = options;
    this.#context = options.trusted?.current;
    this.#agent = agentOf(options, this.#context);
  }

  get current(): Dispatcher {
    const context = this.#options.trusted?.current;
    if (context === this.#context) return this.#agent;
    this.#end(this.#agent);
    this.#context = context;
    this.#agent = agentOf(this.#options, context);
    return this.#agent;
  }

  /** Finishes requests in flight. */
  async close(): Promise<void> {
    this.#end(this.#agent);
    await Promise.all(this.#closing);
  }

  #end(agent: Dispatcher): void {
    const closing = agent.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}

function agentOf({ egress, connections, proxy }: WebhookClientOptions, secureContext: SecureContext | undefined): Dispatcher {
  const settings = {
    connections,
    keepAliveTimeout: 30_000,
    maxResponseSize: maxResponseBytes,
  };
  const connect = { timeout: connectTimeoutMs, ...(secureContext === undefined ? {} : { secureContext }) };
  if (proxy !== undefined) return new ProxyAgent({ ...settings, uri: proxy, proxyTls: connect, requestTls: connect });
  return new Agent({ ...settings, connect: createConnector(egress.lookup, connect) });
}
