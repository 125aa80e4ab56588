import { laneOf, type ReplayedEvent } from "../../../domain/event/replay.ts";
import { replayConsumer, replayFilter, replayLaneCount, replaySubject, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";
import { readQueue } from "../read/queue-reader.ts";
import { HeldMessages } from "../read/held-messages.ts";
import { defaultAckWaitMs, requestExpiresMs } from "./due-deliveries.ts";

/** Bound on unconfirmed messages, each of which may have megabytes. They are stored in the order in which they were sent. */
const batchSize = 25;

/** Resolves when all events are stored. @throws Unavailable, LimitExceeded; then the first ones may be stored */
export async function publishReplay({ publisher }: Connection, events: readonly ReplayedEvent[]): Promise<void> {
  for (let start = 0; start < events.length; start += batchSize) {
    await Promise.all(
      events.slice(start, start + batchSize).map((event) => {
        const subject = replaySubject(laneOf(event.source), event.source);
        return publisher.publish(subject, JSON.stringify(event), { messageId: `replay.${event.emitId}` });
      }),
    );
  }
}

/** Hands out one event of each lane at a time: a crash repeats at most one, and keeps the order. */
export async function readReplays(connection: Connection, onEvent: (text: string, done: () => void) => void): Promise<Stoppable> {
  const held = new HeldMessages(defaultAckWaitMs);
  const lanes = await Promise.all(
    Array.from({ length: replayLaneCount }, (_, lane) =>
      readQueue({
        connection,
        stream: streams.deliveries,
        consumer: replayConsumer(lane),
        create: { filter: replayFilter(lane), ackWaitMs: defaultAckWaitMs, maxAckPending: 1 },
        expiresMs: requestExpiresMs,
        onMessage: (message) => {
          const ack = held.take(message);
          if (ack !== undefined) onEvent(message.text(), ack);
        },
      }),
    ),
  );
  return {
    stop: async () => {
      await Promise.all(lanes.map((lane) => lane.stop()));
      held.stop();
    },
  };
}
