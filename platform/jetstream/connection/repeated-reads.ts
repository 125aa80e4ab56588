import { TimeoutError, type Msg, type NatsConnection } from "@nats-io/transport-node";

/** A request to a server that was lost silently is never answered. Another server answers as soon as it leads, within 4 to 9 s. */
const repeatAfterMs = 1_500;

/** Of the client. */
const defaultTimeoutMs = 5_000;

/** Reads of streams and consumers. A change is not repeated: NATS may process its first copy later. */
const reads = /\.(DIRECT\.GET|STREAM\.INFO|STREAM\.MSG\.GET|CONSUMER\.INFO)\./;

/** The connection with reads of the JetStream API that are sent again until one of them is answered, each within the timeout of the first. */
export function withRepeatedReads(nats: NatsConnection): NatsConnection {
  const request: NatsConnection["request"] = (subject, payload, options) => {
    const timeoutMs = options?.timeout ?? defaultTimeoutMs;
    const send = (leftMs: number): Promise<Msg> => nats.request(subject, payload, { ...options, timeout: leftMs });
    return timeoutMs <= repeatAfterMs || !reads.test(subject) ? send(timeoutMs) : firstAnswer(send, timeoutMs);
  };
  return Object.create(nats, { request: { value: request } }) as NatsConnection; // All other methods are inherited.
}

/** @throws the first error that is no timeout, or the timeout of the first request */
function firstAnswer(send: (leftMs: number) => Promise<Msg>, timeoutMs: number): Promise<Msg> {
  return new Promise((resolve, reject) => {
    const deadline = performance.now() + timeoutMs;
    const attempt = (leftMs: number): void => {
      send(leftMs)
        .then(resolve, (error: unknown) => (error instanceof TimeoutError && performance.now() < deadline - 1 ? undefined : reject(error)))
        .finally(() => clearInterval(repeating));
    };
    const repeating = setInterval(() => attempt(Math.max(1, deadline - performance.now())), repeatAfterMs);
    attempt(timeoutMs);
  });
}
