import { call, onRunEnd } from "../runtime/bridge.ts";
import { ruleTypeError } from "../runtime/errors.ts";
import type { IsRunning } from "../runtime/still-running.ts";
import { inspect } from "../node/inspect/inspect.ts";
import { encodeUtf8 } from "../web/encoding/utf8.ts";
import { isObject } from "./component.ts";

/** What a streamed body is read from. */
export type Chunks = AsyncIterable<unknown>;

/** Bytes that the host takes at once. */
const maxPiece = 128 * 1024;

/** Bodies of the run that are being sent. */
const sending = new Set<Promise<void>>();
/** A run has one caller, also if it has several ways to respond. */
let hasStreamed = false;
onRunEnd(() => {
  sending.clear();
  hasStreamed = false;
});

/** What yields the body in chunks: a stream of the web or of Node, an async iterable, a Blob or a Response. Undefined for any other value. */
export function chunksOf(body: unknown): Chunks | undefined {
  if (!isObject(body) || ArrayBuffer.isView(body)) return undefined;
  if (Symbol.asyncIterator in body) return body as unknown as Chunks;
  if (typeof body["arrayBuffer"] === "function")
    return chunksOf(typeof body["stream"] === "function" ? body["stream"]() : body["body"]) ?? none;
  if (typeof body["pipe"] !== "function" && typeof body["getReader"] !== "function") return undefined;
  throw ruleTypeError("invalid_response", "the body given to respond() is a stream that cannot be read by `for await`");
}

const none: Chunks = { [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }) };

/**
 * Sends all chunks, as fast as the caller takes them. A caller who leaves changes nothing for the run: the rest is read, and dropped.
 * @param isRunning of the run whose caller it is: another one in the same context has another caller
 * @throws what the stream throws; TypeError for a chunk that is neither text nor bytes
 */
export function sendBody(chunks: Chunks, isRunning: IsRunning): Promise<void> {
  const sent = send(chunks, new Pieces(!hasStreamed, isRunning));
  hasStreamed = true;
  const settle = (): boolean => sending.delete(sent);
  sending.add(sent);
  sent.then(settle, settle);
  // Its own promise, whose rejection counts as unhandled if the component does not wait for it.
  return sent.then(() => undefined);
}

/** Of a run that has returned: resolves when its bodies have been sent, or cannot be. Undefined: there are none. */
export function bodiesInProgress(): Promise<unknown> | undefined {
  return sending.size === 0 ? undefined : Promise.allSettled(sending);
}

async function send(chunks: Chunks, pieces: Pieces): Promise<void> {
  for await (const chunk of chunks) await pieces.add(toBytes(chunk));
  await pieces.end();
}

/** Sends bytes in their order, one piece at a time: what is added while one is on its way leaves with the next one. */
class Pieces {
  #isRead: boolean;
  readonly #isRunning: IsRunning;
  #waiting: Uint8Array[] = [];
  #bytes = 0;
  #sent: Promise<void> | undefined;
  #error: unknown;

  constructor(isRead: boolean, isRunning: IsRunning) {
    this.#isRead = isRead;
    this.#isRunning = isRunning;
  }

  /** Resolves when there is room for more. */
  async add(bytes: Uint8Array): Promise<void> {
    for (let from = 0; this.#isRead && from < bytes.byteLength; from += maxPiece) {
      const part = bytes.slice(from, from + maxPiece);
      while (this.#isRead && this.#bytes + part.byteLength > maxPiece) await this.#sent;
      this.#waiting.push(part);
      this.#bytes += part.byteLength;
      this.#sent ??= this.#sendWaiting();
    }
    if (this.#error !== undefined) throw this.#error;
  }

  async end(): Promise<void> {
    await this.#sent;
    if (this.#error !== undefined) throw this.#error;
    if (this.#isRead && this.#isRunning("the end of a response")) await call("respond_piece", new Uint8Array(0), true);
  }

  /** Never rejects. */
  async #sendWaiting(): Promise<void> {
    try {
      while (this.#isRead && this.#bytes > 0) {
        const piece = this.#takeWaiting();
        this.#isRead = this.#isRunning("a part of a response") && (await call("respond_piece", piece, false)) === true;
      }
    } catch (error) {
      this.#isRead = false;
      this.#error = error;
    }
    this.#sent = undefined;
  }

  #takeWaiting(): Uint8Array {
    const piece = new Uint8Array(this.#bytes);
    let at = 0;
    for (const part of this.#waiting) {
      piece.set(part, at);
      at += part.byteLength;
    }
    [this.#waiting, this.#bytes] = [[], 0];
    return piece;
  }
}

function toBytes(chunk: unknown): Uint8Array {
  if (typeof chunk === "string") return encodeUtf8(chunk);
  if (ArrayBuffer.isView(chunk)) return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk);
  throw ruleTypeError(
    "invalid_response",
    `a chunk of the body given to respond() must be a text or bytes, got ${inspect(chunk).slice(0, 100)}`,
  );
}
