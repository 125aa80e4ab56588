import { errorSchema } from "../http/response/errors.ts";
import { jsonSchemaOf, type Schemas } from "./json-schema.ts";
import type { Operation } from "./operation.ts";

interface ErrorAnswer {
  /** Its name among the document's responses. */
  readonly name: string;
  readonly description: string;
  /** A header that it has, and what that says. */
  readonly header?: readonly [name: string, description: string];
}

const retryAfter = ["retry-after", "Seconds to wait."] as const;

const known: Readonly<Record<number, ErrorAnswer>> = {
  400: { name: "Malformed", description: "The request cannot be read." },
  401: { name: "Unauthenticated", description: "No key, or one that is unknown or revoked.", header: ["www-authenticate", "`Bearer`."] },
  403: { name: "Forbidden", description: "An organization that the caller does not belong to, or something that the key may not do." },
  404: { name: "NotFound", description: "Nothing there, or nothing of the caller's." },
  409: { name: "Conflict", description: "Its state does not allow it." },
  413: { name: "LimitExceeded", description: "Over a limit that the message names." },
  422: { name: "InvalidInput", description: "Understood, and not acceptable." },
  429: { name: "QuotaExceeded", description: "Too many requests.", header: retryAfter },
  500: { name: "Internal", description: "Our mistake; `details.request_id` finds it in the log." },
  503: { name: "Unavailable", description: "Something cannot be reached now: try again.", header: retryAfter },
  504: { name: "Timeout", description: "No runner answered in time: try again." },
};

/** Whatever it takes: a body is read before anybody asks whether it is wanted. */
const always = [400, 401, 403, 413, 422, 429, 500, 503];

/** The errors that an operation may answer with, by what it takes. */
export function errorStatuses(path: string, { query, authentication, errors = [] }: Operation): readonly number[] {
  if (authentication === "client") return [500];
  const takesOwner = query !== undefined && "org_id" in query.shape;
  const statuses = [...always, ...(takesOwner ? [404] : []), ...(path.includes(":") ? [404] : []), ...errors];
  return [...new Set(statuses)].toSorted((a, b) => a - b);
}

/** References to what {@link errorResponses} holds. */
export function errorReferences(statuses: readonly number[]): Readonly<Record<string, object>> {
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${known[status]?.name ?? "Internal"}` }]));
}

/** All errors once, by name. */
export function errorResponses(schemas: Schemas): Readonly<Record<string, object>> {
  const schema = jsonSchemaOf(errorSchema, schemas);
  return Object.fromEntries(
    Object.values(known).map(({ name, description, header }) => [
      name,
      {
        description,
        ...(header === undefined ? {} : { headers: { [header[0]]: { description: header[1], schema: { type: "string" } } } }),
        content: { "application/json": { schema } },
      },
    ]),
  );
}
