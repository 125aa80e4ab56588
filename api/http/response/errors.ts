import type { ErrorRequestHandler } from "express";
import { z } from "zod";
import { HeadwaterError, Invariant, Malformed, QuotaUsedUp, Unavailable, UserCode } from "../../../domain/errors.ts";
import { hooks } from "../../../domain/trigger.ts";
import type { Log } from "../../../domain/log.ts";
import { requestId } from "../telemetry/request-log.ts";
import { boundedDetails, boundedMessage } from "./bounds.ts";

/** An error thrown by user code. */
export const thrownSchema = z
  .object({
    name: z.string(),
    message: z.string(),
    stack: z.string().optional(),
    code: z.string().optional().describe("Code of the limit or rule that ended the run."),
  })
  .meta({ id: "Thrown", description: "An error thrown by a component's code." });

const observationSchema = z
  .object({
    k: z.literal("error"),
    h: z.enum(hooks).describe("The hook that failed."),
    ts: z.number().describe("Epoch milliseconds."),
    err: thrownSchema,
  })
  .meta({
    id: "Observation",
    description: "An error of a component while a request waited for it, in the form of a line of its log.",
  });
export type Observation = Readonly<z.infer<typeof observationSchema>>;

/** The body of every error response. */
export const errorSchema = z
  .object({
    error: z.string().describe("For people: what failed, with which value, and what would be valid."),
    code: z.string().describe("For programs: stable, snake_case."),
    details: z.unknown().optional().describe("More about the error, depending on its code: fields, props, lines."),
    observations: z.array(observationSchema).optional().describe("With the code observation_error: the errors of hooks."),
  })
  .meta({ id: "Error", description: "The body of every error response." });

/** A hook failed on a synchronous call: known clients read `error` and `observations`. */
export class ObservationError extends UserCode {
  readonly observations: readonly Observation[];

  /** @param details further information, such as which version is running */
  constructor(observations: readonly Observation[], details?: { readonly reason: string; readonly message: string }) {
    super("observation error", { code: "observation_error", ...(details === undefined ? {} : { details }) });
    this.observations = observations;
  }
}

/** Responds with `{"error", "code", "details"?}`. Unexpected errors are logged under the response's request id, and hidden from the client. */
export function answerErrors(log: Log): ErrorRequestHandler {
  return (thrown: unknown, _request, response, next) => {
    // The headers are sent: express closes the connection.
    if (response.headersSent) {
      next(thrown);
      return;
    }
    const error = known(thrown) ?? hide(thrown, requestId(response), log);
    response.locals["errorCode"] = error.code;
    if (error instanceof Unavailable && !response.hasHeader("retry-after")) response.setHeader("retry-after", 1);
    if (error instanceof QuotaUsedUp) response.setHeader("retry-after", error.retryAfterSeconds);
    const details = boundedDetails(error.details);
    response.status(error.status).json({
      error: boundedMessage(error.message),
      code: error.code,
      ...(details === undefined ? {} : { details }),
      ...(error instanceof ObservationError ? { observations: error.observations } : {}),
    });
  };
}

/** Maps what was thrown to one of our errors; undefined if it is unexpected. */
export function known(thrown: unknown): HeadwaterError | undefined {
  if (thrown instanceof HeadwaterError) return thrown.status === 500 ? undefined : thrown;
  return fromExpress(thrown);
}

/** Express throws errors with a 4xx status, for instance for a path that cannot be decoded. */
function fromExpress(thrown: unknown): HeadwaterError | undefined {
  if (
    !(thrown instanceof Error) ||
    !("status" in thrown) ||
    typeof thrown.status !== "number" ||
    thrown.status < 400 ||
    thrown.status > 499
  )
    return undefined;
  return new Malformed(`the request cannot be read: ${thrown.message}`);
}

function hide(thrown: unknown, id: string, log: Log): HeadwaterError {
  log.error({ op: "http.error", "request.id": id, err: thrown }, "a request failed unexpectedly");
  return new Invariant(`internal error; the log says more under ${id}`, {
    code: "internal",
    details: { request_id: id },
  });
}
