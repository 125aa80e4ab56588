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
  /**
   * Charges a user for the connection of a request until the connection has no unanswered request: then the client's network is charged again.
   * @returns false when the user already has the share of a user
   */
  readonly charge: (request: IncomingMessage, user: string) => boolean;
}

const headersTimeoutMs = 10_000;
/** Longer than the 60 s of common load balancers, which would otherwise send requests to closed connections. */
const keepAliveTimeoutMs = 65_000;
/** Pipelined requests of one connection without a response. */
const maxUnanswered = 100;

/** How much is read of a request that was answered early: closing a connection with unread bytes would lose the response. */
const unreadLimit = { bytes: 8 * 2 ** 20, chunks: 10_000 } as const;

/** The part of all connections that one user may have with requests in progress. */
const userShare = 3 / 8;

interface Connection {
  readonly entry: BudgetEntry;
  readonly network: string;
  unanswered: number;
  /** The user who is charged. */
  charged: BudgetEntry | undefined;
  /** The last request and its response. */
  latest: { readonly request: IncomingMessage; readonly response: ServerResponse } | undefined;
  /** Response listener, shared by all responses of a connection. */
  readonly onAnswered: (this: ServerResponse) => void;
}

/**
 * An HTTP server that bounds connections in total, per client network and per user, unanswered requests per connection, and the time for
 * headers, bodies and unread responses. When all connections are in use, the network or user with the most loses one: see `cut`.
 * @param certificate absent: plain HTTP
 */
export function createBoundedServer(limits: ServerLimits, onRequest: RequestListener, certificate?: ServerCertificate): BoundedServer {
  const { maxConnections, requestTimeoutMs, silenceTimeoutMs } = limits;
  const budget = new Budget({ total: maxConnections, share: Math.ceil(maxConnections / 2) });
  const users = new Budget({ total: maxConnections, share: Math.ceil(maxConnections * userShare) });
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
    const network = holderOf(socket);
    const connection: Connection = {
      entry: budget.open(network, (isForced) => cut(socket, connection, isForced)),
      network,
      unanswered: 0,
      charged: undefined,
      latest: undefined,
      onAnswered() {
        if (--connection.unanswered === 0) {
          connection.latest = undefined;
          discharge(connection);
        }
        if (!this.req.complete) boundRest(this.req);
      },
    };
    if (!connection.entry.take(1)) return void socket.destroy();
    connections.set(socket, connection);
    socket.once("close", () => {
      discharge(connection);
      connection.entry.release();
    });
  });
  const share = (secured: Socket, plain: Socket): void => {
    const connection = connections.get(plain);
    if (connection !== undefined) connections.set(secured, connection);
  };
  if (certificate !== undefined) onSecured(server, share);
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const connection = connections.get(request.socket);
    if (connection === undefined || ++connection.unanswered > maxUnanswered) return void request.socket.destroy();
    connection.latest = { request, response };
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
  const charge = (request: IncomingMessage, user: string): boolean => {
    const connection = connections.get(request.socket);
    return connection === undefined || chargeUser(connection, user, users);
  };
  return { server, drain: drainable(server, limits.lingerMs), charge };
}

function chargeUser(connection: Connection, user: string, users: Budget): boolean {
  if (connection.charged?.holder === user) return true;
  discharge(connection);
  const charged = users.open(user);
  if (!charged.take(1)) return false;
  connection.charged = charged;
  connection.entry.move(`user ${user}`);
  return true;
}

function discharge(connection: Connection): void {
  connection.charged?.release();
  connection.charged = undefined;
  connection.entry.move(connection.network);
}

function boundRest(request: IncomingMessage): void {
  let [bytes, chunks] = [0, 0];
  request.on("error", () => undefined);
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > unreadLimit.bytes || ++chunks > unreadLimit.chunks) request.destroy();
  });
}

/**
 * Closes a connection to make room: an idle one first. Otherwise one of a user, or one that waits for its client, which has not sent its
 * whole request or does not read its response.
 */
function cut(socket: Socket, connection: Connection, isForced: boolean): boolean {
  const mayCut = connection.unanswered === 0 || (isForced && (connection.charged !== undefined || waitsForClient(connection)));
  if (mayCut) socket.destroy();
  return mayCut;
}

const waitsForClient = ({ latest }: Connection): boolean =>
  latest !== undefined && (!latest.request.complete || latest.response.writableEnded);

/** Connections of a proxy count individually: its clients are unknown before they send a request. */
function holderOfPeer(trustedProxies: TrustedProxies): (socket: Socket) => string {
  const isTrusted = trustsPeer(trustedProxies);
  let proxied = 0;
  return ({ remoteAddress = "" }) => (isTrusted(remoteAddress) ? `proxied ${proxied++}` : networkOf(remoteAddress));
}
