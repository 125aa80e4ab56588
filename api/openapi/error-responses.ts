import { z } from "zod";
import type { ZodOpenApiResponseObject } from "zod-openapi";
import type { OperationDocument } from "../http/routing/operation.ts";
import { errorSchema } from "../http/response/errors.ts";

interface ErrorResponse {
  /** Name in the document's components. */
  readonly id: string;
  readonly description: string;
  /** A header of the response and its description. */
  readonly header?: readonly [name: string, description: string];
}

const retryAfter = ["retry-after", "Seconds to wait."] as const;

const known: Readonly<Record<number, ErrorResponse>> = {
  400: { id: "Malformed", description: "The request cannot be read." },
  401: { id: "Unauthenticated", description: "The API key is missing, unknown or revoked.", header: ["www-authenticate", "`Bearer`."] },
  403: {
    id: "Forbidden",
    description: "The caller does not belong to the organization, or the API key does not allow the request.",
  },
  404: { id: "NotFound", description: "There is no such resource, or it belongs to others." },
  409: { id: "Conflict", description: "The current state does not allow the request." },
  413: { id: "LimitExceeded", description: "The request exceeds a limit, which the message names." },
  422: { id: "InvalidInput", description: "A value is invalid." },
  429: { id: "QuotaExceeded", description: "Too many requests.", header: retryAfter },
  500: { id: "Internal", description: "An error of the server; `details.request_id` finds it in the log." },
  503: { id: "Unavailable", description: "A dependency is temporarily unavailable: try again.", header: retryAfter },
  504: { id: "Timeout", description: "No runner replied in time: try again." },
};

/**
 * Every operation can return these, also those without a body: bodies are read before the operation is known. 403 and 404: every operation
 * takes `org_id`.
 */
const common = [400, 401, 403, 404, 413, 422, 429, 500, 503];

/** Statuses of the errors that an operation may return, derived from its declaration. */
export function errorStatuses({ authentication, errors = [] }: OperationDocument): readonly number[] {
  if (authentication === "client") return [500];
  return [...new Set([...common, ...errors])].toSorted((a, b) => a - b);
}

/** Creates the response of each error once, so that the document lists it among its components. */
export function errorResponses(): (status: number) => ZodOpenApiResponseObject {
  const responses = new Map(Object.entries(known).map(([status, error]) => [Number(status), responseOf(error)]));
  return (status) => {
    const response = responses.get(status);
    if (response === undefined) throw new Error(`status ${status} is not described: add it to error-responses.ts`);
    return response;
  };
}

const responseOf = ({ id, description, header }: ErrorResponse): ZodOpenApiResponseObject => ({
  id,
  description,
  ...(header === undefined ? {} : { headers: z.object({ [header[0]]: z.string().optional().describe(header[1]) }) }),
  content: { "application/json": { schema: errorSchema } },
});
