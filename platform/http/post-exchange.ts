import { errors, type Dispatcher } from "undici";
import { describeConnectionError } from "./connection-error.ts";

export type PostResult =
  | { readonly outcome: "answered"; readonly status: number; readonly retryAfter: string | undefined }
  | { readonly outcome: "unreachable"; readonly code: string; readonly message: string };

type Handler = Required<
  Pick<Dispatcher.DispatchHandler, "onRequestStart" | "onResponseStart" | "onResponseData" | "onResponseEnd" | "onResponseError">
>;

const sweepEveryMs = 100;
/** For so long the body of an answer is read, so that the connection can be used again. */
const readAnswerMs = 2_000;

/** Cuts off what takes too long, by one timer for all: two for each request cost more than its signatures. */
export class PostsUnderWay {
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
    for (const exchange of this.#exchanges) if (exchange.deadline <= now) exchange.cutOff();
  }
}

/**
 * One request and what comes of it. The status is the answer: a body that breaks off, trickles or is too large changes nothing about it,
 * but is waited for. Straight from undici's dispatch, since nobody reads that body: a stream for it costs as much as the request.
 */
export class PostExchange implements Handler {
  readonly #agent: Dispatcher;
  readonly #request: Dispatcher.DispatchOptions;
  readonly #underWay: PostsUnderWay;
  readonly #resolve: (result: PostResult) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #answer: PostResult | undefined;
  #isRepeated = false;
  #isEnded = false;
  /** By `performance.now()`. At first that of the wait for a connection, then that of the answer. */
  deadline = Number.POSITIVE_INFINITY;

  constructor(agent: Dispatcher, request: Dispatcher.DispatchOptions, underWay: PostsUnderWay, resolve: (result: PostResult) => void) {
    this.#agent = agent;
    this.#request = request;
    this.#underWay = underWay;
    this.#resolve = resolve;
  }

  begin(): void {
    this.deadline = performance.now() + this.#underWay.timeoutMs;
    this.#underWay.add(this);
    this.#agent.dispatch(this.#request, this);
  }

  /** It is the caller's time that has ended. */
  cutOff(): void {
    const { timeoutMs } = this.#underWay;
    const what = this.#controller === undefined ? "no connection was free" : "no answer";
    this.#end(this.#answer ?? { outcome: "unreachable", code: "timeout", message: `${what} within ${timeoutMs} ms` });
    this.#controller?.abort(new errors.RequestAbortedError());
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It was given up while it waited for a connection: nothing has been written.
    if (this.#isEnded) return controller.abort(new errors.RequestAbortedError());
    this.deadline = performance.now() + this.#underWay.timeoutMs;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    const retryAfter = headers["retry-after"];
    this.#answer = { outcome: "answered", status, retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter };
    this.deadline = performance.now() + readAnswerMs;
  }

  onResponseData(): void {
    // The client's `maxResponseSize` ends it.
  }

  onResponseEnd(): void {
    if (this.#answer !== undefined) this.#end(this.#answer);
  }

  /**
   * Once more at once when a connection ended that had been used before: its server closed it for its age just as we wrote, so nobody
   * read what was sent. Were it read all the same, the webhook-id says that it is the same.
   */
  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#answer !== undefined || this.#isEnded || this.#isRepeated || !hasOutlivedItsConnection(error))
      return this.#end(this.#answer ?? { outcome: "unreachable", ...describeConnectionError(error, String(this.#request.origin)) });
    this.#isRepeated = true;
    this.#controller = undefined;
    this.begin();
  }

  #end(answer: PostResult): void {
    this.#isEnded = true;
    this.#underWay.delete(this);
    this.#resolve(answer);
  }
}

/** A reset tells nothing of the connection it came from. */
function hasOutlivedItsConnection(error: Error): boolean {
  if (error instanceof errors.SocketError) return (error.socket?.bytesRead ?? 0) > 0;
  return "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
}
