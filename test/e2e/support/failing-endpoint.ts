import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { steadyPort } from "../../support/steady-port.ts";

/** A request that the endpoint received. Times are epoch ms. */
export interface Heard {
  /** The header `webhook-id`. */
  readonly id: string;
  /** The field `request` of the body. */
  readonly request: string;
  readonly at: number;
  /** When it was answered, reset, or aborted by the client. */
  endedAt: number | undefined;
  /** Undefined while the request is open, and when it got no response. */
  status: number | undefined;
}

export type Behaviour = "answers" | "answers late" | "fails" | "hangs" | "resets" | "asks to wait" | "gone";

/** Less than the 15 s that an attempt may take. */
const lateMs = 14_000;

export interface FailingEndpoint {
  readonly url: string;
  readonly heard: readonly Heard[];
  /** Sets the behaviour for further requests. The change to `answers` also answers open requests with 200. */
  behave(next: () => Behaviour): void;
  /** Refuses connections until the returned function is called. */
  refuse(): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** A webhook endpoint with the failures of real ones. */
export async function startFailingEndpoint(): Promise<FailingEndpoint> {
  const heard: Heard[] = [];
  const held = new Map<Heard, ServerResponse>();
  const port = await steadyPort();
  let behaviour: () => Behaviour = () => "answers";
  const server = createServer((request, response) => {
    void read(request).then((one) => {
      heard.push(one);
      response.on("close", () => {
        one.endedAt ??= Date.now();
        held.delete(one);
      });
      react(one, response, behaviour(), held);
    });
  });
  await listen(server, port);
  return {
    url: `http://127.0.0.1:${port}/events`,
    heard,
    behave: (next) => {
      behaviour = next;
      if (next() === "answers") for (const [one, response] of held) answer(one, response, 200);
    },
    refuse: async () => {
      await shut(server);
      return () => listen(server, port);
    },
    close: () => shut(server),
  };
}

/** An aborted request is never handled: its promise does not settle. */
function read(request: IncomingMessage): Promise<Heard> {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    request.on("end", () => {
      const { request: name } = JSON.parse(Buffer.concat(chunks).toString()) as { request: string }; // The test's own component sent it.
      resolve({ id: String(request.headers["webhook-id"]), request: name, at: Date.now(), endedAt: undefined, status: undefined });
    });
  });
}

function react(one: Heard, response: ServerResponse, behaviour: Behaviour, held: Map<Heard, ServerResponse>): void {
  switch (behaviour) {
    case "answers":
      return answer(one, response, 200);
    case "fails":
      return answer(one, response, 500);
    case "gone":
      return answer(one, response, 410);
    case "asks to wait":
      return answer(one, response, 429, { "retry-after": "1" });
    case "answers late": {
      held.set(one, response);
      const timer = setTimeout(answer, lateMs, one, response, 200);
      response.on("close", () => clearTimeout(timer));
      return;
    }
    case "hangs":
      held.set(one, response);
      return;
    case "resets":
      one.endedAt = Date.now();
      response.socket?.resetAndDestroy();
  }
}

function answer(one: Heard, response: ServerResponse, status: number, headers: Readonly<Record<string, string>> = {}): void {
  one.status = status;
  one.endedAt = Date.now();
  response.writeHead(status, headers).end();
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });
}

async function shut(server: Server): Promise<void> {
  server.closeAllConnections();
  if (server.listening) await new Promise((resolve) => server.close(resolve));
}
