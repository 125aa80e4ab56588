import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Receiver {
  readonly url: string;
  readonly received: {
    readonly body: string;
    readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  }[];
  close(): Promise<void>;
}

/** Starts a webhook endpoint. */
export async function startReceiver(status: () => number = () => 200): Promise<Receiver> {
  const received: Receiver["received"] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      received.push({ body: Buffer.concat(chunks).toString(), headers: request.headers });
      response.writeHead(status()).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`, // Listening on TCP.
    received,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
