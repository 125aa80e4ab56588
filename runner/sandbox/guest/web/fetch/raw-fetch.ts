import { on, onRunEnd, post, request as requestOfHost } from "../../runtime/bridge.ts";
import type { Sendable } from "../../runtime/bridge.ts";
import { beginWork, endWork, type OpenWork } from "../../runtime/open-work.ts";
import type { Bytes } from "../encoding/bytes.ts";

export type HeaderPair = readonly [name: string, value: string];

export interface RawRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: readonly HeaderPair[];
  readonly body?: Bytes | undefined;
  readonly redirect: "follow" | "manual" | "error";
  readonly signal?: RawSignal | undefined;
  /** For `node:http`: headers as given, and the body as received. */
  readonly raw: boolean;
  /** For a raw request: the path to send, unchanged by URL parsing. */
  readonly path?: string;
  /** For a raw https request: the TLS options for the host's parser. */
  readonly tls?: Readonly<Record<string, Sendable>> | undefined;
}

interface RawSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void, options: { once: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

export interface RawResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly HeaderPair[];
  readonly url: string;
  readonly redirected: boolean;
  readonly httpVersion: string;
  /** null if HTTP allows no body here; bytes if it was small enough to arrive with the head. */
  readonly body: Bytes | RawBody | null;
  /** For a body that arrived with the head; a RawBody has its own. */
  readonly trailers: readonly HeaderPair[];
}

interface Answer extends Omit<RawResponse, "body"> {
  readonly body: Bytes | { readonly first: Bytes } | null;
}

interface Waiting {
  resolve(chunk: Bytes | undefined): void;
  reject(error: unknown): void;
}

/** A body pulled chunk by chunk, so that the isolate holds only what is being read. */
export class RawBody {
  readonly #id: number;
  readonly #url: string;
  readonly #queue: Bytes[];
  readonly #onEnd: () => void;
  #waiting: Waiting | undefined;
  /** A reader is waiting for a chunk. */
  #work: OpenWork | undefined;
  #ending: { readonly error?: unknown } | undefined;
  trailers: readonly HeaderPair[] = [];

  constructor(id: number, url: string, first: Bytes, onEnd: () => void) {
    this.#id = id;
    this.#url = url;
    this.#queue = first.byteLength > 0 ? [first] : [];
    this.#onEnd = onEnd;
    bodies.set(id, this);
  }

  /** The next chunk, undefined at the end; rejects when the connection breaks or the request is aborted. */
  next(): Promise<Bytes | undefined> {
    const chunk = this.#queue.shift();
    if (chunk !== undefined) return Promise.resolve(chunk);
    const ending = this.#ending;
    if (ending !== undefined) return "error" in ending ? Promise.reject(ending.error) : Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#work = beginWork(`reading the response of ${this.#url}`);
      post("fetch_pull", this.#id);
    });
  }

  /** The reader has stopped. */
  cancel(): void {
    if (this.#ending !== undefined) return;
    post("fetch_abort", this.#id);
    this.end({});
  }

  take(chunk: Bytes): void {
    if (this.#ending !== undefined) return;
    const waiting = this.#stopWaiting();
    if (waiting === undefined) this.#queue.push(chunk);
    else waiting.resolve(chunk);
  }

  end(ending: { readonly error?: unknown }): void {
    if (this.#ending !== undefined) return;
    this.#ending = ending;
    bodies.delete(this.#id);
    this.#onEnd();
    const waiting = this.#stopWaiting();
    if ("error" in ending) waiting?.reject(ending.error);
    else waiting?.resolve(undefined);
  }

  #stopWaiting(): Waiting | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    endWork(this.#work);
    return waiting;
  }
}

const bodies = new Map<number, RawBody>();
let lastId = 0;

on("fetch_body", (id, chunk, trailers) => {
  const body = bodies.get(id as number);
  if (body === undefined) return;
  if (chunk !== null) return body.take(chunk as Bytes);
  body.trailers = trailers as readonly HeaderPair[];
  body.end({});
});

on("fetch_error", (id, message, code) => {
  const error = Object.assign(new Error(message as string), code === undefined ? {} : { code });
  bodies.get(id as number)?.end({ error });
});

onRunEnd(() => bodies.clear());

/**
 * Lets the host send one request under its egress policy; resolves with the head of the response. Rejects with the reason of the
 * signal if it aborts, otherwise with an Error whose `code` names the failure (`ECONNREFUSED`, `egress_denied`, …).
 */
export async function rawFetch({ signal, body, ...request }: RawRequest): Promise<RawResponse> {
  if (signal?.aborted === true) throw signal.reason;
  lastId += 1;
  const id = lastId;
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  const onAbort = (): void => {
    post("fetch_abort", id);
    aborted.reject(signal?.reason);
    bodies.get(id)?.end({ error: signal?.reason });
  };
  const release = (): void => signal?.removeEventListener("abort", onAbort);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    const answer = (await Promise.race([requestOfHost("fetch", [{ id, ...request }, body]), aborted.promise])) as Answer; // made by the host's `fetch`
    if (answer.body !== null && "first" in answer.body)
      return { ...answer, body: new RawBody(id, request.url, answer.body.first, release) };
    release();
    return { ...answer, body: answer.body };
  } catch (error) {
    release();
    throw error;
  }
}
