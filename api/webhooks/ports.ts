import type { Exchange } from "../../domain/delivery/exchange.ts";
import type { PageRequest } from "../../domain/page.ts";
import type { DiedRange, RedeliveryRequest } from "../../domain/delivery/redelivery.ts";
import type { TestedWebhook, WebhookTest } from "../../domain/delivery/webhook-test.ts";

export const attemptOutcomes = ["delivered", "retry", "dead"] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

export const deliveryStates = ["delivered", "waiting", "dead", "ended"] as const;
export type DeliveryState = (typeof deliveryStates)[number];

interface Page<Item> {
  readonly items: readonly Item[];
  /** Size of the whole list. */
  readonly total: number;
  /** Number of items of the page that did not fit into its `maxBytes`; absent: none. */
  readonly left?: number;
}

/** The event and route of a delivery. */
interface Delivered {
  /** Cursor in its list. */
  readonly id: string;
  readonly delivery: string;
  readonly subscription: string;
  /** Public id of the emitter; the webhook's own in a test. */
  readonly source: string;
  readonly event: string;
  readonly channel: string;
}

export interface StoredAttempt extends Delivered {
  /** The first is 1. */
  readonly attempt: number;
  /** Epoch ms. */
  readonly at: number;
  readonly durationMs: number;
  readonly outcome: AttemptOutcome;
  readonly status: number | null;
  readonly error: string | null;
}

/** An attempt with what it sent and received, if that was recorded. */
export interface WholeAttempt extends Omit<StoredAttempt, "id"> {
  readonly exchange?: Exchange;
}

export interface StoredDeadLetter extends Delivered {
  readonly attempts: number;
  readonly reason: string;
  /** Epoch ms. */
  readonly diedAt: number;
  /** JSON text. */
  readonly payload: string;
}

export interface AttemptFilter {
  readonly delivery?: string;
  readonly event?: string;
  readonly outcome?: AttemptOutcome;
  /** Both included. */
  readonly sinceMs?: number;
  readonly untilMs?: number;
}

/** History of deliveries to webhooks. */
export interface DeliveryHistory {
  /** Newest first. @throws InvalidInput for a cursor of another list */
  pageAttempts(webhook: string, page: PageRequest & AttemptFilter): Promise<Page<StoredAttempt>>;
  /** The newest attempts at a delivery to one webhook or of one workflow, newest first. */
  readDelivery(delivery: string, limit: number): Promise<readonly WholeAttempt[]>;
  pageDeadLetters(webhook: string, page: PageRequest): Promise<Page<StoredDeadLetter>>;
  findDeadLetter(webhook: string, delivery: string): Promise<StoredDeadLetter | undefined>;
  /** @returns their number, and the id of the newest; undefined: there is none */
  countDeadLetters(webhook: string, range: DiedRange): Promise<{ readonly count: number; readonly newest: string | undefined }>;
  /** Those of these deliveries that are dead letters. */
  findDeadDeliveries(webhook: string, deliveries: readonly string[]): Promise<readonly string[]>;
  /** `ended`: it failed and is not a dead letter any more, or is being retried. */
  findDelivery(delivery: string): Promise<{ readonly webhook: string; readonly state: DeliveryState } | undefined>;
  /** Deletes these dead letters, or all of the webhook. Returns their number. */
  deleteDeadLetters(webhook: string, deliveries?: readonly string[]): Promise<number>;
  /** Deletes all records of the webhook's deliveries. */
  deleteWebhook(webhook: string): Promise<void>;
}

/** Stored deliveries of a webhook that are not delivered yet, without first attempts that go directly from a run. */
export interface WebhookBacklog {
  /** Due deliveries that wait for the delivery role or a permit of the endpoint. */
  readonly due: number;
  /** Deliveries that wait for a retry or for the event's delivery time. */
  readonly scheduled: number;
  /** The earliest of these times, epoch ms; undefined: there is none, or there are too many to read. */
  readonly nextAt: number | undefined;
  /** Deliveries in the queues of an ordered webhook. */
  readonly queued: number;
  /** The delivery that was queued first. */
  readonly head: QueueHead | undefined;
}

/** The first delivery in a queue of an ordered webhook: later ones of its source wait for it. */
export interface QueueHead extends Omit<Delivered, "id"> {
  /** Number of attempts so far. */
  readonly attempts: number;
  /** Epoch ms since when it is queued. */
  readonly since: number;
  /** Epoch ms of its next attempt; undefined: it has not failed yet. */
  readonly nextAt: number | undefined;
}

export interface Backlogs {
  /** @throws Unavailable */
  read(webhook: string): Promise<WebhookBacklog>;
}

/** Requests to the delivery role. */
export interface Redeliveries {
  /** Durable when it returns. @throws Unavailable */
  request(request: RedeliveryRequest): Promise<void>;
  /** @throws Unavailable when no delivery role is running; 504 `test_timeout` */
  test(request: WebhookTest): Promise<TestedWebhook>;
}
