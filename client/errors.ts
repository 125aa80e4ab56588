/** An error response of the API. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** Stable, snake_case, as in the table of error codes; `http_<status>` if the response is not the API's. */
  readonly code: string;
  readonly details: unknown;
  readonly requestId: string | undefined;

  constructor(message: string, { status, code, details, requestId }: Pick<ApiError, "status" | "code" | "details" | "requestId">) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.requestId = requestId;
  }
}

/** No response came: the server is away, the connection broke, or the response is not JSON. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}
