import { JetStreamApiError, JetStreamError } from "@nats-io/jetstream";
import { Conflict, InvalidInput, type HeadwaterError, Unavailable } from "../../../domain/errors.ts";

/** The last sequence of the subject is not the expected one: another message was stored first. */
export class WrongLastSequence extends Conflict {
  /** The last sequence of the subject, if NATS returned it. */
  readonly actual: number | undefined;

  constructor(subject: string, expected: number | undefined, actual: number | undefined) {
    super(`the last message on '${subject}' is ${actual ?? "another one"}, expected ${expected ?? "none"}: read it again`, {
      code: "wrong_last_sequence",
    });
    this.actual = actual;
  }
}

export interface ApiError {
  readonly code: number;
  readonly err_code: number;
  readonly description: string;
}

/** Error codes of NATS for an unmet expected sequence. */
const wrongSequenceCodes: readonly number[] = [10071, 10164];

/** A copy with the same message id is not committed yet. */
const copyInProcessCode = 10158;

/** May the message have been refused only because a copy of it was stored, or is being stored? A stored copy is later than `expected`. */
export function isRefusedForCopy(error: ApiError, expected: number | undefined): boolean {
  if (error.err_code === copyInProcessCode) return true;
  return wrongSequenceCodes.includes(error.err_code) && (lastSequence(error) ?? Infinity) > (expected ?? 0);
}

/** The last sequence of the subject, if NATS returned it. 0: the subject is empty. */
function lastSequence({ description }: ApiError): number | undefined {
  const last = /wrong last sequence: (\d+)/.exec(description)?.[1];
  return last === undefined ? undefined : Number(last);
}

/** A stream is at its `max_bytes`, or all streams are at the server's `max_file_store`. NATS reports a full disk differently. */
const fullDescriptions = /^(maximum (bytes|messages) exceeded|insufficient resources|insufficient storage resources available)$/;

/** Converts an error of NATS into one of ours. */
export function refusal(subject: string, expected: number | undefined, error: ApiError): HeadwaterError {
  if (wrongSequenceCodes.includes(error.err_code)) return new WrongLastSequence(subject, expected, lastSequence(error));
  const details = { err_code: error.err_code };
  if (fullDescriptions.test(error.description))
    return new Unavailable("the message cannot be stored: the store of NATS is full until more of its messages are processed", {
      code: "store_full",
      details,
    });
  // 4xx: the message itself is invalid (its schedule, its size) and would be refused again. Other errors are temporary.
  return error.code < 500
    ? new InvalidInput(`NATS refuses a message on '${subject}': ${error.description}`, {
        code: "publish_refused",
        details,
      })
    : new Unavailable(`NATS cannot store a message on '${subject}': ${error.description}`, { details });
}

const missingStreamOrConsumer: readonly number[] = [10014, 10059];

/** The stream or consumer does not exist. */
export const isMissing = (error: unknown): boolean => error instanceof JetStreamApiError && missingStreamOrConsumer.includes(error.code);

/** No message matches a direct get. */
export const isMessageNotFound = (error: unknown): boolean => error instanceof JetStreamError && "code" in error && error.code === 404;
