import { createHash } from "node:crypto";
import { type AddressInfo, createServer, type Socket } from "node:net";

export interface HostileWebSocketServer {
  readonly port: number;
  stop(): Promise<void>;
}

const continued = 0;
const text = 1;
const binary = 2;
const ping = 9;

interface FrameForm {
  /** As the frame says it, whatever comes. */
  readonly length?: bigint;
  readonly isLast?: boolean;
  /** Reserved bits, of which the first would say that the frame is compressed. */
  readonly reserved?: number;
  readonly isMasked?: boolean;
}

/** A frame as RFC 6455, 5.2 has it, or not. */
function frame(opcode: number, payload: string, { length, isLast = true, reserved = 0, isMasked = false }: FrameForm = {}): Buffer {
  const head = Buffer.alloc(length === undefined ? 2 : 10);
  head[0] = (isLast ? 0x80 : 0) | (reserved << 4) | opcode;
  head[1] = (isMasked ? 0x80 : 0) | (length === undefined ? payload.length : 127);
  if (length !== undefined) head.writeBigUInt64BE(length, 2);
  return Buffer.concat([head, Buffer.from(payload)]);
}

const part = { isLast: false };
const many = (one: Buffer): Buffer => Buffer.concat(Array.from({ length: 5_000 }, () => one));
/** By path: what comes once, and what then comes without end. */
const conversations: Readonly<Record<string, { readonly first?: Buffer; readonly flood?: Buffer }>> = {
  "/huge": { first: frame(binary, "", { length: 2n ** 63n - 1n }) },
  "/negative": { first: frame(binary, "", { length: 2n ** 64n - 1n }) },
  "/parts": { first: frame(text, "a", part), flood: many(frame(continued, "a", part)) },
  "/empty-parts": { first: frame(text, "", part), flood: many(frame(continued, "", part)) },
  "/parts-again": { flood: many(frame(text, "a", part)) },
  "/pings": { flood: many(frame(ping, "hello")) },
  "/messages": { flood: many(frame(text, "a")) },
  "/compressed": { first: frame(text, "a", { reserved: 4 }) },
  "/masked": { first: frame(text, "aaaaa", { isMasked: true }) },
  "/broken-text": { first: Buffer.concat([frame(text, "", {}).subarray(0, 1), Buffer.from([2, 0xff, 0xfe])]) },
  "/silent": {},
};

/** Agrees to every opening handshake, and then sends what no server may. */
export async function startHostileWebSocketServer(): Promise<HostileWebSocketServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).once("data", (request) => converse(socket, request.toString()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function converse(socket: Socket, request: string): void {
  const { first, flood } = conversations[/^GET (\S+)/.exec(request)?.[1] ?? ""] ?? {};
  const key = /sec-websocket-key: (\S+)/i.exec(request)?.[1] ?? "";
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  socket.write(`HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
  if (first !== undefined) socket.write(first);
  if (flood === undefined) return;
  const send = (): void => {
    while (!socket.destroyed && socket.write(flood));
  };
  socket.on("drain", send);
  send();
}
