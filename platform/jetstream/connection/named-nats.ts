import type { Msg, NatsConnection, ServerInfo, SubscriptionOptions } from "@nats-io/transport-node";
import type { WireNames } from "./wire-names.ts";

/** What is used of the client's connection. */
export type Nats = Pick<NatsConnection, "publish" | "subscribe" | "request" | "flush" | "info">;

/** The connection under the names of `domain/subjects.ts`. Iterators over a subscription deliver subjects as they are on the wire. */
export function namedNats(nats: NatsConnection, names: WireNames): Nats {
  return {
    get info() {
      // Absent only before the first connection.
      return nats.info as ServerInfo;
    },
    publish: (subject, payload, options) => nats.publish(names.target(subject), payload, options),
    subscribe: (subject, options) => nats.subscribe(names.subject(subject), namedCallback(options, names)),
    request: (subject, payload, options) => nats.request(names.subject(subject), payload, options),
    flush: () => nats.flush(),
  };
}

function namedCallback(options: SubscriptionOptions | undefined, names: WireNames): SubscriptionOptions | undefined {
  const { callback } = options ?? {};
  if (callback === undefined) return options;
  return { ...options, callback: (error, message) => callback(error, error === null ? renamed(message, names) : message) };
}

/** The message under its own name. It keeps its methods, which respond on the wire. */
export function renamed<T extends Pick<Msg, "subject">>(message: T, names: WireNames): T {
  // Object.create has no type parameter: the result has all that `message` has.
  return Object.create(message, { subject: { value: names.subjectOf(message.subject) } }) as T;
}
