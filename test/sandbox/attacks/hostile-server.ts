import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";

export interface HostileServer {
  readonly port: number;
  stop(): void;
}

/** Answers requests as no server should; the path says how. */
export async function startHostileServer(): Promise<HostileServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.once("data", (request) => answer(socket, request.toString("latin1")));
  });
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const zeros = (): Buffer => Buffer.alloc(40_000_000);
const quickly = { level: 1 };
/** By the name that HTTP has for it; `hollow` unfolds to a hundred million bytes of members that are empty. */
const bombs: Readonly<Record<string, () => Buffer>> = {
  gzip: once(() => gzipSync(zeros(), quickly)),
  deflate: once(() => deflateSync(zeros(), quickly)),
  br: once(() => brotliCompressSync(zeros(), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })),
  zstd: once(() => zstdCompressSync(zeros())),
  hollow: once(() => gzipSync(Buffer.alloc(100_000_000, gzipSync(Buffer.alloc(0))), quickly)),
};

/** Made when a test first asks for it: compressing takes longer than most attacks. */
function once(make: () => Buffer): () => Buffer {
  let made: Buffer | undefined;
  return () => (made ??= make());
}

/** How they begin, and what follows without end. */
const floods: Readonly<Record<string, readonly [head: string, unit: Buffer]>> = {
  "/interim": ["", Buffer.from("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(2_000))],
  "/pieces": ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", Buffer.from("1\r\nx\r\n".repeat(20_000))],
  "/reset-content": ["HTTP/1.1 205 Reset Content\r\ncontent-length: 99999999999\r\n\r\n", Buffer.alloc(1_000_000)],
};

function flood(socket: Socket, head: string, unit: Buffer): void {
  const go = (): void => {
    while (!socket.destroyed && socket.write(unit));
    socket.once("drain", go);
  };
  socket.write(head);
  go();
}

function answer(socket: Socket, request: string): void {
  const path = request.split(" ")[1] ?? "";
  const fixed: Readonly<Record<string, string>> = {
    "/http09": "hello there",
    "/garbage": "\xff".repeat(5_000),
    "/short": "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc",
    "/long-header": `HTTP/1.1 200 OK\r\nx: ${"y".repeat(1e6)}\r\n\r\n`,
    "/control": "HTTP/1.1 200 OK\r\nx: a\x01b\r\n\r\n",
    "/upgrade": "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nabc",
    "/extension": `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;${"a".repeat(1e6)}\r\na\r\n0\r\n\r\n`,
    "/prototype": "HTTP/1.1 200 OK\r\n__proto__: x\r\nconstructor: y\r\n\r\nx",
    "/to-itself": "HTTP/1.1 302 Found\r\nlocation: /to-itself\r\ncontent-length: 0\r\n\r\n",
    "/to-file": "HTTP/1.1 302 Found\r\nlocation: file:///etc/passwd\r\n\r\n",
    "/to-metadata": "HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\n\r\n",
    "/to-credentials": "HTTP/1.1 302 Found\r\nlocation: http://u:p@localhost:1/\r\n\r\n",
    "/to-nowhere": "HTTP/1.1 302 Found\r\nlocation: http://[bad\r\n\r\n",
    "/to-other": `HTTP/1.1 307 Temporary\r\nlocation: http://127.0.0.2:${socket.localPort}/echo\r\n\r\n`,
    "/echo": `HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${request}`,
  };
  const text = fixed[path];
  const [, form = "", encoding = ""] = path.split("/");
  const made = bombs[encoding]?.();
  if (text !== undefined) socket.end(text, "latin1");
  else if (made !== undefined) {
    socket.write(`HTTP/1.1 200 OK\r\n${form === "bomb" ? `content-encoding: ${encoding}\r\n` : ""}content-length: ${made.length}\r\n\r\n`);
    socket.end(made);
  } else if (path === "/bomb" || path === "/hollow") {
    const body = bombs[path === "/bomb" ? "gzip" : "hollow"]?.() ?? Buffer.alloc(0);
    socket.write(
      `HTTP/1.1 200 OK\r\ncontent-encoding: ${path === "/bomb" ? "gzip" : "gzip, gzip"}\r\ncontent-length: ${body.length}\r\n\r\n`,
    );
    socket.end(body);
  } else if (floods[path] !== undefined) flood(socket, ...floods[path]);
  else if (path === "/slow-head") socket.write("HTTP/1.1 200 OK\r\nx: ");
  else if (path === "/slow-body") socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx");
  else socket.resetAndDestroy();
}
