import { parseRedelivery, type RedeliveryRequest } from "../../../domain/delivery/redelivery.ts";
import { deliverSubject, redeliverySubject, retrySubject, scheduledEvents, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";
import { readQueue } from "../read/queue-reader.ts";
import { HeldMessages } from "../read/held-messages.ts";
import { isMessageNotFound } from "../connection/errors.ts";

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

/** Requests overlap, so that a few times as much may be on its way. */
const maxRequestBytes = 2 * 1_048_576;
const requestSubject = redeliverySubject("");
const eventSubject = deliverSubject(scheduledEvents, "");

/** A replica that dies or stalls delays what was handed to it by the ack wait, and by a request that it has made. */
export const defaultAckWaitMs: number = 3_500;
export const requestExpiresMs = 1_000;
/** Bytes of messages that are being worked on, beside those that one request may bring. */
const maxHeldBytes = 32 * 1_048_576;

/** Reads due deliveries, scheduled events that are due, and requests; a request that cannot be read is left out. */
export async function readDue(
  connection: Connection,
  consumer: string,
  { onDue, onEvent, onRequest }: DueReaders,
  ackWaitMs = defaultAckWaitMs,
): Promise<Stoppable> {
  const held = new HeldMessages(ackWaitMs);
  const hasRoom = (): boolean => held.bytes < maxHeldBytes;
  const reading = await readQueue({
    connection,
    stream: streams.deliveries,
    consumer,
    create: { filter: "deliver.>", ackWaitMs, maxAckPending: 1_024 },
    maxBytes: Math.max(maxRequestBytes, (connection.nats.info?.max_payload ?? 0) + 65_536),
    canPull: hasRoom,
    expiresMs: requestExpiresMs,
    onMessage: (message) => {
      const ackHeld = held.take(message);
      if (ackHeld === undefined) return;
      const ack = (): void => {
        const hadRoom = hasRoom();
        ackHeld();
        if (!hadRoom && hasRoom()) reading.resume();
      };
      if (message.subject.startsWith(eventSubject)) return onEvent(message.text(), ack);
      if (!message.subject.startsWith(requestSubject)) return onDue(message.text(), ack);
      const request = parseRedelivery(message.text());
      if (request === undefined) ack();
      else onRequest(request, ack);
    },
  });
  return {
    stop: async () => {
      await reading.stop();
      held.stop();
    },
  };
}
