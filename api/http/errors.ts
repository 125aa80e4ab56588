import type { ErrorRequestHandler } from "express";
import { HeadwaterError, Invariant, LimitExceeded, Malformed, Unavailable, UserCode } from "../../domain/errors.ts";
import type { Hook, RunError } from "../../domain/invocation.ts";
import type { Log } from "../ports.ts";
import { requestId } from "./request-log.ts";

/** One thing that user code did wrong while a request waited for it; the shape is that of a line of its log. */
export interface Observation {
  readonly k: "error";
  /** The hook that failed. */
  readonly h: Hook;
  /** Epoch ms. */
  readonly ts: number;
  readonly err: RunError;
}

/** A hook failed on a synchronous call: known clients read `error` and `observations`. */
export class ObservationError extends UserCode {
  readonly observations: readonly Observation[];

  constructor(observations: readonly Observation[]) {
    super("observation error", { code: "observation_error" });
    this.observations = observations;
  }
}

/** Turns every error into `{"error", "code", "details"?}`. What nobody expected is logged with the id that the answer names, and told without internals. */
export function answerErrors(log: Log): ErrorRequestHandler {
  return (thrown: unknown, _request, response, next) => {
    // The head is out: all that is left is to break the connection.
    if (response.headersSent) {
      next(thrown);
      return;
    }
    const error = known(thrown) ?? hide(thrown, requestId(response), log);
    response.locals["errorCode"] = error.code;
    if (error instanceof Unavailable && !response.hasHeader("retry-after")) response.setHeader("retry-after", 1);
    response.status(error.status).json({
      error: error.message,
      code: error.code,
      ...(error.details === undefined ? {} : { details: error.details }),
      ...(error instanceof ObservationError ? { observations: error.observations } : {}),
    });
  };
}

function known(thrown: unknown): HeadwaterError | undefined {
  if (thrown instanceof HeadwaterError) return thrown.status === 500 ? undefined : thrown;
  return fromParser(thrown);
}

/** Errors of express and its parsers carry a `type` or a status of 4xx. */
function fromParser(thrown: unknown): HeadwaterError | undefined {
  if (
    !(thrown instanceof Error) ||
    !("status" in thrown) ||
    typeof thrown.status !== "number" ||
    thrown.status < 400 ||
    thrown.status > 499
  )
    return undefined;
  const type = "type" in thrown ? thrown.type : undefined;
  switch (type) {
    case "entity.parse.failed":
      return new Malformed("the body is not valid JSON", { code: "invalid_json" });
    case "entity.too.large":
      return new LimitExceeded(`the body is too large: at most ${"limit" in thrown ? String(thrown.limit) : "a few"} bytes are read`, {
        code: "body_too_large",
      });
    default:
      return new Malformed(`the request cannot be read: ${thrown.message}`);
  }
}

function hide(thrown: unknown, id: string, log: Log): HeadwaterError {
  log.error({ op: "http.error", "request.id": id, err: thrown }, "a request failed unexpectedly");
  return new Invariant(`internal error; the log says more under ${id}`, {
    code: "internal",
    details: { request_id: id },
  });
}
