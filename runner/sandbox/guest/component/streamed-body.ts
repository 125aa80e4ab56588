import { call, onRunEnd } from "../runtime/bridge.ts";
import { ruleTypeError } from "../runtime/errors.ts";
import { inspect } from "../node/inspect/inspect.ts";
import { encodeUtf8 } from "../web/encoding/utf8.ts";
import { isObject } from "./component.ts";

/** What a streamed body is read from. */
export type Chunks = AsyncIterable<unknown>;

/** Bytes that the host takes at once. */
const maxPiece = 128 * 1024;

let sending: Promise<void>[] = [];
onRunEnd(() => {
  sending = [];
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
 * Sends all chunks, each when the caller has room for it. A caller who leaves changes nothing for the run: the rest is read, and dropped.
 * @throws what the stream throws; TypeError for a chunk that is neither text nor bytes
 */
export function sendBody(chunks: Chunks): Promise<void> {
  const sent = send(chunks);
  sending.push(sent);
  return sent;
}

/** Of a run that has returned: its bodies are sent to their end. Undefined: there are none. */
export function bodiesInProgress(): Promise<unknown> | undefined {
  return sending.length === 0 ? undefined : Promise.all(sending);
}

async function send(chunks: Chunks): Promise<void> {
  let isRead = true;
  for await (const chunk of chunks) {
    const bytes = toBytes(chunk);
    for (let from = 0; isRead && from < bytes.byteLength; from += maxPiece) isRead = await sendPiece(bytes.subarray(from, from + maxPiece));
  }
  if (isRead) await sendPiece(new Uint8Array(0), true);
}

const sendPiece = async (bytes: Uint8Array, isLast = false): Promise<boolean> => (await call("respond_piece", bytes, isLast)) === true;

function toBytes(chunk: unknown): Uint8Array {
  if (typeof chunk === "string") return encodeUtf8(chunk);
  if (ArrayBuffer.isView(chunk)) return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk);
  throw ruleTypeError(
    "invalid_response",
    `a chunk of the body given to respond() must be a text or bytes, got ${inspect(chunk).slice(0, 100)}`,
  );
}
