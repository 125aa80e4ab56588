import type { ErrorRequestHandler } from "express";
import { z } from "zod";
import { HeadwaterError, Invariant, Malformed, QuotaUsedUp, Unavailable, UserCode } from "../../domain/errors.ts";
import { hooks } from "../../domain/invocation.ts";
import type { Log } from "../ports.ts";
import { requestId } from "./request-log.ts";

/** What user code threw. */
export const thrownSchema = z
  .object({
    name: z.string(),
    message: z.string(),
    stack: z.string().optional(),
    code: z.string().optional().describe("Of a limit or rule of ours that ended the run."),
  })
  .meta({ id: "Thrown", description: "What the code of a component threw." });

const observationSchema = z
  .object({
    k: z.literal("error"),
    h: z.enum(hooks).describe("The hook that failed."),
    ts: z.number().describe("Epoch milliseconds."),
    err: thrownSchema,
  })
  .meta({
    id: "Observation",
    description: "One thing that a component did wrong while a request waited for it; the shape is that of a line of its log.",
  });
export type Observation = Readonly<z.infer<typeof observationSchema>>;

/** The body of every answer that is an error. */
export const errorSchema = z
  .object({
    error: z.string().describe("For people: what failed, with which value, and what would be right."),
    code: z.string().describe("For programs: stable, snake_case."),
    details: z.unknown().optional().describe("Fields, props, lines: whatever the code has more to tell of."),
    observations: z.array(observationSchema).optional().describe("With the code observation_error: what hooks threw."),
  })
  .meta({ id: "Error", description: "The body of every answer that is an error." });

/** A hook failed on a synchronous call: known clients read `error` and `observations`. */
export class ObservationError extends UserCode {
  readonly observations: readonly Observation[];

  /** @param details what else there is to know, such as which version runs now */
  constructor(observations: readonly Observation[], details?: { readonly reason: string; readonly message: string }) {
    super("observation error", { code: "observation_error", ...(details === undefined ? {} : { details }) });
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
    if (error instanceof QuotaUsedUp) response.setHeader("retry-after", error.retryAfterSeconds);
    response.status(error.status).json({
      error: error.message,
      code: error.code,
      ...(error.details === undefined ? {} : { details: error.details }),
      ...(error instanceof ObservationError ? { observations: error.observations } : {}),
    });
  };
}

/** Maps what was thrown to one of our errors; undefined if it is unexpected. */
export function known(thrown: unknown): HeadwaterError | undefined {
  if (thrown instanceof HeadwaterError) return thrown.status === 500 ? undefined : thrown;
  return fromExpress(thrown);
}

/** Errors of express carry a status of 4xx: a path that cannot be decoded. */
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
