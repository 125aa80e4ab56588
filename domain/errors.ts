import type { ErrorCode } from "./error-codes.ts";

/**
 * Errors are for failures that the caller cannot handle; expected outcomes are values. Every error that reaches an edge of the
 * system (HTTP, a condition, a log line) is one of these.
 *
 * `code` is stable and snake_case: it is the API's `code` and the metrics' label. `message` says what failed,
 * with which value, and what would be right. `details` is JSON for machines. No secret ever enters either.
 */
export class HeadwaterError extends Error {
  readonly code: ErrorCode;
  /** HTTP status with which an API answers this error. */
  readonly status: number;
  readonly details: unknown;

  constructor(status: number, code: ErrorCode, message: string, options: ErrorOptions & { details?: unknown } = {}) {
    super(message, options);
    this.name = new.target.name;
    this.status = status;
    this.code = code;
    this.details = options.details;
  }
}

type Options = ErrorOptions & { code?: ErrorCode; details?: unknown };

/** Problems that one error lists. */
export const maxDetails = 100;

/** The request is valid JSON but not acceptable: a value is wrong, a component does not evaluate. */
export class InvalidInput extends HeadwaterError {
  constructor(message: string, options: Options = {}) {
    super(422, options.code ?? "invalid_input", message, options);
  }
}

/** The request cannot even be read: broken JSON, a wrong content type. */
export class Malformed extends HeadwaterError {
  constructor(message: string, options: Options = {}) {
    super(400, options.code ?? "malformed", message, options);
  }
}

export class Unauthenticated extends HeadwaterError {
  constructor(message: string, options: Options = {}) {
    super(401, options.code ?? "unauthenticated", message, options);
  }
}

export class Forbidden extends HeadwaterError {
  constructor(message: string, options: Options = {}) {
    super(403, options.code ?? "forbidden", message, options);
  }
}

export class NotFound extends HeadwaterError {
  constructor(message = "record not found", options: Options = {}) {
    super(404, options.code ?? "not_found", message, options);
  }
}

/** It was changed concurrently, or already exists. */
export class Conflict extends HeadwaterError {
  constructor(message: string, options: Options = {}) {
    super(409, options.code ?? "conflict", message, options);
  }
}

/** A version to continue from is no longer known: list again and continue from there. */
export class Gone extends HeadwaterError {
  constructor(message: string, options: Options = {}) {
    super(410, options.code ?? "gone", message, options);
  }
}

/** A limit is exceeded; the message names the limit and how to raise it. */
export class LimitExceeded extends HeadwaterError {
  constructor(message: string, options: Options = {}) {
    super(413, options.code ?? "limit_exceeded", message, options);
  }
}

export class QuotaExceeded extends HeadwaterError {
  constructor(message: string, options: Options = {}) {
    super(429, options.code ?? "quota_exceeded", message, options);
  }
}

/** A quota is used up, and is available again after a time. */
export class QuotaUsedUp extends QuotaExceeded {
  readonly retryAfterSeconds: number;

  constructor(message: string, leftMs: number, options: Options = {}) {
    super(message, options);
    this.retryAfterSeconds = Math.max(1, Math.ceil(leftMs / 1_000));
  }
}

/** User code failed. Its message and stack are for its owner, never for our logs. */
export class UserCode extends HeadwaterError {
  constructor(message: string, options: Options = {}) {
    super(422, options.code ?? "user_code", message, options);
  }
}

/** A part of the system is unavailable; retry later. */
export class Unavailable extends HeadwaterError {
  constructor(message: string, options: Options = {}) {
    super(503, options.code ?? "unavailable", message, options);
  }
}

/** A bug in Headwater: an invariant does not hold. */
export class Invariant extends HeadwaterError {
  constructor(message: string, options: Options = {}) {
    super(500, options.code ?? "invariant", message, options);
  }
}

/** Ends a `switch` over a closed union: fails to compile when a case is missing. */
export function assertNever(value: never): never {
  throw new Invariant(`unexpected value ${JSON.stringify(value)}`);
}
