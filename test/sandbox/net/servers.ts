import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { createServer as createTcpServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { createServer as createTlsServer, TLSSocket } from "node:tls";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { certificate, privateKey } from "./certificate.ts";

/** Servers on the loopback that answer in the ways clients find hard. */
export interface TestServers {
  readonly http: string;
  readonly https: string;
  /** Another origin than `http`. */
  readonly other: string;
  /** A port without a listener. */
  readonly closed: string;
  readonly httpPort: number;
  readonly tcpPort: number;
  readonly tlsPort: number;
  /** Connections that the http server has accepted. */
  connections(): number;
  /** Requests that ended without their response. */
  aborted(): number;
  close(): Promise<void>;
}

export async function startServers(): Promise<TestServers> {
  let connections = 0;
  let aborted = 0;
  const listener: RequestListener = (request, response) => {
    response.on("close", () => (aborted += response.writableFinished ? 0 : 1));
    void answer(request, response, () => other.port);
  };
  const main = await listen(createServer(listener));
  const other = await listen(createServer(listener));
  const secure = await listen(createHttpsServer({ cert: certificate, key: privateKey }, listener));
  const tcp = await listen(createTcpServer(speak));
  const tls = await listen(
    createTlsServer({ cert: certificate, key: privateKey }, (socket) => void socket.on("error", () => {}).pipe(socket)),
  );
  main.server.on("connection", () => (connections += 1));
  const all = [main, other, secure, tcp, tls];
  return {
    http: `http://127.0.0.1:${main.port}`,
    https: `https://localhost:${secure.port}`,
    other: `http://127.0.0.1:${other.port}`,
    // A port that was free would soon be another program's. Nothing listens on this one, and `fetch` does not refuse it.
    closed: "http://127.0.0.1:2/",
    httpPort: main.port,
    tcpPort: tcp.port,
    tlsPort: tls.port,
    connections: () => connections,
    aborted: () => aborted,
    close: async () => {
      for (const { server, sockets } of all) {
        for (const socket of sockets) socket.destroy();
        server.close();
        await once(server, "close");
      }
    },
  };
}

interface Listening {
  readonly server: Server;
  readonly port: number;
  readonly sockets: Set<Socket>;
}

async function listen(server: Server): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port, sockets };
}

async function answer(request: IncomingMessage, response: ServerResponse, otherPort: () => number): Promise<void> {
  const url = new URL(request.url ?? "/", "http://test");
  const body = await readAll(request);
  switch (url.pathname) {
    case "/echo":
      response.setHeader("x-multi", ["a", "b"]);
      response.setHeader("set-cookie", ["c=1", "d=2"]);
      response.setHeader("content-type", "application/json");
      return void response.end(
        JSON.stringify({
          method: request.method,
          url: request.url,
          headers: request.headers,
          rawHeaders: request.rawHeaders,
          body: body.toString(),
        }),
      );
    case "/length":
      return void response.end(String(body.byteLength));
    case "/status":
      response.statusCode = Number(url.searchParams.get("code"));
      return void response.end(url.searchParams.get("body") ?? "");
    case "/chunked":
      response.writeHead(200, { trailer: "x-after" });
      response.write("one,");
      response.write("two,");
      response.addTrailers({ "x-after": "said" });
      return void response.end("three");
    case "/slow":
      response.write("first,");
      return void setTimeout(() => response.end("last"), Number(url.searchParams.get("ms") ?? "100"));
    case "/never":
      return;
    case "/head-then-nothing":
      response.writeHead(200, { "content-length": "1000" });
      return void response.write("some");
    case "/cut":
      response.writeHead(200, { "content-length": "1000" });
      return void response.write("some", () => response.destroy());
    case "/big": {
      const bytes = Buffer.alloc(Number(url.searchParams.get("bytes")), "0123456789abcdef");
      return void response.end(bytes);
    }
    case "/endless":
      return pour(response);
    case "/encoded":
      return encoded(response, url.searchParams.get("coding") ?? "");
    case "/redirect": {
      const target = url.searchParams.get("to") ?? "/echo";
      response.writeHead(Number(url.searchParams.get("code") ?? "302"), {
        location: target.replace("{other}", `http://127.0.0.1:${otherPort()}`),
      });
      return void response.end("moved");
    }
    case "/loop":
      response.writeHead(302, { location: "/loop" });
      return void response.end();
    default:
      response.statusCode = 404;
      return void response.end("not found");
  }
}

function pour(response: ServerResponse): void {
  const chunk = Buffer.alloc(64 * 1024, "x");
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on("drain", more);
  more();
}

function encoded(response: ServerResponse, coding: string): void {
  const text = Buffer.from("squeezed ".repeat(20_000));
  const codings: Readonly<Record<string, () => Buffer>> = {
    gzip: () => gzipSync(text),
    deflate: () => deflateSync(text),
    raw: () => deflateRawSync(text),
    br: () => brotliCompressSync(text),
    "gzip, br": () => brotliCompressSync(gzipSync(text)),
    bomb: () => gzipSync(Buffer.alloc(40 * 1024 * 1024)),
  };
  const packed = codings[coding]?.() ?? text;
  const header = coding === "raw" ? "deflate" : coding === "bomb" ? "gzip" : coding;
  response.writeHead(200, { "content-encoding": header, "content-length": String(packed.byteLength) });
  response.end(packed);
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    // The client went away, which is what some tests are about.
  }
  return Buffer.concat(chunks);
}

/** `echo …` comes back, `quit` ends, `STARTTLS` is answered "go\n" and followed by TLS that echoes. */
function speak(socket: Socket): void {
  socket.on("error", () => {});
  socket.write("hello\n");
  socket.on("data", function onData(chunk) {
    const text = chunk.toString();
    if (text.startsWith("quit")) return void socket.end("bye\n");
    if (!text.startsWith("STARTTLS")) return void socket.write(chunk);
    socket.off("data", onData);
    socket.write("go\n", () => {
      const secure = new TLSSocket(socket, { isServer: true, cert: certificate, key: privateKey });
      secure.on("error", () => {});
      secure.pipe(secure);
    });
  });
}
