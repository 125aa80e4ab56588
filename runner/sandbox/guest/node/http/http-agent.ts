import { EventEmitter } from "../events/events.ts";
import { guest } from "../globals.ts";

export interface AgentOptions {
  readonly keepAlive?: boolean;
  readonly maxSockets?: number;
  readonly maxFreeSockets?: number;
  readonly timeout?: number;
  readonly [option: string]: unknown;
}

type Connected = (error: unknown, socket?: unknown) => void;
/** The part of a request that an agent uses: `onSocket` receives the connection. */
interface Connecting {
  onSocket(socket: unknown, error?: unknown): void;
}
type Connect = (options: object) => object;

const connectWith = (module: string, options: object): object =>
  (guest["__builtin"] as (name: string) => { connect: Connect })(module).connect({ ...options, path: undefined });

/**
 * Node's Agent. The host pools the isolate's connections, so most requests only use the agent's options (`timeout`, and
 * TLS). A subclass that creates connections itself, for example through a proxy, is called as Node calls it.
 */
export class Agent extends EventEmitter {
  readonly options: AgentOptions;
  readonly keepAlive: boolean;
  readonly keepAliveMsecs = 1000;
  readonly maxSockets: number;
  readonly maxFreeSockets: number;
  readonly maxTotalSockets = Infinity;
  totalSocketCount = 0;
  readonly scheduling = "lifo";
  readonly requests: Record<string, unknown[]> = {};
  readonly sockets: Record<string, unknown[]> = {};
  readonly freeSockets: Record<string, unknown[]> = {};
  defaultPort = 80;
  protocol = "http:";

  constructor(options: AgentOptions = {}) {
    super();
    // As in Node: the path of a request must not look like that of a local socket.
    this.options = { ...options, path: null };
    this.keepAlive = options.keepAlive === true;
    this.maxSockets = options.maxSockets ?? Infinity;
    this.maxFreeSockets = options.maxFreeSockets ?? 256;
  }

  getName(options: { host?: string; port?: number | string; localAddress?: string; family?: number } = {}): string {
    return `${options.host ?? "localhost"}:${options.port ?? ""}:${options.localAddress ?? ""}${options.family === 4 || options.family === 6 ? `:${options.family}` : ""}`;
  }
  keepSocketAlive(): boolean {
    return true;
  }
  createConnection(options: object, _connected?: Connected): unknown {
    return connectWith("net", options);
  }
  createSocket(_request: Connecting, options: object, connected: Connected): void {
    let isConnected = false;
    const onConnected: Connected = (error, socket) => {
      if (isConnected) return;
      isConnected = true;
      connected(error, socket);
    };
    const socket = this.createConnection({ ...options, ...this.options }, onConnected);
    if (socket !== undefined && socket !== null) onConnected(null, socket);
  }
  addRequest(request: Connecting, options: object): void {
    this.createSocket(request, { ...options, ...this.options }, (error, socket) => request.onSocket(socket, error));
  }
  reuseSocket(): void {}
  removeSocket(): void {}
  destroy(): void {}
}

export class HttpsAgent extends Agent {
  override defaultPort = 443;
  override protocol = "https:";
  override createConnection(options: object): unknown {
    return connectWith("tls", options);
  }
}

/** Does the agent create its own connections, instead of using the host's? */
export function connectsItself(agent: object): boolean {
  const { addRequest, createSocket, createConnection } = agent as Partial<Agent>;
  const own = agent instanceof HttpsAgent ? HttpsAgent.prototype.createConnection : Agent.prototype.createConnection;
  if (typeof addRequest !== "function") return false;
  return addRequest !== Agent.prototype.addRequest || createSocket !== Agent.prototype.createSocket || createConnection !== own;
}
