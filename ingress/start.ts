import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { HeadwaterError } from "../domain/errors.ts";
import { parseTraceContext, type Span } from "../domain/traces.ts";
import { BacklogGate } from "./backlog-gate.ts";
import { QuotaGate } from "./quota-gate.ts";
import { bodyTooLarge, discard } from "./body.ts";
import { Packs } from "./packs.ts";
import type { IngressConfig, IngressPorts } from "./ports.ts";
import { receive, type Receiving } from "./receive.ts";
import { replyError } from "./reply.ts";

export interface Ingress {
  /** host:port it listens on. */
  readonly address: string;
  /** Takes no more connections and finishes what is in flight; what is not finished when the signal aborts is cut off. */
  stop(signal: AbortSignal): Promise<void>;
}

const headersTimeoutMs = 10_000;
const keepAliveMs = 65_000; // Longer than the 60 s of common load balancers, which would else meet a closed connection.

/** Serves the HTTP endpoints of sources: each request becomes a durable invocation before it is answered 200. */
export async function startIngress(config: IngressConfig, ports: IngressPorts): Promise<Ingress> {
  const packs = new Packs(ports.invocations);
  const gate = new BacklogGate(ports.backlog, config.backlogLimit, (pool, partition) => packs.meanPack(pool, partition));
  const receiving: Receiving = { config, ports, packs, gate, quotas: new QuotaGate(ports.overQuota) };
  // Replies to errors itself, and never rejects.
  const server = createServer(timeouts(config), (request, response) => void answer(request, response, receiving));
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    if (Number(request.headers["content-length"] ?? 0) > config.bodyLimitBytes) {
      // Not told to go on, the client keeps the body to itself.
      response.shouldKeepAlive = false;
      return replyError(response, bodyTooLarge(config.bodyLimitBytes));
    }
    response.writeContinue();
    server.emit("request", request, response);
  });
  const drain = ports.drainable(server);
  await listen(server, config);
  return {
    address: addressOf(server),
    stop: drain,
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, receiving: Receiving): Promise<void> {
  const startedAt = performance.now();
  const { log, onAnswered } = receiving.ports;
  const given = parseTraceContext(request.headers);
  const span = startSpan(request, given.traceparent, receiving.ports);
  try {
    await receive(request, response, receiving, span === undefined ? given : { ...given, traceparent: span.traceparent });
  } catch (error) {
    if (!(error instanceof HeadwaterError)) log.warn({ op: "http.request", err: error }, "a request could not be taken");
    if (!request.complete) discard(request);
    if (!response.headersSent && !response.destroyed) replyError(response, error);
  }
  const status = response.statusCode;
  onAnswered?.({ status, durationMs: performance.now() - startedAt });
  span?.end({ attributes: { "http.response.status_code": status }, error: status >= 500 ? String(status) : undefined });
}

/** Without its address: that is a secret. */
function startSpan({ method = "GET" }: IncomingMessage, traceparent: string | undefined, { traces }: IngressPorts): Span | undefined {
  if (traces === undefined || method === "OPTIONS") return undefined;
  return traces.start(`${method} endpoint`, { kind: "server", traceparent, attributes: { "http.request.method": method } });
}

function timeouts({ requestTimeoutMs }: IngressConfig) {
  return {
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: 1_000,
  };
}

function listen(server: Server, { host, port }: IngressConfig): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, backlog: 4_096 }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function addressOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo; // null or a pipe's name only for servers that do not listen on TCP
  return `${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
