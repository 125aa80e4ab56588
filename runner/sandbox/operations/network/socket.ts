import { isIP } from "node:net";
import type { Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { TLSSocket } from "node:tls";
import { bytesArgument, integerArgument, ownedBytes } from "../arguments.ts";
import type { OperationContext, PostOperation } from "../context.ts";
import { parseTarget, parseTls, serverName } from "./socket-options.ts";
import type { TlsOptions } from "./socket-options.ts";
import { charge, outOfDebt } from "../sync-meter.ts";
import { secured } from "./tls-context.ts";

const maxSockets = 20;
const maxUnsentBytes = 16 * 1024 * 1024;
/** A proxy that is asked over TLS is one, what is tunneled through it another. */
const maxLayers = 3;
/** What the host's thread needs for a connection that fails, and for a handshake of TLS. */
const failureMs = 0.2;
const handshakeMs = 1;

interface Connection {
  readonly id: number;
  host: string;
  socket: Socket | undefined;
  pausedByGuest: boolean;
  /** Of TLS, one in the other. */
  layers: number;
  /** Chunks that were sent but not yet reported to the guest. */
  written: number;
  closed: boolean;
  /** Aborts when the connection ends. */
  readonly end: AbortController;
  forget: () => void;
}

/**
 * TCP and TLS connections of the guest. The guest posts `socket_open(id, {host, port, tls})`, `socket_write(id, bytes)`, `socket_end(id)`,
 * `socket_destroy(id)`, `socket_pause(id)`, `socket_resume(id)` and, for STARTTLS, `socket_tls(id, options)`. It receives
 * `socket` (id, event, value): connect {address, port, family}, secure {authorized, protocol, cipher, alpn}, data bytes,
 * written count, end, error {message, code}, close.
 */
export const socketPosts: Record<string, PostOperation> = {
  socket_open: (context, [given, options]) => {
    const id = integerArgument(given, "id", 1, Number.MAX_SAFE_INTEGER);
    const connections = connectionsOf(context);
    // The guest counts its sockets and refuses more by itself: to answer each of a hundred thousand would take the host seconds.
    if (connections.has(id) || connections.size >= maxSockets) throw new Error(`more than ${maxSockets} sockets are open`);
    const connection: Connection = {
      id,
      host: "",
      socket: undefined,
      pausedByGuest: false,
      layers: 0,
      written: 0,
      closed: false,
      end: new AbortController(),
      forget: () => {},
    };
    connections.set(id, connection);
    endWithRun(context, connection);
    void open(context, connection, options).catch((error: unknown) => failOpening(context, connection, error));
  },
  socket_write: (context, [id, bytes]) => {
    const connection = find(context, id);
    if (connection?.socket === undefined) return;
    const chunk = bytesArgument(bytes, "data", maxUnsentBytes);
    if (connection.socket.writableLength + chunk.byteLength > maxUnsentBytes) {
      connection.socket.destroy(Object.assign(new Error(`more than ${maxUnsentBytes} bytes wait to be sent`), { code: "limit_exceeded" }));
      return;
    }
    connection.socket.write(chunk, (error) => {
      if (!error) reportWritten(context, connection);
    });
  },
  socket_end: (context, [id]) => void find(context, id)?.socket?.end(),
  socket_destroy: (context, [id]) => {
    const connection = find(context, id);
    if (connection !== undefined) close(context, connection);
  },
  socket_pause: (context, [id]) => {
    const connection = find(context, id);
    if (connection === undefined) return;
    connection.pausedByGuest = true;
    connection.socket?.pause();
  },
  socket_resume: (context, [id]) => {
    const connection = find(context, id);
    if (connection === undefined) return;
    connection.pausedByGuest = false;
    connection.socket?.resume();
  },
  socket_tls: (context, [id, options]) => {
    const connection = find(context, id);
    if (connection?.socket === undefined) return;
    try {
      upgrade(context, connection, connection.socket, parseTls(options));
    } catch (error) {
      fail(context, connection, error);
    }
  },
};

function connectionsOf(context: OperationContext): Map<number, Connection> {
  const known = context.state.get("sockets");
  if (known !== undefined) return known as Map<number, Connection>; // only written below
  const connections = new Map<number, Connection>();
  context.state.set("sockets", connections);
  return connections;
}

function find(context: OperationContext, id: unknown): Connection | undefined {
  return connectionsOf(context).get(integerArgument(id, "id", 1, Number.MAX_SAFE_INTEGER));
}

function endWithRun(context: OperationContext, connection: Connection): void {
  const { signal } = context;
  const onEnd = (): void => close(context, connection);
  if (signal.aborted) queueMicrotask(onEnd);
  signal.addEventListener("abort", onEnd, { once: true });
  connection.forget = () => signal.removeEventListener("abort", onEnd);
}

async function open(context: OperationContext, connection: Connection, options: unknown): Promise<void> {
  const target = parseTarget(options);
  connection.host = target.host;
  const socket = await context.network.connect(target.host, target.port, connection.end.signal);
  if (connection.closed) return void socket.destroy();
  connection.socket = socket;
  const { remoteAddress: address, remotePort: port, remoteFamily: family } = socket;
  context.deliver("socket", connection.id, "connect", { address, port, family });
  if (target.tls === undefined) wire(context, connection, socket);
  else upgrade(context, connection, socket, target.tls);
}

/** TLS over a connected socket: from the start, or after a plain conversation (STARTTLS). */
function upgrade(context: OperationContext, connection: Connection, plain: Socket, options: TlsOptions): void {
  connection.layers += 1;
  if (connection.layers > maxLayers)
    throw Object.assign(new Error(`a connection may have ${maxLayers} layers of TLS`), { code: "limit_exceeded" });
  plain.removeAllListeners("data").removeAllListeners("end").removeAllListeners("close").removeAllListeners("error");
  // `host` is what the certificate is compared with when there is no server name.
  const secure = connectTls({
    ...secured(context, options),
    socket: plain,
    host: options.servername ?? connection.host,
    servername: serverName(options, connection.host),
  });
  wire(context, connection, secure);
  charge(context, handshakeMs);
  secure.once("secureConnect", () => context.deliver("socket", connection.id, "secure", describeTls(secure)));
}

function describeTls(socket: TLSSocket): unknown {
  return {
    authorized: socket.authorized,
    authorizationError: socket.authorized ? null : String(socket.authorizationError),
    protocol: socket.getProtocol(),
    cipher: { ...socket.getCipher() },
    alpn: socket.alpnProtocol === null ? false : socket.alpnProtocol,
    servername: isIP(String(socket.servername)) === 0 ? socket.servername : false,
  };
}

function wire(context: OperationContext, connection: Connection, socket: Socket): void {
  connection.socket = socket;
  socket.on("data", (chunk: Buffer) => {
    // Nothing more is read until the guest has this chunk.
    socket.pause();
    context.deliverAndWait("socket", connection.id, "data", ownedBytes(chunk)).then(
      () => {
        if (!connection.pausedByGuest) socket.resume();
      },
      () => socket.destroy(),
    );
  });
  socket.on("end", () => context.deliver("socket", connection.id, "end"));
  socket.on("error", (error) => fail(context, connection, error));
  socket.on("close", () => {
    if (connection.socket === socket) close(context, connection);
  });
}

/** One message at a time, however many chunks were sent in the meantime: a WebSocket may write a hundred thousand at once. */
function reportWritten(context: OperationContext, connection: Connection): void {
  connection.written += 1;
  if (connection.written > 1) return;
  setImmediate(() => {
    const { written } = connection;
    connection.written = 0;
    context.deliver("socket", connection.id, "written", written);
  });
}

/** A refusal costs the host as much as a connection, and the guest nothing: one who has used up its share of the host's thread waits for it. */
async function failOpening(context: OperationContext, connection: Connection, error: unknown): Promise<void> {
  charge(context, failureMs);
  await outOfDebt(context).catch(() => {}); // the run has ended, and with it the connection
  fail(context, connection, error);
}

function fail(context: OperationContext, connection: Connection, error: unknown): void {
  if (connection.closed) return;
  context.deliver("socket", connection.id, "error", describe(error));
  close(context, connection);
}

function close(context: OperationContext, connection: Connection): void {
  if (connection.closed) return;
  connection.closed = true;
  connection.forget();
  connection.end.abort();
  connectionsOf(context).delete(connection.id);
  const { socket } = connection;
  socket?.on("error", () => {}); // The guest has forgotten the socket.
  socket?.destroy();
  context.deliver("socket", connection.id, "close");
}

function describe(error: unknown): { message: string; code: string | undefined } {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return {
    message: error instanceof Error ? error.message : "the connection failed",
    code: typeof code === "string" ? code : undefined,
  };
}
