import type { Readable } from "node:stream";
import type { z } from "zod";
import { hasMoreValues, isTooDeep, maxNesting } from "./message-size.ts";

/**
 * Frames on the socket between the parent and a child, in both directions:
 *
 *     4 bytes   length of the text in bytes, little endian
 *     1 byte    kind: index in the list of kinds of that direction
 *     n bytes   the rest of the message, as JSON in UTF-8
 *
 * JSON, because its parser has no way to create anything but plain values: V8's own format is not made for input of an attacker, and a
 * child may be one.
 */
const headBytes = 5;
const maxMergedBytes = 32 * 1024;
/** Texts of 10,000 events and lines have a tenth of it. Each value takes some 50 bytes and half a microsecond. */
const maxValues = 1_000_000;

/** What a peer sent is no frame, or none that may be sent now. */
export class ProtocolViolation extends Error {
  override readonly name = "ProtocolViolation";
}

export function outOfTurn(kind: string): ProtocolViolation {
  return new ProtocolViolation(`a message '${kind}' that nothing waits for`);
}

/** Kinds of messages of one direction, with the maximum length of each, bytes. */
export type FrameLimits<Kind extends string> = Readonly<Record<Kind, number>>;

export interface Frame<Kind extends string> {
  readonly kind: Kind;
  readonly text: string;
}

/** @throws RangeError for a message over the limit of its kind */
export function encodeFrame<Kind extends string>(limits: FrameLimits<Kind>, { kind, ...fields }: { readonly kind: Kind }): Buffer {
  const text = JSON.stringify(fields);
  const bytes = Buffer.byteLength(text);
  if (bytes > limits[kind]) throw new RangeError(`a message '${kind}' has ${bytes} bytes, ${limits[kind]} are allowed`);
  const frame = Buffer.allocUnsafe(headBytes + bytes);
  frame.writeUInt32LE(bytes, 0);
  frame.writeUInt8(Object.keys(limits).indexOf(kind), 4);
  frame.write(text, headBytes);
  return frame;
}

/**
 * Splits the bytes of a socket into frames. The length of a frame is checked before its bytes are kept, so a peer can make it hold at
 * most one frame of the largest kind.
 */
export class FrameReader<Kind extends string> {
  readonly #limits: FrameLimits<Kind>;
  readonly #kinds: readonly Kind[];
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Of the frame that has begun, with its head; until the head is complete, that of the head. */
  #needed = headBytes;

  constructor(limits: FrameLimits<Kind>) {
    this.#limits = limits;
    this.#kinds = Object.keys(limits) as Kind[]; // The keys of a record by kind.
  }

  /** @throws ProtocolViolation for an unknown kind or a length over its limit */
  *read(chunk: Buffer): Generator<Frame<Kind>> {
    this.#chunks.push(chunk);
    this.#bytes += chunk.byteLength;
    this.#mergeSmall();
    while (this.#bytes >= this.#needed) {
      const joined = this.#join();
      const { kind, end } = this.#head(joined);
      this.#needed = end;
      if (joined.byteLength < end) return;
      this.#keep(joined.subarray(end));
      this.#needed = headBytes;
      yield { kind, text: joined.toString("utf8", headBytes, end) };
    }
  }

  /** Each chunk takes hundreds of bytes, and a peer may send single ones. Equal sizes are merged, so that few bytes are copied often. */
  #mergeSmall(): void {
    for (;;) {
      const [previous, last] = this.#chunks.slice(-2);
      if (previous === undefined || last === undefined || last.byteLength > maxMergedBytes || previous.byteLength > last.byteLength) return;
      this.#chunks.splice(-2, 2, Buffer.concat([previous, last]));
    }
  }

  #join(): Buffer {
    const [first] = this.#chunks;
    const joined = this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks);
    this.#keep(joined);
    return joined;
  }

  #keep(rest: Buffer): void {
    this.#chunks = rest.byteLength === 0 ? [] : [rest];
    this.#bytes = rest.byteLength;
  }

  #head(joined: Buffer): { readonly kind: Kind; readonly end: number } {
    const bytes = joined.readUInt32LE(0);
    const index = joined.readUInt8(4);
    const kind = this.#kinds[index];
    if (kind === undefined) throw new ProtocolViolation(`a message of the unknown kind ${index}`);
    if (bytes > this.#limits[kind]) throw new ProtocolViolation(`a message '${kind}' of ${bytes} bytes, ${this.#limits[kind]} are allowed`);
    return { kind, end: headBytes + bytes };
  }
}

/** Calls back for each frame of a stream until one is refused; then the rest is not read. */
export function readFrames<Kind extends string>(
  stream: Readable,
  limits: FrameLimits<Kind>,
  {
    onFrame,
    onViolation,
  }: { readonly onFrame: (frame: Frame<Kind>) => void; readonly onViolation: (violation: ProtocolViolation) => void },
): void {
  const reader = new FrameReader(limits);
  const onData = (chunk: Buffer): void => {
    try {
      for (const frame of reader.read(chunk)) onFrame(frame);
    } catch (error) {
      if (!(error instanceof ProtocolViolation)) throw error;
      stream.off("data", onData);
      stream.resume();
      onViolation(error);
    }
  };
  stream.on("data", onData);
}

/** The fields of a message. @throws ProtocolViolation if the schema refuses them */
export function parseFields<Fields>(schema: z.ZodType<Fields>, kind: string, json: string): Fields {
  const result = schema.safeParse(parseJson(kind, json));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new ProtocolViolation(`a message '${kind}' whose ${issue?.path.join(".") || "form"} is invalid: ${issue?.message}`);
}

function parseJson(kind: string, json: string): unknown {
  if (isTooDeep(json)) throw new ProtocolViolation(`a message '${kind}' that is nested more than ${maxNesting} levels deep`);
  if (hasMoreValues(json, maxValues)) throw new ProtocolViolation(`a message '${kind}' with more than ${maxValues} values`);
  try {
    return JSON.parse(json);
  } catch {
    throw new ProtocolViolation(`a message '${kind}' that is no JSON`);
  }
}
