import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { usageFailure } from "../failure.ts";

/** A request that came to the local endpoint. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer<ArrayBuffer>;
}

export interface LocalEndpointOptions {
  /** 0: any free port. */
  readonly port: number;
  /** Address of the source's endpoint; undefined while it has none. */
  readonly target: () => string | undefined;
  readonly onResponse: (request: ReceivedRequest, status: number, durationMs: number) => void;
}

/** Headers of one connection, which are not forwarded; fetch sets its own. */
const ofConnection: ReadonlySet<string> = new Set(
  "connection keep-alive transfer-encoding upgrade te trailer proxy-connection host content-length expect content-encoding".split(" "),
);

/** A server on 127.0.0.1 that forwards requests to the endpoint of a source. */
export class LocalEndpoint {
  readonly #options: LocalEndpointOptions;
  readonly #server: Server;
  #last: ReceivedRequest | undefined;

  constructor(options: LocalEndpointOptions) {
    this.#options = options;
    // Floats: it answers whatever happens.
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  /** @throws Failure if the port is in use */
  async start(): Promise<void> {
    const { port } = this.#options;
    this.#server.listen(port, "127.0.0.1");
    await once(this.#server, "listening").catch((error: unknown) => {
      throw usageFailure(`port ${port} cannot be used: ${error instanceof Error ? error.message : String(error)}`, "give another --port");
    });
    this.#server.unref();
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // It listens on TCP.
  }

  get last(): ReceivedRequest | undefined {
    return this.#last;
  }

  /** Sends a request to the source's endpoint. @throws Error without a response */
  async forward(request: ReceivedRequest): Promise<Response> {
    const target = this.#options.target();
    if (target === undefined) throw new Error("the source has no HTTP interface: add a prop of type $.interface.http");
    const startedAt = performance.now();
    const { method, path, headers, body } = request;
    const init = { method, headers, redirect: "manual", ...(body.length === 0 ? {} : { body }) } as const;
    const response = await fetch(target.replace(/\/$/, "") + path, init);
    this.#options.onResponse(request, response.status, performance.now() - startedAt);
    return response;
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      this.#last = await received(request);
      const answer = await this.forward(this.#last);
      const headers = [...answer.headers].filter(([name]) => !ofConnection.has(name));
      response.writeHead(answer.status, headers.flat()).end(Buffer.from(await answer.arrayBuffer()));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      response.writeHead(502, { "content-type": "application/json" }).end(JSON.stringify({ error: message }));
    }
  }
}

async function received(request: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk as Uint8Array)); // Without an encoding.
  const headers = Object.entries(request.headersDistinct).flatMap(([name, values = []]) =>
    ofConnection.has(name) && name !== "content-encoding" ? [] : [[name, values.join(", ")] as const],
  );
  return { method: request.method ?? "GET", path: request.url ?? "/", headers: Object.fromEntries(headers), body: Buffer.concat(chunks) };
}
