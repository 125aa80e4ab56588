import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A server whose answers wait: a run that fetches its URL goes on when the test says so, however slow the machine is. */
export interface Gate {
  readonly url: string;
  /** Number of requests since it was closed. */
  requests(): number;
  /** Answers all requests, from now on at once. */
  open(): void;
  close(): void;
  stop(): void;
}

export async function startGate(): Promise<Gate> {
  const waiting: ServerResponse[] = [];
  let isOpen = false;
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    if (isOpen) response.end();
    else waiting.push(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    open: () => {
      isOpen = true;
      for (const response of waiting.splice(0)) response.end();
    },
    requests: () => requests,
    close: () => {
      isOpen = false;
      requests = 0;
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
