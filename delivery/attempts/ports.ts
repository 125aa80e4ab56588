import type { RedeliveryRequest } from "../../domain/delivery/redelivery.ts";
import type { TestedWebhook, WebhookTest } from "../../domain/delivery/webhook-test.ts";
import type { StreamUsage } from "../../domain/limits/stream-share.ts";
import type { Reading, Schedules } from "../routing/ports.ts";

/** Milliseconds from a failed attempt to the next one; undefined after the last. `random` is in [0, 1). */
export type RetrySchedule = (attempt: number, random: number, retryAfterMs?: number) => number | undefined;

/** The stream DELIVERIES: deliveries that were not finished at once, each a message of its own. */
export interface Deliveries extends Schedules {
  /** Removes the schedule of a delivery. */
  withdraw(webhook: string, delivery: string): Promise<void>;
  /** Text of a delivery that is scheduled and not due; undefined if there is none. */
  findScheduled(webhook: string, delivery: string): Promise<string | undefined>;
  /** Size of the stream, up to about a second old. Absent or undefined if it is unknown or the stream has no limit. */
  usage?(): StreamUsage | undefined;
  /** Hands out due deliveries, due events and redelivery requests. A message that is not acked is handed out again. */
  read(readers: DueReaders): Promise<Reading>;
}

export interface DueReaders {
  /** @param seq of the message */
  readonly onDue: (text: string, seq: number, ack: () => void) => void;
  /** A scheduled event that is due. */
  readonly onEvent: (text: string, seq: number, ack: () => void) => void;
  readonly onRequest: (request: RedeliveryRequest, ack: () => void) => void;
}

/** Tests of webhooks that the API requests. Any number of replicas may serve; each request goes to one of them. */
export interface WebhookTests {
  serve(test: (request: WebhookTest) => Promise<TestedWebhook>): Promise<Reading>;
}
