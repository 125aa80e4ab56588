import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Budget } from "../domain/limits/budget.ts";
import { clientReader } from "../domain/client-address.ts";
import { parseTraceContext, type Span } from "../domain/traces.ts";
import type { EmailServer } from "./email/ports.ts";
import { emailHandlers } from "./email/receive-email.ts";
import { ErrorFilter, requestTimedOut } from "./errors.ts";
import { Packs } from "./packs.ts";
import { maxTransferMs, Pace, type PaceLimits } from "./pace.ts";
import type { IngressConfig, IngressPorts } from "./ports.ts";
import { receive, type Receiving } from "./receive.ts";
import { replyError } from "./reply.ts";

export interface Ingress {
  /** host:port it listens on. */
  readonly address: string;
  /** host:port at which it receives emails; absent: it does not. */
  readonly emailAddress?: string;
  /** Accepts no more connections and finishes requests in progress; when the signal aborts, closes them. */
  stop(signal: AbortSignal): Promise<void>;
}

/** Of the server's own limit, which closes connections without an answer. */
const marginMs = 5_000;

/** Serves HTTP endpoints, and addresses for emails: each request or message becomes a durable invocation before it is answered. */
export async function startIngress(config: IngressConfig, ports: IngressPorts): Promise<Ingress> {
  const receiving = receivingOf(config, ports);
  const filter = new ErrorFilter(ports.log);
  const limits = {
    ...config,
    // `paceOf` ends the others earlier.
    requestTimeoutMs: maxTransferMs(config.uploadLimitBytes, paceLimits(config)) + marginMs,
    // No bytes move on a connection while its request waits to be stored, and then for its response.
    silenceTimeoutMs: config.requestTimeoutMs + config.answerTimeoutMs,
  };
  // Replies to errors itself, and never rejects.
  const { server, drain } = ports.createServer(limits, (request, response) => void respond(request, response, receiving, filter));
  await listen(server, config);
  const email = await startEmail(receiving);
  const stop = async (signal: AbortSignal): Promise<void> => void (await Promise.all([drain(signal), email?.stop(signal)]));
  return { address: addressOf(server), ...(email === undefined ? {} : { emailAddress: email.address }), stop };
}

async function startEmail({ config, ports, packs, storing }: Receiving): Promise<EmailServer | undefined> {
  const { email } = ports;
  if (email === undefined) return undefined;
  const { config: emailConfig, parse, authenticate, now } = email;
  return email.start(
    emailConfig,
    emailHandlers({ config: emailConfig, eventLimitBytes: config.bodyLimitBytes, ports, packs, storing, parse, authenticate, now }),
  );
}

function receivingOf(config: IngressConfig, ports: IngressPorts): Receiving {
  const { storingChars, maxConnections, unreadBytes, transfers, transfersOfOwner, lookups, lookupsOfNetwork } = config;
  return {
    config,
    ports,
    packs: new Packs(ports.invocations),
    clientOf: clientReader(config.trustedProxies),
    storing: new Budget({ total: storingChars, share: storingChars / 2 }),
    // Requests that wait leave half of the connections to others.
    waiting: new Budget({ total: Math.ceil(maxConnections / 2), share: Math.ceil(maxConnections / 4) }),
    unread: new Budget({ total: unreadBytes }),
    uploads: new Budget({ total: transfers, share: transfersOfOwner }),
    lookups: new Budget({ total: lookups, share: lookupsOfNetwork }),
    downloads: new Budget({ total: transfers, share: transfersOfOwner }),
  };
}

async function respond(request: IncomingMessage, response: ServerResponse, receiving: Receiving, filter: ErrorFilter): Promise<void> {
  const startedAt = performance.now();
  const { onAnswered } = receiving.ports;
  // Without a listener, a write to a response that has ended or whose connection is closed would end the process.
  response.on("error", () => undefined);
  const given = parseTraceContext(request.headers);
  const span = startSpan(request, given.traceparent, receiving.ports);
  const pace = paceOf(request, response, receiving.config);
  try {
    await receive(request, response, receiving, { pace, trace: span === undefined ? given : { ...given, traceparent: span.traceparent } });
  } catch (error) {
    const shown = filter.publicError(error);
    if (!response.headersSent && !response.destroyed) replyError(response, shown);
  }
  const status = response.statusCode;
  onAnswered?.({ status, durationMs: performance.now() - startedAt });
  span?.end({ attributes: { "http.response.status_code": status }, error: status >= 500 ? String(status) : undefined });
}

const paceLimits = ({ requestTimeoutMs: graceMs, minTransferRate: bytesPerSecond }: IngressConfig): PaceLimits => ({
  graceMs,
  bytesPerSecond,
});

/** Ends a request that does not arrive in time. While its body is stored as a file, each byte that arrives gives it more time. */
function paceOf(request: IncomingMessage, response: ServerResponse, config: IngressConfig): Pace {
  const pace = new Pace(paceLimits(config), () => {
    if (request.complete) return;
    if (response.headersSent) {
      // Nothing may end it as if it were complete: another function may be writing to it.
      response.destroy();
      return void request.destroy();
    }
    response.shouldKeepAlive = false;
    replyError(response, requestTimedOut());
    response.end(() => request.destroy());
  });
  request.once("end", () => pace.end()).once("close", () => pace.end());
  return pace;
}

/** The span does not contain the address, which is secret. */
function startSpan({ method = "GET" }: IncomingMessage, traceparent: string | undefined, { traces }: IngressPorts): Span | undefined {
  if (traces === undefined || method === "OPTIONS") return undefined;
  return traces.start(`${method} endpoint`, { kind: "server", traceparent, attributes: { "http.request.method": method } });
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
