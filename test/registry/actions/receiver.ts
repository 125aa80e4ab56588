import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach } from "vitest";

export interface Received {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface Receiver {
  url: string;
  /** Requests of the current test. */
  readonly received: Received[];
  answer: (request: Received) => Answer;
}

/** An HTTP server on loopback for the tests of a file. */
export function withReceiver(): Receiver {
  const receiver: Receiver = { url: "", received: [], answer: () => ({}) };
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      // A request that breaks off has no answer.
      const { method = "", url = "", headers } = request;
      const received = { method, url, headers, body };
      receiver.received.push(received);
      const { status = 200, headers: answered = {}, body: content = "" } = receiver.answer(received);
      response.writeHead(status, answered).end(content);
    });
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    receiver.received.length = 0;
    receiver.answer = () => ({});
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return receiver;
}
