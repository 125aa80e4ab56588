import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Budget, type BudgetEntry } from "../../domain/budget.ts";
import { networkOf, trustsPeer, type TrustedProxies } from "../../domain/client-address.ts";
import { drainable } from "./drainable.ts";

export interface ServerLimits {
  /** For a whole request to arrive. */
  readonly requestTimeoutMs: number;
  /** Without a byte on a connection that is not idle, in either direction; longer than an answer may take. */
  readonly silenceTimeoutMs: number;
  readonly maxConnections: number;
  /** Many clients may be behind one of these. */
  readonly trustedProxies: TrustedProxies;
}

export interface BoundedServer {
  readonly server: Server;
  /** Takes no more connections and finishes what is in flight; cuts off the rest when the signal aborts. */
  readonly drain: (signal: AbortSignal) => Promise<void>;
}

const headersTimeoutMs = 10_000;
/** Longer than the 60 s of common load balancers, which would otherwise send a request to a closed connection. */
const keepAliveTimeoutMs = 65_000;
/** Requests that a client has sent on one connection without waiting for their answers (pipelining). */
const maxUnanswered = 100;

/** What we still take in of a request that was answered before it was read: a connection closed on unread bytes would lose the answer. */
const unreadLimit = { bytes: 8 * 2 ** 20, chunks: 10_000 } as const;

interface Connection {
  readonly entry: BudgetEntry;
  unanswered: number;
  /** Listens to the responses: one function for all of a connection. */
  readonly onAnswered: (this: ServerResponse) => void;
}

/**
 * An HTTP server that bounds what clients can make it hold: connections in total and for each client network, unanswered requests of a
 * connection, and the time for headers, bodies and unread answers. When all connections are taken, the network with the most
 * loses one that is idle.
 */
export function createBoundedServer(limits: ServerLimits, onRequest: RequestListener): BoundedServer {
  const { maxConnections, requestTimeoutMs, silenceTimeoutMs } = limits;
  const budget = new Budget({ total: maxConnections, share: Math.ceil(maxConnections / 2) });
  const connections = new WeakMap<Socket, Connection>();
  const server = createServer({
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: 1_000,
  });
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
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const connection = connections.get(request.socket);
    if (connection === undefined || ++connection.unanswered > maxUnanswered) return void request.socket.destroy();
    response.on("close", connection.onAnswered);
    onRequest(request, response);
  };
  server.on("request", serve);
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    // The reader of the body sends 100 Continue. Without a reader the client may send the body or not: no request can follow.
    response.shouldKeepAlive = false;
    serve(request, response);
  });
  return { server, drain: drainable(server) };
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

/** A proxy's connections count one by one: its clients cannot be distinguished before they have sent a request. */
function holderOfPeer(trustedProxies: TrustedProxies): (socket: Socket) => string {
  const isTrusted = trustsPeer(trustedProxies);
  let proxied = 0;
  return ({ remoteAddress = "" }) => (isTrusted(remoteAddress) ? `proxied ${proxied++}` : networkOf(remoteAddress));
}
