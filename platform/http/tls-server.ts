import type { Server, ServerOptions as HttpOptions } from "node:http";
import { createServer } from "node:https";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { ChangingFiles, ServerOptions } from "../tls/changing-files.ts";

export type ServerCertificate = ChangingFiles<ServerOptions>;

const handshakeTimeoutMs = 10_000;

/** An HTTPS server that uses a changed certificate from the next connection on. Its type is that of HTTP servers, whose methods it has. */
export function createTlsServer(options: HttpOptions, certificate: ServerCertificate): Server {
  let used = certificate.current;
  const server = createServer({ ...options, ...used, handshakeTimeout: handshakeTimeoutMs });
  server.prependListener("connection", () => {
    const { current } = certificate;
    if (current === used) return;
    used = current;
    server.setSecureContext(current);
  });
  return server;
}

/** Calls back with each TLS socket after its handshake, and with the TCP socket below it, which Node does not expose. */
export function onSecured(server: Server, act: (secured: TLSSocket, plain: Socket) => void): void {
  const handshaking = new Map<string, Socket>();
  server.on("connection", (socket: Socket) => {
    const ends = endsOf(socket);
    handshaking.set(ends, socket);
    socket.once("close", () => handshaking.delete(ends));
  });
  server.on("secureConnection", (secured: unknown) => {
    if (!(secured instanceof TLSSocket)) return;
    const plain = handshaking.get(endsOf(secured));
    if (plain !== undefined) act(secured, plain);
  });
}

const endsOf = ({ remoteAddress, remotePort, localAddress, localPort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
