import { parseRedelivery, type RedeliveryRequest } from "../../domain/redelivery.ts";
import { deliverSubject, redeliverySubject, retrySubject, scheduledEvents, streams } from "../../domain/subjects.ts";
import type { Connection } from "./connection.ts";
import { readQueue, type Reading } from "./consumer.ts";
import { isMessageNotFound } from "./missing.ts";

/** Asks for deliveries again. Durable when it returns. @throws Unavailable */
export async function requestRedelivery({ publisher }: Pick<Connection, "publisher">, request: RedeliveryRequest): Promise<void> {
  await publisher.publish(redeliverySubject(request.webhook), JSON.stringify(request));
}

/** What is scheduled for a delivery and not yet due. */
export async function findScheduled({ manager }: Connection, webhook: string, delivery: string): Promise<string | undefined> {
  try {
    const message = await manager.direct.getMessage(streams.deliveries, { last_by_subj: retrySubject(webhook, delivery) });
    return message?.string();
  } catch (error) {
    if (isMessageNotFound(error)) return undefined;
    throw error;
  }
}

export interface DueReaders {
  readonly onDue: (text: string, ack: () => void) => void;
  /** A scheduled event that is due. */
  readonly onEvent: (text: string, ack: () => void) => void;
  readonly onRequest: (request: RedeliveryRequest, ack: () => void) => void;
}

const requestSubject = redeliverySubject("");
const eventSubject = deliverSubject(scheduledEvents, "");

/** Reads due deliveries, scheduled events that are due, and requests; a request that cannot be read is left out. */
export function readDue(connection: Connection, consumer: string, { onDue, onEvent, onRequest }: DueReaders): Promise<Reading> {
  return readQueue({
    connection,
    stream: streams.deliveries,
    consumer,
    create: { filter: "deliver.>", ackWaitMs: 30_000, maxAckPending: 1_024 },
    onMessage: (message) => {
      if (message.subject.startsWith(eventSubject)) return onEvent(message.text(), () => message.ack());
      if (!message.subject.startsWith(requestSubject)) return onDue(message.text(), () => message.ack());
      const request = parseRedelivery(message.text());
      if (request === undefined) message.term();
      else onRequest(request, () => message.ack());
    },
  });
}
