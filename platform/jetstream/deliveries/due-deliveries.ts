import type { Redeliveries } from "../../../api/webhooks/ports.ts";
import type { Deliveries, DueReaders } from "../../../delivery/attempts/ports.ts";
import { parseRedelivery, type RedeliveryRequest } from "../../../domain/delivery/redelivery.ts";
import { deliverSubject, redeliverySubject, retrySubject, scheduledEvents, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";
import { readQueue } from "../read/queue-reader.ts";
import { HeldMessages } from "../read/held-messages.ts";
import { isMessageNotFound } from "../connection/errors.ts";
import { requestWebhookTest } from "../requests/webhook-test-requests.ts";
import { followDeliveriesUsage } from "../streams/stream-limits.ts";
import { endSchedule, publishScheduled } from "../schedules.ts";

/** What the delivery role does with its own deliveries. @param consumer the durable consumer of due deliveries */
export function createDeliveries(connection: Connection, consumer: string): Deliveries {
  return {
    schedule: async (webhook, delivery, text, atMs, messageId) => {
      await publishScheduled(connection.publisher, {
        subject: retrySubject(webhook, delivery),
        schedule: { kind: "at", atMs },
        target: deliverSubject(webhook, delivery),
        body: text,
        messageId,
      });
    },
    withdraw: (webhook, delivery) => endSchedule(connection, streams.deliveries, retrySubject(webhook, delivery)),
    usage: followDeliveriesUsage(connection),
    findScheduled: (webhook, delivery) => findScheduled(connection, webhook, delivery),
    read: (readers) => readDue(connection, consumer, readers),
  };
}

/** What the API requests of the delivery role. */
export function createRedeliveries(connection: Connection): Redeliveries {
  return {
    request: (request) => requestRedelivery(connection, request),
    test: (request) => requestWebhookTest(connection.nats, request),
  };
}

/** Requests to deliver again; durable once it returns. @throws Unavailable */
export async function requestRedelivery({ publisher }: Pick<Connection, "publisher">, request: RedeliveryRequest): Promise<void> {
  await publisher.publish(redeliverySubject(request.webhook), JSON.stringify(request));
}

/** Text of a delivery that is scheduled and not due. */
export async function findScheduled({ manager }: Connection, webhook: string, delivery: string): Promise<string | undefined> {
  try {
    const message = await manager.direct.getMessage(streams.deliveries, { last_by_subj: retrySubject(webhook, delivery) });
    return message?.string();
  } catch (error) {
    if (isMessageNotFound(error)) return undefined;
    throw error;
  }
}

/** Pull requests overlap, so a few times as many bytes may be in flight. */
const maxRequestBytes = 2 * 1_048_576;
const requestSubject = redeliverySubject("");
const eventSubject = deliverSubject(scheduledEvents, "");

/** A replica that dies or stalls delays its messages by the ack wait, and those that its open pull request receives by its expiry too. */
export const defaultAckWaitMs: number = 3_500;
export const requestExpiresMs = 1_000;
/** Bound on bytes of messages in progress, besides those that one pull request may bring. Attempts of one replica hold fewer. */
const maxHeldBytes = 64 * 1_048_576;
/** Of all replicas. Each attempts at most 896 deliveries at a time and reschedules others at once, so it rarely limits eight of them. */
const maxAckPending = 8_192;

/** Reads due deliveries, due scheduled events, and redelivery requests. Acks requests that cannot be parsed. */
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
    create: { filter: "deliver.>", ackWaitMs, maxAckPending },
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
      if (message.subject.startsWith(eventSubject)) return onEvent(message.text(), message.seq, ack);
      if (!message.subject.startsWith(requestSubject)) return onDue(message.text(), message.seq, ack);
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
