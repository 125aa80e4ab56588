import { Agent, connectsItself, HttpsAgent } from "./http-agent.ts";
import type { RequestOptions, Target } from "./http-request-options.ts";

interface Asking {
  readonly path: string;
  hasHeader(name: string): boolean;
  onSocket(socket: unknown, error?: unknown): void;
}

/**
 * Whether a request needs a connection that the guest has itself, rather than one of the host's: it becomes something else (an upgrade, a
 * tunnel), goes to a proxy, or its caller connects.
 */
export function needsConnection(request: Asking, options: RequestOptions, target: Target): boolean {
  const { agent, createConnection } = options;
  if (request.hasHeader("upgrade") || target.isForProxy) return true;
  if (typeof agent === "object" && agent !== null) return connectsItself(agent);
  return typeof createConnection === "function";
}

/** Asks for a connection as Node does, the agent or `createConnection`, which answer by `onSocket`. Nothing goes round the egress policy: all end in `net` and `tls`. */
export function requestConnection(request: Asking, options: RequestOptions, { host, port, protocol }: Target): void {
  const { agent, createConnection } = options;
  const wanted = { servername: host, ...options, host, hostname: host, port: Number(port), protocol, path: request.path };
  try {
    if (typeof agent === "object" && agent !== null) return agent.addRequest(request, wanted);
    const standard = protocol === "https:" ? new HttpsAgent() : new Agent();
    // As its caller promises.
    if (typeof createConnection === "function") standard.createConnection = createConnection as Agent["createConnection"];
    standard.addRequest(request, { ...wanted, path: undefined });
  } catch (error) {
    request.onSocket(undefined, error);
  }
}
