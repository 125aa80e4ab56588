import type { Bytes } from "../encoding/bytes.ts";

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface Frame {
  readonly isLast: boolean;
  readonly opcode: number;
  readonly payload: Bytes;
}

/** Limit of one message, over all its frames. */
const maxMessageBytes = 32 * 1024 * 1024;

export const protocolError = (message: string, code = 1002): Error => Object.assign(new Error(message), { closeCode: code });

/** A client's frame, masked (RFC 6455, 5.2 and 5.3). */
export function encodeFrame(opcode: number, payload: Bytes, mask: Bytes): Bytes {
  const { length } = payload;
  const lengthBytes = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const frame = new Uint8Array(6 + lengthBytes + length);
  frame[0] = 0x80 | opcode;
  frame[1] = 0x80 | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127);
  const view = new DataView(frame.buffer);
  if (lengthBytes === 2) view.setUint16(2, length);
  if (lengthBytes === 8) view.setBigUint64(2, BigInt(length));
  const start = 6 + lengthBytes;
  frame.set(mask, start - 4);
  for (let index = 0; index < length; index++) frame[start + index] = (payload[index] ?? 0) ^ (mask[index % 4] ?? 0);
  return frame;
}

/** Parses frames from a connection's data. @throws an error with `closeCode` for frames that a server must not send */
export class FrameReader {
  #input: Bytes = new Uint8Array(0);

  /** Complete frames received so far. */
  read(bytes: Bytes): Frame[] {
    const input = new Uint8Array(this.#input.length + bytes.length);
    input.set(this.#input);
    input.set(bytes, this.#input.length);
    const frames: Frame[] = [];
    let at = 0;
    for (let next = frameAt(input, at); next !== undefined; next = frameAt(input, at)) {
      frames.push(next.frame);
      at = next.end;
    }
    this.#input = input.slice(at);
    return frames;
  }
}

function frameAt(input: Bytes, at: number): { readonly frame: Frame; readonly end: number } | undefined {
  const view = new DataView(input.buffer);
  const [first, second] = [input[at], input[at + 1]];
  if (first === undefined || second === undefined) return undefined;
  if ((first & 0x70) !== 0 || second > 127) throw protocolError("the server sent a frame that is compressed or masked");
  const lengthBytes = second < 126 ? 0 : second === 126 ? 2 : 8;
  const start = at + 2 + lengthBytes;
  if (input.length < start) return undefined;
  const length = lengthBytes === 0 ? second : lengthBytes === 2 ? view.getUint16(at + 2) : Number(view.getBigUint64(at + 2));
  if (length > maxMessageBytes) throw protocolError(`a message is larger than ${maxMessageBytes} bytes, the limit`, 1009);
  if (input.length < start + length) return undefined;
  const frame = { isLast: first >= 0x80, opcode: first & 15, payload: input.slice(start, start + length) };
  if (frame.opcode >= 8 && (!frame.isLast || length > 125)) throw protocolError("the server sent a control frame in parts");
  return { frame, end: start + length };
}

/** Assembles messages from frames. */
export class MessageReader {
  #parts: Bytes[] = [];
  #bytes = 0;
  #opcode = 0;

  /** The message that this frame completes, if any. */
  read({ isLast, opcode, payload }: Frame): { readonly isText: boolean; readonly payload: Bytes } | undefined {
    if ((opcode === 0) !== this.#opcode > 0 || opcode > 2) throw protocolError("the server sent frames out of order");
    if (opcode > 0) this.#opcode = opcode;
    this.#parts.push(payload);
    this.#bytes += payload.length;
    if (this.#bytes > maxMessageBytes) throw protocolError(`a message is larger than ${maxMessageBytes} bytes, the limit`, 1009);
    if (!isLast) return undefined;
    const whole = new Uint8Array(this.#bytes);
    let at = 0;
    for (const part of this.#parts) {
      whole.set(part, at);
      at += part.length;
    }
    const isText = this.#opcode === 1;
    this.#parts = [];
    this.#bytes = 0;
    this.#opcode = 0;
    return { isText, payload: whole };
  }
}
