import net, { type Server, type Socket } from "node:net";

/**
 * HTTP/1.1 as far as a load needs it: keep-alive, bodies with a content-length, one message at a time per connection. A client or
 * server of the standard library costs several times as much, on the cores that what is measured needs.
 */
export class MessageReader {
  #rest = "";

  /** @returns the complete messages that `chunk` ends: first line and body. Only for bodies of single-byte characters. */
  take(chunk: string): readonly { readonly start: string; readonly body: string }[] {
    this.#rest += chunk;
    const messages: { start: string; body: string }[] = [];
    for (;;) {
      const head = this.#rest.indexOf("\r\n\r\n");
      if (head < 0) return messages;
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(this.#rest.slice(0, head))?.[1] ?? 0);
      if (this.#rest.length < head + 4 + length) return messages;
      messages.push({
        start: this.#rest.slice(0, this.#rest.indexOf("\r\n")),
        body: this.#rest.slice(head + 4, head + 4 + length),
      });
      this.#rest = this.#rest.slice(head + 4 + length);
    }
  }
}

/** One keep-alive connection with at most one request under way. */
export class RawClient {
  readonly #socket: Socket;
  readonly #reader = new MessageReader();
  #resolve: ((status: number) => void) | undefined;
  #reject: ((error: Error) => void) | undefined;

  constructor(port: number) {
    this.#socket = net.connect(port, "127.0.0.1").setNoDelay(true).setEncoding("latin1");
    this.#socket.on("data", (chunk: string) => {
      for (const { start } of this.#reader.take(chunk)) this.#resolve?.(Number(start.split(" ")[1]));
    });
    this.#socket.on("error", (error) => this.#reject?.(error));
    this.#socket.on("close", () => this.#reject?.(new Error("the server closed the connection")));
  }

  /** Resolves with the status. */
  post(path: string, body: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#socket.write(
        `POST ${path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
    });
  }

  close(): void {
    this.#reject = undefined;
    this.#socket.destroy();
  }
}

const accepted = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/** A webhook endpoint that accepts everything. */
export async function startReceiver(onBody: (body: string) => void): Promise<{ readonly port: number; readonly server: Server }> {
  const server = net.createServer((socket) => {
    const reader = new MessageReader();
    socket.setNoDelay(true).setEncoding("latin1");
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk: Buffer | string) => {
      for (const { body } of reader.take(chunk.toString())) {
        socket.write(accepted);
        onBody(body);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return { port: address !== null && typeof address === "object" ? address.port : 0, server };
}
