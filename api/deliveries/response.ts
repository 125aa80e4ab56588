import { isId } from "../../domain/ids.ts";
import type { HeaderList } from "../../domain/delivery/exchange.ts";
import { parseJsonOrNull } from "../../domain/json.ts";
import type { QueueHead, StoredAttempt, StoredDeadLetter, WebhookBacklog, WholeAttempt } from "../webhooks/ports.ts";
import { attemptResult as resultOf } from "../webhooks/response.ts";
import type { Answered } from "../http/response/answered.ts";
import type { ReadDelivery } from "./read-delivery.ts";
import type {
  attemptSchema,
  backlogSchema,
  deadLetterSchema,
  deliverySchema,
  failedSendSchema,
  lineHeadSchema,
  sendAttemptSchema,
} from "./schemas.ts";

/** One attempt at a delivery. A test has no source. */
export function attemptResponse(stored: StoredAttempt): Answered<typeof attemptSchema> {
  const { attempt, outcome } = stored;
  return { ...subjectOf(stored), attempt, outcome, ...resultOf(stored) };
}

/** A delivery to a webhook. */
export function deliveryResponse({ webhook, state, about, body, attempts }: ReadDelivery): Answered<typeof deliverySchema> {
  return { ...subjectOf(about), webhook_id: webhook, state, body, attempts: attempts.map(wholeAttempt) };
}

function wholeAttempt(stored: WholeAttempt) {
  const { attempt, outcome, exchange } = stored;
  const response = exchange?.response;
  return {
    attempt,
    outcome,
    ...resultOf(stored),
    request: exchange === undefined ? null : { method: "POST" as const, url: exchange.url, headers: headersOf(exchange.sent) },
    response:
      response === undefined
        ? null
        : {
            headers: headersOf(response.headers),
            headers_cut: response.areHeadersCut,
            body: response.body,
            body_encoding: response.encoding,
            body_cut: response.isCut,
          },
  };
}

const headersOf = (headers: HeaderList) => headers.map(([name, value]) => ({ name, value }));

/** @param isWhole with the event itself */
export function deadLetterResponse(letter: StoredDeadLetter, isWhole: boolean): Answered<typeof deadLetterSchema> {
  const { attempts, diedAt, reason, payload } = letter;
  return {
    ...subjectOf(letter),
    attempts,
    died_at_ms: diedAt,
    cause: reason,
    ...(isWhole ? { event: parseJsonOrNull(payload) } : {}),
  };
}

/** One attempt of what `$.send` asked for. */
export function sendAttemptResponse(stored: StoredAttempt): Answered<typeof sendAttemptSchema> {
  const { attempt, outcome } = stored;
  return { ...sendOf(stored), attempt, outcome, ...resultOf(stored) };
}

export function failedSendResponse(letter: StoredDeadLetter): Answered<typeof failedSendSchema> {
  const { attempts, diedAt, reason, payload } = letter;
  return {
    ...(letter.channel.startsWith("$send.") ? sendOf(letter) : waitingEventOf(letter)),
    attempts,
    died_at_ms: diedAt,
    cause: reason,
    argument: parseJsonOrNull(payload),
  };
}

/** Its event is the run, and its channel the kind. */
function sendOf({ delivery, event, channel }: Pick<StoredAttempt, "delivery" | "event" | "channel">) {
  const send = channel === "$send.email" ? "email" : channel === "$send.s3" ? "s3" : "http";
  return { delivery_id: delivery, run_id: event, send } as const;
}

/** An event for a workflow that was not active, and for which there was no room to wait. No event has a channel of `$send`. */
function waitingEventOf({ delivery, event, source, subscription, channel }: StoredDeadLetter) {
  const about = { event_id: event, source_id: source, subscription_id: subscription, event_name: channel };
  return { delivery_id: delivery, run_id: null, send: null, event: about };
}

/** @param lastAttempt of the first delivery in the queue */
export function backlogResponse(backlog: WebhookBacklog, lastAttempt: StoredAttempt | undefined): Answered<typeof backlogSchema> {
  const { due, scheduled, nextAt, queued, head } = backlog;
  return {
    due,
    scheduled: { count: scheduled, next_at_ms: nextAt ?? null },
    line: { count: queued, head: head === undefined ? null : headResponse(head, lastAttempt) },
  };
}

function headResponse(head: QueueHead, lastAttempt: StoredAttempt | undefined): Answered<typeof lineHeadSchema> {
  const { attempts, since, nextAt } = head;
  return {
    ...subjectOf(head),
    attempts,
    waiting_since_ms: since,
    next_attempt_at_ms: nextAt ?? null,
    last_attempt: lastAttempt === undefined ? null : resultOf(lastAttempt),
  };
}

function subjectOf({ delivery, event, source, subscription, channel }: Omit<QueueHead, "attempts" | "since" | "nextAt">) {
  return {
    delivery_id: delivery,
    event_id: event,
    source_id: isId("webhook", source) ? null : source,
    subscription_id: isId("webhook", subscription) ? null : subscription,
    event_name: channel,
  };
}
