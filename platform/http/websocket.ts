import { hash } from "node:crypto";
import type { Duplex } from "node:stream";

/** The server's side of a WebSocket (RFC 6455) for texts: no extensions, no binary messages. */
export interface WebSocketHandlers {
  onText(text: string): void;
  onClose(): void;
}

const guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const opcodes = { continuation: 0, text: 1, close: 8, ping: 9, pong: 10 } as const;

/** The value of `Sec-WebSocket-Accept` for that of `Sec-WebSocket-Key`. */
export const acceptedKey = (key: string): string => hash("sha1", key + guid, "base64");

interface ClientFrame {
  readonly isLast: boolean;
  readonly opcode: number;
  readonly payload: Buffer;
  /** Of the frame, with its head. */
  readonly bytes: number;
}

export class WebSocketConnection {
  readonly #socket: Duplex;
  readonly #handlers: WebSocketHandlers;
  readonly #maxBytes: number;
  #received: Buffer;
  #parts: Buffer[] = [];

  /** @param maxBytes of a message; the connection of a client that sends more is closed */
  constructor(socket: Duplex, head: Buffer, maxBytes: number, handlers: WebSocketHandlers) {
    this.#socket = socket;
    this.#handlers = handlers;
    this.#maxBytes = maxBytes;
    this.#received = head;
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => handlers.onClose());
    this.#read(Buffer.alloc(0));
  }

  send(text: string): void {
    this.#write(opcodes.text, Buffer.from(text));
  }

  close(): void {
    this.#write(opcodes.close, Buffer.alloc(0));
    this.#socket.end();
  }

  #read(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    for (;;) {
      const frame = readFrame(this.#received, this.#maxBytes);
      if (frame === "incomplete") return;
      if (frame === "invalid") return void this.#socket.destroy();
      this.#received = this.#received.subarray(frame.bytes);
      this.#receive(frame);
    }
  }

  #receive({ opcode, isLast, payload }: ClientFrame): void {
    if (opcode === opcodes.close) return this.close();
    if (opcode === opcodes.ping) return this.#write(opcodes.pong, payload);
    if (opcode === opcodes.pong) return;
    this.#parts.push(payload);
    if (this.#parts.reduce((sum, part) => sum + part.length, 0) > this.#maxBytes) return void this.#socket.destroy();
    if (!isLast) return;
    const text = Buffer.concat(this.#parts).toString();
    this.#parts = [];
    this.#handlers.onText(text);
  }

  #write(opcode: number, payload: Buffer): void {
    if (!this.#socket.writable) return;
    this.#socket.write(Buffer.concat([headOf(opcode, payload.length), payload]));
  }
}

function headOf(opcode: number, length: number): Buffer {
  const first = 0x80 | opcode;
  if (length < 126) return Buffer.from([first, length]);
  const head = Buffer.alloc(length < 2 ** 16 ? 4 : 10);
  head[0] = first;
  head[1] = length < 2 ** 16 ? 126 : 127;
  if (length < 2 ** 16) head.writeUInt16BE(length, 2);
  else head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}

/** Clients mask what they send. */
function readFrame(bytes: Buffer, maxBytes: number): ClientFrame | "incomplete" | "invalid" {
  if (bytes.length < 2) return "incomplete";
  const [first, second] = [bytes.readUInt8(0), bytes.readUInt8(1)];
  if ((second & 0x80) === 0) return "invalid";
  const short = second & 0x7f;
  const start = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < start + 4) return "incomplete";
  const length = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
  if (length > maxBytes) return "invalid";
  const end = start + 4 + length;
  if (bytes.length < end) return "incomplete";
  const mask = bytes.subarray(start, start + 4);
  const payload = Buffer.from(bytes.subarray(start + 4, end));
  for (let i = 0; i < length; i++) payload[i] = (payload[i] ?? 0) ^ (mask[i % 4] ?? 0);
  return { isLast: (first & 0x80) !== 0, opcode: first & 0x0f, payload, bytes: end };
}
