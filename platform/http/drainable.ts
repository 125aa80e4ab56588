import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as TcpServer, type Socket } from "node:net";
import { Server as TlsServer } from "node:tls";

const sweepEveryMs = 50;

/**
 * Drains a server with keep-alive connections. Call it before the server listens. The drain accepts no new connection and finishes requests
 * in flight. Idle connections stay for a while, so that requests already on their way get a response with `Connection: close` (RFC 9112
 * section 9.6); closing at once would break them.
 * @param lingerMs how long idle connections stay; the drain ends earlier if none are left
 * @returns the drain; its signal closes what is not finished
 */
export function drainable(server: Server, lingerMs = 1_000): (signal: AbortSignal) => Promise<void> {
  const sockets = socketsOf(server, "connection");
  // A TLS socket counts what its client has sent after the handshake, the TCP socket below it nothing.
  const served = server instanceof TlsServer ? socketsOf(server, "secureConnection") : sockets;
  const closeIdle = (): void => {
    server.closeIdleConnections();
    // Node does not consider a connection idle before its first request.
    for (const socket of served) if (socket.bytesRead === 0) socket.destroy();
  };
  return (signal) =>
    new Promise((resolve) => {
      const cut = (): void => {
        server.closeAllConnections();
        for (const socket of sockets) socket.destroy();
      };
      server.prependListener("request", (_: IncomingMessage, response: ServerResponse) => (response.shouldKeepAlive = false));
      signal.addEventListener("abort", cut, { once: true });
      let sweeping: NodeJS.Timeout | undefined;
      // After pending input was read: until then a connection counts as idle. Busy ones get the header again.
      const sweep = (): void => void setImmediate(closeIdle);
      const lingering = setTimeout(() => (sweeping = setInterval(sweep, sweepEveryMs)), lingerMs);
      // HTTP's own close() would close idle connections at once.
      TcpServer.prototype.close.call(server, () => {
        clearTimeout(lingering);
        clearInterval(sweeping);
        signal.removeEventListener("abort", cut);
        resolve();
      });
      if (signal.aborted) cut();
    });
}

function socketsOf(server: Server, event: "connection" | "secureConnection"): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on(event, (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return sockets;
}
