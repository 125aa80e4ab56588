/** An error that a hook of a component threw while a request waited for it. */
export interface Observation {
  /** The hook. */
  readonly h: string;
  readonly err: { readonly name: string; readonly message: string; readonly stack?: string | undefined };
}

/** An error response of the API. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** Stable, snake_case, as in the table of error codes; `http_<status>` if the response is not the API's. */
  readonly code: string;
  readonly details: unknown;
  /** With the code `observation_error`: the errors of hooks. */
  readonly observations: readonly Observation[];
  readonly requestId: string | undefined;

  constructor(message: string, { status, code, details, observations = [], requestId }: ApiErrorFields) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.observations = observations;
    this.requestId = requestId;
  }
}

interface ApiErrorFields extends Pick<ApiError, "status" | "code" | "details" | "requestId"> {
  readonly observations?: readonly Observation[];
}

/** The error of a response. */
export function errorOfResponse({ status, headers }: Pick<Response, "status" | "headers">, text: string): ApiError {
  const body = jsonOf(text);
  const { error, code, details, observations } = isRecord(body) ? body : {};
  const message = typeof error === "string" ? error : `the server responded with ${status} ${text.slice(0, 200)}`.trim();
  return new ApiError(message, {
    status,
    code: typeof code === "string" ? code : `http_${status}`,
    details,
    observations: Array.isArray(observations) ? observations.filter(isObservation) : [],
    requestId: headers.get("x-request-id") ?? undefined,
  });
}

function isObservation(value: unknown): value is Observation {
  if (!isRecord(value) || !isRecord(value["err"])) return false;
  return [value["h"], value["err"]["name"], value["err"]["message"]].every((each) => typeof each === "string");
}

/** The value of a JSON text; undefined for another text. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null;

/** No response came: the server is away, the connection broke, or the response is not JSON. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}
