import { errors, type Dispatcher } from "undici";
import type { ReceivedResponse } from "../../domain/delivery/exchange.ts";
import { BodyHead } from "./body-head.ts";
import { describeConnectionError } from "./connection-error.ts";

export type PostResult =
  | {
      readonly outcome: "answered";
      readonly status: number;
      readonly retryAfter: string | undefined;
      /** Present if it was asked for. */
      readonly received?: ReceivedResponse;
    }
  | { readonly outcome: "unreachable"; readonly code: string; readonly message: string };

type Handler = Required<
  Pick<Dispatcher.DispatchHandler, "onRequestStart" | "onResponseStart" | "onResponseData" | "onResponseEnd" | "onResponseError">
>;

const sweepEveryMs = 100;
/** How long the body of a response is read, so that the connection can be reused. */
const readBodyMs = 2_000;

/** Aborts requests that take too long, with one shared timer: two per request cost more than its signatures. */
export class PendingPosts {
  readonly timeoutMs: number;
  readonly #exchanges = new Set<PostExchange>();
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.timeoutMs = timeoutMs;
  }

  add(exchange: PostExchange): void {
    this.#exchanges.add(exchange);
    this.#timer ??= setInterval(() => this.#sweep(), sweepEveryMs);
  }

  delete(exchange: PostExchange): void {
    this.#exchanges.delete(exchange);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #sweep(): void {
    if (this.#exchanges.size === 0) return this.stop();
    const now = performance.now();
    for (const exchange of this.#exchanges) if (exchange.deadline <= now) exchange.abort();
  }
}

/**
 * One request and its result. The status decides: a body that breaks off, is slow or too large does not change the result, but is awaited.
 * Uses undici's dispatch, since a stream for the body costs as much as the request, and at most its beginning is used.
 */
export class PostExchange implements Handler {
  readonly #agent: Dispatcher;
  readonly #request: Dispatcher.DispatchOptions;
  readonly #pending: PendingPosts;
  readonly #resolve: (result: PostResult) => void;
  /** Undefined: the body is not kept. */
  readonly #body: BodyHead | undefined;
  #headers: ReceivedResponse["headers"] = {};
  #controller: Dispatcher.DispatchController | undefined;
  #answer: PostResult | undefined;
  #isRepeated = false;
  #isEnded = false;
  /** The whole response was read. */
  #isComplete = false;
  /** By `performance.now()`: first of the wait for a connection, then of the response. */
  deadline = Number.POSITIVE_INFINITY;

  /** @param keepBytes how much of the response's body is returned, with its headers; undefined: neither */
  constructor(
    agent: Dispatcher,
    request: Dispatcher.DispatchOptions,
    pending: PendingPosts,
    resolve: (result: PostResult) => void,
    keepBytes?: number,
  ) {
    this.#agent = agent;
    this.#request = request;
    this.#pending = pending;
    this.#resolve = resolve;
    this.#body = keepBytes === undefined ? undefined : new BodyHead(keepBytes);
  }

  begin(): void {
    this.deadline = performance.now() + this.#pending.timeoutMs;
    this.#pending.add(this);
    this.#agent.dispatch(this.#request, this);
  }

  /** The caller's deadline has expired. */
  abort(): void {
    const { timeoutMs } = this.#pending;
    const what = this.#controller === undefined ? "no connection was free" : "no answer";
    this.#end(this.#answer ?? { outcome: "unreachable", code: "timeout", message: `${what} within ${timeoutMs} ms` });
    this.#controller?.abort(new errors.RequestAbortedError());
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It was abandoned while waiting for a connection: nothing has been written.
    if (this.#isEnded) return controller.abort(new errors.RequestAbortedError());
    this.deadline = performance.now() + this.#pending.timeoutMs;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    const retryAfter = headers["retry-after"];
    this.#headers = headers;
    this.#answer = { outcome: "answered", status, retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter };
    this.deadline = performance.now() + readBodyMs;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    // The client's `maxResponseSize` ends it.
    this.#body?.add(chunk);
  }

  onResponseEnd(): void {
    this.#isComplete = true;
    if (this.#answer !== undefined) this.#end(this.#answer);
  }

  /**
   * Retries once, at once, if a reused connection ended: its server closed it because of its age while we wrote, so the request was not
   * read. If it was read, the webhook-id identifies the duplicate.
   */
  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#answer !== undefined || this.#isEnded || this.#isRepeated || !isStaleConnection(error))
      return this.#end(this.#answer ?? { outcome: "unreachable", ...describeConnectionError(error, String(this.#request.origin)) });
    this.#isRepeated = true;
    this.#controller = undefined;
    this.begin();
  }

  #end(answer: PostResult): void {
    this.#isEnded = true;
    this.#pending.delete(this);
    this.#resolve(this.#withReceived(answer));
  }

  #withReceived(answer: PostResult): PostResult {
    const body = this.#body;
    if (answer.outcome !== "answered" || body === undefined) return answer;
    return { ...answer, received: { headers: this.#headers, body: body.bytes, isCut: body.isCut || !this.#isComplete } };
  }
}

/** A reset contains no information about its connection. */
function isStaleConnection(error: Error): boolean {
  if (error instanceof errors.SocketError) return (error.socket?.bytesRead ?? 0) > 0;
  return "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
}
