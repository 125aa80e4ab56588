import { Blob, bytesOf, streamOf } from "./blob.ts";
import { concatBytes, isBufferSource, toArrayBuffer, toBytes } from "../encoding/bytes.ts";
import type { BufferSource, Bytes } from "../encoding/bytes.ts";
import { FormData } from "./form-data.ts";
import type { Headers } from "./headers.ts";
import { ruleError } from "../../runtime/errors.ts";
import { encodeMultipart, parseMultipart } from "./multipart.ts";
import { lazyStreams } from "../streams/streams-lazy.ts";
import type { ReadableStream } from "../streams/streams.ts";
import { URLSearchParams } from "../url/url.ts";
import { decodeUtf8, encodeUtf8 } from "../encoding/utf8.ts";

export type BodyInit =
  | string
  | BufferSource
  | Blob
  | FormData
  | InstanceType<typeof URLSearchParams>
  | ReadableStream<unknown>
  | AsyncIterable<unknown>;

/** Stored as bytes until a stream is requested: most bodies never become one. */
export interface Content {
  readonly bytes: Bytes | undefined;
  readonly stream: ReadableStream<unknown> | undefined;
  /** It comes from a server, which may send more than memory holds. */
  readonly isRemote?: true;
}

/** Of a body from a server that is not read as a stream. */
const maxCollectedBytes = 32 * 1024 * 1024;

/** The content of a body and its own type, if any (Fetch Standard, "extract a body"). */
export function extract(init: unknown): { readonly content: Content; readonly contentType: string | undefined } {
  if (isReadableStream(init)) {
    if (init.locked || isDisturbed(init)) throw new TypeError("Response body object should not be disturbed or locked");
    return { content: { bytes: undefined, stream: init }, contentType: undefined };
  }
  if (init instanceof URLSearchParams) return ofBytes(encodeUtf8(init.toString()), "application/x-www-form-urlencoded;charset=UTF-8");
  if (init instanceof Blob) return ofBytes(bytesOf(init), init.type === "" ? undefined : init.type);
  if (isBufferSource(init)) return ofBytes(toBytes(init).slice(), undefined);
  if (init instanceof FormData) {
    const { bytes, contentType } = encodeMultipart(init);
    return ofBytes(bytes, contentType);
  }
  if (isAsyncIterable(init))
    return { content: { bytes: undefined, stream: lazyStreams().ReadableStream.from(init) }, contentType: undefined };
  return ofBytes(encodeUtf8(String(init)), "text/plain;charset=UTF-8");
}

function ofBytes(bytes: Bytes, contentType: string | undefined): ReturnType<typeof extract> {
  return { content: { bytes, stream: undefined }, contentType };
}

function isReadableStream(value: unknown): value is ReadableStream<unknown> {
  return typeof value === "object" && value !== null && "getReader" in value && value instanceof lazyStreams().ReadableStream;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/** The polyfill stores the standard's internal slot here; it has no public accessor. */
function isDisturbed(stream: ReadableStream<unknown>): boolean {
  return (stream as unknown as { _disturbed?: boolean })._disturbed === true;
}

let consume: (body: Body) => Promise<Bytes>;
/** Takes the content and marks the body as used. @throws TypeError if it is used or locked */
export let take: (body: Body) => Content | null;
/** A second content with the same bytes. */
export let cloneContent: (body: Body) => Content | null;
/** Sets the content of a new copy. */
export let setContent: (body: Body, content: Content) => void;

/** What Request and Response share (Fetch Standard, "Body mixin"). */
export abstract class Body {
  abstract readonly headers: Headers;
  #content: Content | null;
  #isUsed = false;

  constructor(content: Content | null) {
    this.#content = content;
  }

  get body(): ReadableStream<unknown> | null {
    if (this.#content === null) return null;
    const { bytes } = this.#content;
    const stream = this.#content.stream ?? (this.#isUsed ? closedStream() : streamOf(bytes ?? new Uint8Array(0)));
    this.#content = { bytes: undefined, stream };
    return stream;
  }
  get bodyUsed(): boolean {
    const stream = this.#content?.stream;
    return this.#isUsed || (stream !== undefined && isDisturbed(stream));
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return toArrayBuffer(await consume(this));
  }
  async bytes(): Promise<Bytes> {
    return new Uint8Array(toArrayBuffer(await consume(this)));
  }
  async text(): Promise<string> {
    return withoutBom(decodeUtf8(await consume(this)));
  }
  async json(): Promise<unknown> {
    return JSON.parse(withoutBom(decodeUtf8(await consume(this))));
  }
  async blob(): Promise<Blob> {
    const type = this.headers.get("content-type") ?? "";
    return new Blob([await consume(this)], { type });
  }
  async formData(): Promise<FormData> {
    const contentType = this.headers.get("content-type") ?? "";
    const bytes = await consume(this);
    if (/^multipart\/form-data\b/i.test(contentType)) return parseMultipart(bytes, contentType);
    if (!/^application\/x-www-form-urlencoded\b/i.test(contentType)) {
      throw new TypeError('Content-Type was not one of "multipart/form-data" or "application/x-www-form-urlencoded".');
    }
    const form = new FormData();
    for (const [name, value] of new URLSearchParams(withoutBom(decodeUtf8(bytes)))) form.append(name, value);
    return form;
  }

  static {
    consume = async (body) => {
      return readAll(take(body));
    };
    take = (body) => {
      const content = body.#content;
      if (content === null) return null;
      if (body.bodyUsed || content.stream?.locked === true)
        throw new TypeError(body.bodyUsed ? "Body is unusable: Body has already been read" : "Body is unusable: Body is locked");
      body.#isUsed = true;
      return content;
    };
    setContent = (body, content) => {
      body.#content = content;
    };
    cloneContent = (body) => {
      const content = body.#content;
      if (content === null) return null;
      if (body.bodyUsed || content.stream?.locked === true) throw new TypeError("Response.clone: Body has already been consumed.");
      if (content.stream === undefined) return content;
      const [mine, other] = content.stream.tee();
      body.#content = { ...content, stream: mine };
      return { ...content, stream: other };
    };
  }
}

export async function readAll(content: Content | null): Promise<Bytes> {
  if (content === null) return new Uint8Array(0);
  if (content.bytes !== undefined) return content.bytes;
  const reader = content.stream?.getReader();
  const chunks: Bytes[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) return concatBytes(chunks);
    const chunk = chunkOf(value);
    chunks.push(chunk);
    length += chunk.length;
    if (content.isRemote !== true || length <= maxCollectedBytes) continue;
    void reader?.cancel().catch(() => {}); // The connection may have failed as well.
    throw new TypeError("terminated", { cause: tooLarge() });
  }
}

function chunkOf(value: unknown): Bytes {
  if (typeof value === "string") return encodeUtf8(value);
  if (isBufferSource(value)) return toBytes(value);
  throw new TypeError("Received non-Uint8Array chunk");
}

const tooLarge = (): Error =>
  ruleError(
    "response_too_large",
    `the response body is larger than ${maxCollectedBytes} bytes: read it as a stream, for instance for await (const chunk of response.body)`,
  );

function closedStream(): ReadableStream<unknown> {
  const { ReadableStream } = lazyStreams();
  const stream = new ReadableStream({ start: (controller) => controller.close() });
  // As in the standard, the stream of a body that was read is locked.
  stream.getReader();
  return stream;
}

function withoutBom(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}
