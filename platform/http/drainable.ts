import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as TcpServer, type Socket } from "node:net";

const sweepEveryMs = 50;

/**
 * Ends a server that clients keep connections to: to be told of it before it listens. The drain takes no new connection; what is in
 * flight is finished; and for a while idle connections stay, so that a request already on its way is answered, and told
 * `Connection: close` (RFC 9112 section 9.6). A connection closed at once would meet such requests half way.
 * @param lingerMs for how long idle connections stay; the drain ends sooner when none are left
 * @returns the drain; its signal cuts off what is not finished
 */
export function drainable(server: Server, lingerMs = 1_000): (signal: AbortSignal) => Promise<void> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const closeIdle = (): void => {
    server.closeIdleConnections();
    // To Node, one that never sent a byte waits for its first request, and is not idle.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  };
  return (signal) =>
    new Promise((resolve) => {
      const cut = (): void => server.closeAllConnections();
      server.prependListener("request", (_: IncomingMessage, response: ServerResponse) => (response.shouldKeepAlive = false));
      signal.addEventListener("abort", cut, { once: true });
      let sweeping: NodeJS.Timeout | undefined;
      // After what has arrived was read: a connection counts as idle until then. One that was busy is told again.
      const sweep = (): void => void setImmediate(closeIdle);
      const lingering = setTimeout(() => (sweeping = setInterval(sweep, sweepEveryMs)), lingerMs);
      // The close of an HTTP server closes idle connections as well.
      TcpServer.prototype.close.call(server, () => {
        clearTimeout(lingering);
        clearInterval(sweeping);
        signal.removeEventListener("abort", cut);
        resolve();
      });
      if (signal.aborted) cut();
    });
}
