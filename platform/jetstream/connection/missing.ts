import { JetStreamApiError, JetStreamError } from "@nats-io/jetstream";

const missingStreamOrConsumer: readonly number[] = [10014, 10059];

/** A stream or consumer that is not there. */
export const isMissing = (error: unknown): boolean => error instanceof JetStreamApiError && missingStreamOrConsumer.includes(error.code);

/** No message matches what was asked for directly. */
export const isMessageNotFound = (error: unknown): boolean => error instanceof JetStreamError && "code" in error && error.code === 404;
