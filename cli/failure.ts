import { errorTextOf } from "../client/error-text.ts";
import { ApiError, Unreachable } from "../client/errors.ts";
import { hintOf } from "./hints.ts";
import { withCommands } from "./rest-paths.ts";

/** Exit codes of `hw`, as docs/cli.md lists them. */
export const exitCodes = {
  success: 0,
  failure: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  unreachable: 5,
  differs: 6,
  interrupted: 130,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** An error that the caller can correct: one sentence, perhaps lines of its cause below it, and a hint at what to do. */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;

  constructor(
    message: string,
    { exitCode = exitCodes.failure, hint, cause }: { exitCode?: ExitCode; hint?: string; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

export const usageFailure = (message: string, hint?: string): Failure =>
  new Failure(message, { exitCode: exitCodes.usage, ...(hint === undefined ? {} : { hint }) });

export const notFound = (message: string, hint?: string): Failure =>
  new Failure(message, { exitCode: exitCodes.notFound, ...(hint === undefined ? {} : { hint }) });

/** What an error means for the exit code, and what the caller may do about it. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof Unreachable) return unreachableFailure(error);
  if (error instanceof ApiError) return failureOfApi(error);
  const message = error instanceof Error ? error.message : String(error);
  return new Failure(message, { cause: error });
}

function unreachableFailure(error: Unreachable): Failure {
  const hint = "check that Headwater runs, and the address: `hw profiles` shows which one is used";
  return new Failure(error.message, { exitCode: exitCodes.unreachable, hint, cause: error });
}

function failureOfApi(error: ApiError): Failure {
  const { status, code } = error;
  const request = error.requestId === undefined || status < 500 ? "" : ` (request ${error.requestId})`;
  const { message: sentence, lines } = errorTextOf(error);
  const message = [withCommands(sentence) + request, ...lines].join("\n");
  const hint = hintOf(error);
  const failure = (exitCode: ExitCode): Failure =>
    new Failure(message, { exitCode, ...(hint === undefined ? {} : { hint }), cause: error });
  if (isMissingOperation(error)) {
    const sameVersion = "update the server, or use the `hw` of its version";
    return new Failure(`the server is too old: it has no such operation (${message})`, { hint: sameVersion, cause: error });
  }
  if (status === 404) return failure(exitCodes.notFound);
  if (code === "http_502" || status === 503) return failure(exitCodes.unreachable);
  return failure(status >= 500 ? exitCodes.failure : exitCodes.refused);
}

/** Path that this server does not know, in contrast to a record that does not exist. */
function isMissingOperation({ status, code }: ApiError): boolean {
  return (status === 404 && (code === "no_such_route" || code === "http_404")) || status === 405;
}
