import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Budget, type BudgetEntry } from "../../domain/limits/budget.ts";
import { networkOf, trustsPeer, type TrustedProxies } from "../../domain/client-address.ts";
import { drainable } from "./drainable.ts";
import { createTlsServer, onSecured, type ServerCertificate } from "./tls-server.ts";

export interface ServerLimits {
  /** Timeout for receiving a whole request. */
  readonly requestTimeoutMs: number;
  /** Timeout without a byte in either direction on a busy connection; longer than any response may take. */
  readonly silenceTimeoutMs: number;
  readonly maxConnections: number;
  /** Proxies that many clients may share. */
  readonly trustedProxies: TrustedProxies;
  /** How long a drain leaves idle connections open. Default 1 s. */
  readonly lingerMs?: number;
}

export interface BoundedServer {
  readonly server: Server;
  /** Accepts no more connections and finishes requests in flight; closes the rest when the signal aborts. */
  readonly drain: (signal: AbortSignal) => Promise<void>;
}

const headersTimeoutMs = 10_000;
/** Longer than the 60 s of common load balancers, which would otherwise send requests to closed connections. */
const keepAliveTimeoutMs = 65_000;
/** Pipelined requests of one connection without a response. */
const maxUnanswered = 100;

/** How much is read of a request that was answered early: closing a connection with unread bytes would lose the response. */
const unreadLimit = { bytes: 8 * 2 ** 20, chunks: 10_000 } as const;

interface Connection {
  readonly entry: BudgetEntry;
  unanswered: number;
  /** Response listener, shared by all responses of a connection. */
  readonly onAnswered: (this: ServerResponse) => void;
}

/**
 * An HTTP server that bounds connections in total and per client network, unanswered requests per connection, and the time for headers,
 * bodies and unread responses. When all connections are in use, the network with the most loses an idle one.
 * @param certificate absent: plain HTTP
 */
export function createBoundedServer(limits: ServerLimits, onRequest: RequestListener, certificate?: ServerCertificate): BoundedServer {
  const { maxConnections, requestTimeoutMs, silenceTimeoutMs } = limits;
  const budget = new Budget({ total: maxConnections, share: Math.ceil(maxConnections / 2) });
  const connections = new WeakMap<Socket, Connection>();
  const options = {
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: 1_000,
  };
  const server = certificate === undefined ? createServer(options) : createTlsServer(options, certificate);
  server.timeout = silenceTimeoutMs;
  const holderOf = holderOfPeer(limits.trustedProxies);
  server.on("connection", (socket: Socket) => {
    const connection: Connection = {
      entry: budget.open(holderOf(socket), () => cutIfIdle(socket, connection)),
      unanswered: 0,
      onAnswered() {
        connection.unanswered--;
        if (!this.req.complete) boundRest(this.req);
      },
    };
    if (!connection.entry.take(1)) return void socket.destroy();
    connections.set(socket, connection);
    socket.once("close", () => connection.entry.release());
  });
  const share = (secured: Socket, plain: Socket): void => {
    const connection = connections.get(plain);
    if (connection !== undefined) connections.set(secured, connection);
  };
  if (certificate !== undefined) onSecured(server, share);
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const connection = connections.get(request.socket);
    if (connection === undefined || ++connection.unanswered > maxUnanswered) return void request.socket.destroy();
    response.on("close", connection.onAnswered);
    onRequest(request, response);
  };
  server.on("request", serve);
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    // The reader of the body sends 100 Continue. Without a reader the client may or may not send the body, so no further request can
    // follow.
    response.shouldKeepAlive = false;
    serve(request, response);
  });
  return { server, drain: drainable(server, limits.lingerMs) };
}

function boundRest(request: IncomingMessage): void {
  let [bytes, chunks] = [0, 0];
  request.on("error", () => undefined);
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > unreadLimit.bytes || ++chunks > unreadLimit.chunks) request.destroy();
  });
}

function cutIfIdle(socket: Socket, { unanswered }: Connection): boolean {
  if (unanswered > 0) return false;
  socket.destroy();
  return true;
}

/** Connections of a proxy count individually: its clients are unknown before they send a request. */
function holderOfPeer(trustedProxies: TrustedProxies): (socket: Socket) => string {
  const isTrusted = trustsPeer(trustedProxies);
  let proxied = 0;
  return ({ remoteAddress = "" }) => (isTrusted(remoteAddress) ? `proxied ${proxied++}` : networkOf(remoteAddress));
}
