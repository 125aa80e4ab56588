import { parseEmittedEvent, type EmittedEvent } from "../../../domain/event/emitted-event.ts";
import { parseJsonOrNull } from "../../../domain/json.ts";
import { emittedSubject } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";

/** Announces a scheduled event that has become due to live streams. Best effort, since the history has it. Never throws. */
export function announceEmitted(
  { nats }: Pick<Connection, "nats">,
  { source, owner, emitId, eventId, run, channel, dedupeId, summary, ts, payload }: EmittedEvent,
): void {
  const event = {
    source,
    owner,
    emitId,
    channel,
    ts,
    payload,
    ...(eventId === undefined ? {} : { eventId }),
    ...(run === undefined ? {} : { run }),
    ...(dedupeId === undefined ? {} : { dedupeId }),
    ...(summary === undefined ? {} : { summary }),
  };
  try {
    nats.publish(emittedSubject(source), JSON.stringify(event));
  } catch {
    // The connection is closed, or the event exceeds NATS's max_payload.
  }
}

/** Reports each scheduled event that becomes due from now on, until the returned function is called. */
export function followEmitted({ nats }: Pick<Connection, "nats">, onEvent: (event: EmittedEvent) => void): () => void {
  const subscription = nats.subscribe(emittedSubject("*"), {
    callback: (error, message) => {
      const event = error === null ? parseEmittedEvent(parseJsonOrNull(message.string())) : undefined;
      if (event !== undefined) onEvent(event);
    },
  });
  return () => subscription.unsubscribe();
}
