import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { InvalidInput } from "../../domain/errors.ts";

/** Of a message of a debugger. In a frame to the sandbox, its JSON may have six times as many. */
const maxMessageBytes = 2 * 2 ** 20;
/** Id of our own request. Debuggers count from 1. */
const ownId = 2 ** 30 - 1;
const hostName = "127.0.0.1";

/**
 * The address at which debuggers reach V8's inspector, as that of `node --inspect`: on this machine only, one debugger at a time.
 *
 * A client that connects executes code. So a page of the browser gets no connection: its `Origin` is refused, and so is a `Host` that is the name
 * of another machine, which DNS could resolve to this one. As with Node, other users of the machine are not kept out: they can read the address.
 */
export class InspectorServer {
  readonly #title: string;
  readonly #id = randomUUID();
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes, perMessageDeflate: false });
  #debugger: WebSocket | undefined;
  #wasAttached = false;
  #send: ((message: string) => void) | undefined;
  /** Messages of the debugger before there is an isolate, and those of the isolate while there is no debugger. */
  readonly #toIsolate: string[] = [];
  readonly #toDebugger: string[] = [];

  constructor(title: string) {
    this.#title = title;
    this.#server = createServer((request, response) => this.#list(request, response));
    this.#server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => this.#upgrade(request, socket, head));
  }

  /** @param port 0: any free one. @throws InvalidInput if it is in use */
  async start(port: number): Promise<string> {
    this.#server.listen(port, hostName);
    await once(this.#server, "listening").catch((cause: unknown) => {
      throw new InvalidInput(`port ${port} cannot be used for the inspector, choose another: ${String(cause)}`, { cause });
    });
    return this.url;
  }

  get url(): string {
    return `ws://${hostName}:${(this.#server.address() as AddressInfo).port}/${this.#id}`; // It listens on TCP.
  }

  /** Connects the debugger to an isolate. */
  attach(send: (message: string) => void): void {
    this.#send = send;
    for (const message of this.#toIsolate.splice(0)) send(message);
  }

  /** Sends a message of the isolate to the debugger. */
  send(message: string): void {
    if (this.#debugger !== undefined) this.#debugger.send(message);
    else if (!this.#wasAttached) this.#toDebugger.push(message);
  }

  stop(): void {
    this.#debugger?.terminate();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #receive(message: string): void {
    if (this.#send === undefined) this.#toIsolate.push(message);
    else this.#send(message);
  }

  /** What editors and `chrome://inspect` look for. */
  #list(request: IncomingMessage, response: ServerResponse): void {
    if (!isLocal(request.headers.host)) return void response.writeHead(400).end();
    const path = request.url?.replace(/\/$/, "");
    const target = {
      id: this.#id,
      title: this.#title,
      type: "node",
      url: "file://",
      webSocketDebuggerUrl: this.url,
      devtoolsFrontendUrl: `devtools://devtools/bundled/js_app.html?ws=${this.url.slice("ws://".length)}`,
    };
    const documents: Readonly<Record<string, unknown>> = {
      "/json": [target],
      "/json/list": [target],
      "/json/version": { Browser: "headwater", "Protocol-Version": "1.3" },
    };
    const found = documents[path ?? ""];
    if (found === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(found));
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { headers, url } = request;
    const status = refusalOf({ ...headers, url }, this.#id, this.#debugger !== undefined);
    if (status !== undefined) return void socket.end(`HTTP/1.1 ${status}\r\n\r\n`);
    this.#sockets.handleUpgrade(request, socket, head, (connected) => {
      this.#debugger = connected;
      this.#wasAttached = true;
      connected.on("message", (data: Buffer) => this.#receive(data.toString()));
      connected.on("error", () => connected.terminate());
      connected.on("close", () => this.#detach());
      for (const message of this.#toDebugger.splice(0)) connected.send(message);
    });
  }

  /** A run that is paused goes on. */
  #detach(): void {
    this.#debugger = undefined;
    // What it has asked for before there was an isolate: it would pause with no debugger.
    this.#toIsolate.length = 0;
    this.#send?.(JSON.stringify({ id: ownId, method: "Debugger.disable" }));
  }
}

interface Upgrade {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
  readonly url?: string | undefined;
}

function refusalOf({ host, origin, url }: Upgrade, id: string, isTaken: boolean): string | undefined {
  if (!isLocal(host)) return "400 Bad Request";
  if (origin !== undefined && !origin.startsWith("devtools://")) return "403 Forbidden";
  if (url !== `/${id}`) return "404 Not Found";
  return isTaken ? "409 Conflict" : undefined;
}

const isLocal = (host: string | undefined): boolean => /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host ?? "");
