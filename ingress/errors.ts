import type { ErrorCode } from "../domain/error-codes.ts";
import { HeadwaterError, QuotaUsedUp, Unavailable } from "../domain/errors.ts";
import type { Log } from "./ports.ts";

/** An error that callers of an endpoint may see. They know its address, but nothing behind it. */
export class PublicError extends HeadwaterError {
  /** Absent: a retry would not help. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, code: ErrorCode, message: string, options: ErrorOptions & { retryAfterSeconds?: number } = {}) {
    super(status, code, message, options);
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

const retryAfterSeconds = 2;

export const overloaded = (what: string): PublicError =>
  new PublicError(503, "overloaded", `${what}: send it again as Retry-After says`, { retryAfterSeconds });

export const backlogFull = (): PublicError =>
  new PublicError(429, "backlog_full", "too many requests of this endpoint wait to be run: send it again as Retry-After says", {
    retryAfterSeconds,
  });

/** @param leftMs until the daily quota is available again */
export function quotaUsedUp(leftMs: number): PublicError {
  const { status, code, retryAfterSeconds } = new QuotaUsedUp("", leftMs);
  const message = "this endpoint takes no more requests today: send it again as Retry-After says";
  return new PublicError(status, code, message, { retryAfterSeconds });
}

/** Errors of reading a body are public: they describe only the body. @param advice to callers whose body is too large */
export function rethrowOfBody(error: unknown, advice = ""): never {
  if (!(error instanceof HeadwaterError)) throw error;
  const { status, code, message } = error;
  throw new PublicError(status, code, code === "body_too_large" ? message + advice : message, {
    cause: error,
    ...(status === 503 ? { retryAfterSeconds } : {}),
  });
}

export const requestTimedOut = (): PublicError =>
  new PublicError(408, "request_timeout", "the request did not arrive in time: send it again, or faster");

const logEveryMs = 1_000;

/** Converts errors for callers. Errors that name streams, sources or servers only go to the log. */
export class ErrorFilter {
  readonly #log: Log;
  #loggedAt = Number.NEGATIVE_INFINITY;
  /** Errors since the last log line. An outage fails every request, so at most one line a second is logged. */
  #unlogged = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  publicError(thrown: unknown): PublicError {
    if (thrown instanceof PublicError) return thrown;
    this.#report(thrown);
    return thrown instanceof Unavailable
      ? new PublicError(503, "unavailable", "the request cannot be stored now: send it again as Retry-After says", { retryAfterSeconds })
      : new PublicError(500, "internal", "the request could not be accepted");
  }

  #report(err: unknown): void {
    const now = performance.now();
    if (now - this.#loggedAt < logEveryMs) return void this.#unlogged++;
    this.#log.warn({ op: "http.request", err, unlogged: this.#unlogged }, "a request to an endpoint could not be accepted");
    this.#loggedAt = now;
    this.#unlogged = 0;
  }
}
