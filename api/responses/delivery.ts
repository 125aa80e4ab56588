import { isId } from "../../domain/ids.ts";
import type { StoredAttempt, StoredDeadLetter } from "../webhooks/ports.ts";
import type { Tested } from "../webhooks/test.ts";
import type { Answered } from "./answered.ts";
import type { attemptSchema, deadLetterSchema, testedWebhookSchema } from "./schemas-delivery.ts";

/** One attempt at a delivery. A test has no source. */
export function attemptResponse(stored: StoredAttempt): Answered<typeof attemptSchema> {
  const { attempt, at, durationMs, outcome, status, error } = stored;
  return {
    ...subjectOf(stored),
    attempt,
    at_ms: at,
    duration_ms: durationMs,
    outcome,
    response_status: status,
    cause: error,
  };
}

/** @param isWhole with the event itself */
export function deadLetterResponse(letter: StoredDeadLetter, isWhole: boolean): Answered<typeof deadLetterSchema> {
  const { attempts, diedAt, reason, payload } = letter;
  return {
    ...subjectOf(letter),
    attempts,
    died_at_ms: diedAt,
    cause: reason,
    ...(isWhole ? { event: JSON.parse(payload) as unknown } : {}),
  };
}

export function testResponse({ outcome, delivery, at, durationMs, status, error }: Tested): Answered<typeof testedWebhookSchema> {
  return { delivery_id: delivery, at_ms: at, duration_ms: durationMs, outcome, response_status: status, cause: error };
}

function subjectOf({ delivery, event, source, subscription, channel }: StoredAttempt | StoredDeadLetter) {
  return {
    delivery_id: delivery,
    event_id: event,
    source_id: isId("webhook", source) ? null : source,
    subscription_id: isId("webhook", subscription) ? null : subscription,
    event_name: channel,
  };
}
