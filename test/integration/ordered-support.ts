import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Answer = number | "hang" | "reset";

export interface Endpoint {
  readonly url: string;
  /** `n` of each received body, in the order of arrival. */
  readonly heard: string[];
  /** Those that got a 2xx response. */
  readonly taken: string[];
  /** The maximum number of concurrent requests. */
  readonly maxConcurrent: () => number;
  answer: (n: string) => Answer;
  close(): Promise<void>;
}

/** An endpoint that accepts bodies with an `n`. */
export async function startEndpoint(): Promise<Endpoint> {
  let [open, max] = [0, 0];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const n = String((JSON.parse(body) as { n: unknown }).n); // The test sent it.
      open++;
      max = Math.max(max, open);
      response.on("close", () => open--);
      endpoint.heard.push(n);
      react(response, endpoint.answer(n), () => endpoint.taken.push(n));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint: Endpoint = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, // Listening on TCP.
    heard: [],
    taken: [],
    maxConcurrent: () => max,
    answer: () => 200,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return endpoint;
}

function react(response: ServerResponse, answer: Answer, take: () => void): void {
  if (answer === "hang") return;
  if (answer === "reset") return void response.socket?.resetAndDestroy();
  if (answer < 300) take();
  response.writeHead(answer).end();
}
