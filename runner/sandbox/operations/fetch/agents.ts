import { Agent as HttpAgent, type ClientRequestArgs } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { OperationContext } from "../context.ts";
import type { Network } from "../network/network.ts";

interface Agents {
  readonly "http:": HttpAgent;
  readonly "https:": HttpsAgent;
}

type OnSocket = (error: Error | null, socket: Duplex) => void;

/** Node closes an idle socket of the pool after `timeout`, and none of them keeps the process alive. */
const options = { keepAlive: true, maxSockets: 64, maxFreeSockets: 8, timeout: 5_000 } as const;
const unending = new AbortController().signal;

/** One pair of agents a context: owners never share a connection. */
export function agentOf({ state, network }: OperationContext, protocol: string): HttpAgent | HttpsAgent {
  const known = state.get("fetch:agents") as Agents | undefined; // only written below
  const agents = known ?? { "http:": new PlainAgent(network), "https:": new TlsAgent(network) };
  if (known === undefined) state.set("fetch:agents", agents);
  return protocol === "https:" ? agents["https:"] : agents["http:"];
}

/** Node's agents, with connections of the context's network. They keep idle ones and lend them again. */
class PlainAgent extends HttpAgent {
  readonly #network: Network;

  constructor(network: Network) {
    super(options);
    this.#network = network;
  }

  override createConnection(request: ClientRequestArgs, onSocket: OnSocket): undefined {
    connect(this.#network, request).then((socket) => onSocket(null, socket), fail(onSocket));
  }
}

class TlsAgent extends HttpsAgent {
  readonly #network: Network;

  constructor(network: Network) {
    super(options);
    this.#network = network;
  }

  override createConnection(request: ClientRequestArgs, onSocket: OnSocket): undefined {
    const secure = (socket: Socket): void => {
      const options: object = { ...request, socket };
      // It calls `tls.connect`, and keeps sessions to resume.
      onSocket(null, super.createConnection(options) as Duplex);
    };
    connect(this.#network, request).then(secure).catch(fail(onSocket));
  }
}

async function connect(network: Network, { host, port, signal = unending }: ClientRequestArgs): Promise<Socket> {
  const socket = await network.connect(String(host), Number(port), signal);
  return socket.setKeepAlive(true, 1_000);
}

/** The agent uses no socket when there is an error. */
const fail = (onSocket: OnSocket) => (error: unknown) => onSocket(error as Error, undefined as unknown as Duplex);
