import { Agent, connectsItself, HttpsAgent } from "./http-agent.ts";
import type { RequestOptions, Target } from "./http-request-options.ts";

interface Asking {
  readonly path: string;
  hasHeader(name: string): boolean;
  onSocket(socket: unknown, error?: unknown): void;
}

/**
 * Does a request need a connection of the guest instead of the host's? It does for an upgrade, a
 * tunnel, a proxy, or a caller that connects itself.
 */
export function needsConnection(request: Asking, options: RequestOptions, target: Target): boolean {
  const { agent, createConnection } = options;
  if (request.hasHeader("upgrade") || target.isForProxy) return true;
  if (typeof agent === "object" && agent !== null) return connectsItself(agent);
  return typeof createConnection === "function";
}

/** Requests a connection from the agent or `createConnection`, which call `onSocket`, as in Node. All connections end in `net` and `tls`, under the egress policy. */
export function requestConnection(request: Asking, options: RequestOptions, { host, port, protocol }: Target): void {
  const { agent, createConnection } = options;
  const wanted = { servername: host, ...options, host, hostname: host, port: Number(port), protocol, path: request.path };
  try {
    if (typeof agent === "object" && agent !== null) return agent.addRequest(request, wanted);
    const standard = protocol === "https:" ? new HttpsAgent() : new Agent();
    // The caller guarantees it.
    if (typeof createConnection === "function") standard.createConnection = createConnection as Agent["createConnection"];
    standard.addRequest(request, { ...wanted, path: undefined });
  } catch (error) {
    request.onSocket(undefined, error);
  }
}
