import type { HeaderPair } from "../../web/fetch/raw-fetch.ts";
import { asBuffer } from "../buffer/bytes.ts";
import { nodeError } from "../errors.ts";
import { Readable } from "../stream/stream.ts";
import type { ResponseHead } from "./http-head.ts";

/** A second value of these is dropped, of the others joined (Node's documentation of `message.headers`). */
const single = new Set([
  "age",
  "authorization",
  "content-length",
  "content-type",
  "etag",
  "expires",
  "from",
  "host",
  "if-modified-since",
  "if-unmodified-since",
  "last-modified",
  "location",
  "max-forwards",
  "proxy-authorization",
  "referer",
  "retry-after",
  "server",
  "user-agent",
]);

type Headers = Record<string, string | string[]>;

/** A body that is pulled chunk by chunk. */
export interface BodySource {
  /** The next chunk, undefined at the end. */
  next(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** The reader has stopped. */
  cancel(): void;
  readonly trailers: readonly HeaderPair[];
}

export interface IncomingResponse extends ResponseHead {
  /** null if HTTP allows no body here. */
  readonly body: Uint8Array<ArrayBuffer> | BodySource | null;
  /** Of a body that arrived with the head. */
  readonly trailers: readonly HeaderPair[];
}

interface Exchange {
  readonly socket: object | null;
  setTimeout(delayMs: number, listener?: () => void): unknown;
  touch(): void;
  finish(): void;
}

export class IncomingMessage extends Readable {
  readonly httpVersion: string;
  readonly httpVersionMajor = 1;
  readonly httpVersionMinor: number;
  readonly statusCode: number;
  readonly statusMessage: string;
  readonly headers: Headers;
  readonly headersDistinct: Record<string, string[]>;
  readonly rawHeaders: string[];
  trailers: Headers = {};
  rawTrailers: string[] = [];
  readonly req: unknown;
  readonly socket: object | null;
  readonly connection: object | null;
  readonly method = null;
  readonly url = "";
  complete = false;
  aborted = false;
  readonly #exchange: Exchange;
  readonly #response: IncomingResponse;

  constructor(response: IncomingResponse, exchange: Exchange) {
    super({ highWaterMark: 65_536 });
    this.#response = response;
    this.#exchange = exchange;
    this.req = exchange;
    this.socket = exchange.socket;
    this.connection = exchange.socket;
    this.httpVersion = response.httpVersion;
    this.httpVersionMinor = response.httpVersion === "1.0" ? 0 : 1;
    this.statusCode = response.status;
    this.statusMessage = response.statusText;
    this.headers = joined(response.headers);
    this.headersDistinct = distinct(response.headers);
    this.rawHeaders = response.headers.flat();
  }

  setTimeout(delayMs: number, listener?: () => void): this {
    this.#exchange.setTimeout(delayMs, listener);
    return this;
  }

  override _read(): void {
    const { body } = this.#response;
    if (body === null || !("next" in body)) {
      if (body !== null && body.byteLength > 0) this.push(asBuffer(body));
      return this.#end(this.#response.trailers);
    }
    body.next().then(
      (chunk) => {
        this.#exchange.touch();
        if (chunk === undefined) this.#end(body.trailers);
        else this.push(asBuffer(chunk));
      },
      (error: unknown) => {
        this.#markAborted();
        this.destroy(Object.assign(nodeError("ECONNRESET", "aborted"), { cause: error }));
      },
    );
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    const { body } = this.#response;
    const isCutShort = !this.complete;
    if (isCutShort) this.#markAborted();
    if (isCutShort && body !== null && "next" in body) body.cancel();
    this.#exchange.finish();
    // As in Node, listeners are notified that the body is incomplete.
    callback(error ?? (isCutShort && this.listenerCount("error") > 0 ? nodeError("ECONNRESET", "aborted") : null));
  }

  #end(trailers: readonly HeaderPair[]): void {
    this.trailers = joined(trailers);
    this.rawTrailers = trailers.flat();
    this.complete = true;
    this.push(null);
  }

  #markAborted(): void {
    if (this.aborted) return;
    this.aborted = true;
    this.emit("aborted");
  }
}

function joined(pairs: readonly HeaderPair[]): Headers {
  const headers: Headers = {};
  for (const [given, value] of pairs) {
    const name = given.toLowerCase();
    const known = Object.hasOwn(headers, name) ? headers[name] : undefined;
    if (name === "set-cookie") headers[name] = [...(known ?? []), value];
    else if (known === undefined) define(headers, name, value);
    else if (!single.has(name)) define(headers, name, `${String(known)}${name === "cookie" ? "; " : ", "}${value}`);
  }
  return headers;
}

/** A server may send a header named `__proto__`. */
function define(headers: Headers, name: string, value: string): void {
  Object.defineProperty(headers, name, { value, writable: true, configurable: true, enumerable: true });
}

function distinct(pairs: readonly HeaderPair[]): Record<string, string[]> {
  const headers: Record<string, string[]> = Object.create(null);
  for (const [name, value] of pairs) (headers[name.toLowerCase()] ??= []).push(value);
  return headers;
}
