import { JetStreamApiError, JetStreamError } from "@nats-io/jetstream";
import { Conflict, InvalidInput, type HeadwaterError, Unavailable } from "../../../domain/errors.ts";

/** Another message came first: the subject's last sequence is not the expected one. */
export class WrongLastSequence extends Conflict {
  /** The sequence the server holds, when it told. */
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

/** The server's error codes for an unmet expectation. */
const wrongSequenceCodes: readonly number[] = [10071, 10164];

/** A stream is at its `max_bytes`, or all streams are at the server's `max_file_store`. A full disk is told otherwise. */
const fullDescriptions = /^(maximum bytes exceeded|insufficient resources|insufficient storage resources available)$/;

/** Turns a refusal of the server into one of our errors. */
export function refusal(subject: string, expected: number | undefined, error: ApiError): HeadwaterError {
  if (wrongSequenceCodes.includes(error.err_code)) {
    const told = /wrong last sequence: (\d+)/.exec(error.description)?.[1];
    return new WrongLastSequence(subject, expected, told === undefined ? undefined : Number(told));
  }
  const details = { err_code: error.err_code };
  if (fullDescriptions.test(error.description))
    return new Unavailable("it cannot be stored: the store of NATS is full until more of what it holds is processed", {
      code: "store_full",
      details,
    });
  // 4xx: the message itself is wrong (a schedule, a size) and would be refused again; the rest passes.
  return error.code < 500
    ? new InvalidInput(`the message server refuses a message on '${subject}': ${error.description}`, {
        code: "publish_refused",
        details,
      })
    : new Unavailable(`the message server cannot store a message on '${subject}': ${error.description}`, { details });
}

const missingStreamOrConsumer: readonly number[] = [10014, 10059];

/** A stream or consumer that is not there. */
export const isMissing = (error: unknown): boolean => error instanceof JetStreamApiError && missingStreamOrConsumer.includes(error.code);

/** No message matches what was asked for directly. */
export const isMessageNotFound = (error: unknown): boolean => error instanceof JetStreamError && "code" in error && error.code === 404;
