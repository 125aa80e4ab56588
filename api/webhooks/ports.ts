import type { PageRequest } from "../../domain/page.ts";
import type { RedeliveryRequest } from "../../domain/redelivery.ts";
import type { TestedWebhook, WebhookTest } from "../../domain/webhook-test.ts";

export const attemptOutcomes = ["delivered", "retry", "dead"] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

interface Page<Item> {
  readonly items: readonly Item[];
  /** Of the whole list. */
  readonly total: number;
}

/** What a delivery is about. */
interface Delivered {
  /** Cursor of its list. */
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

/** What became of deliveries to webhooks. */
export interface DeliveryHistory {
  /** Newest first. @throws InvalidInput for a cursor of another list */
  pageAttempts(webhook: string, page: PageRequest & AttemptFilter): Promise<Page<StoredAttempt>>;
  pageDeadLetters(webhook: string, page: PageRequest): Promise<Page<StoredDeadLetter>>;
  findDeadLetter(webhook: string, delivery: string): Promise<StoredDeadLetter | undefined>;
  /** `ended`: it failed for good and is no dead letter any more, or is just being tried again. */
  findDelivery(
    delivery: string,
  ): Promise<{ readonly webhook: string; readonly state: "delivered" | "waiting" | "dead" | "ended" } | undefined>;
  /** Without deliveries: all of the webhook. Returns how many there were. */
  deleteDeadLetters(webhook: string, deliveries?: readonly string[]): Promise<number>;
  /** All that is kept of it. */
  deleteWebhook(webhook: string): Promise<void>;
}

/** What is stored for a webhook and not delivered yet. First attempts that go straight from a run are not among it. */
export interface WebhookBacklog {
  /** Their time has come, and they wait for whoever delivers or for a place at the endpoint. */
  readonly due: number;
  /** With a time of their own: of their next attempt, or that their event asked for. */
  readonly scheduled: number;
  /** The first of those times, epoch ms; undefined: there is none, or there are too many to look at. */
  readonly nextAt: number | undefined;
  /** In the line of an ordered webhook. */
  readonly inLine: number;
  /** The first in line. */
  readonly head: LineHead | undefined;
}

/** The delivery that all others in line wait for. */
export interface LineHead extends Omit<Delivered, "id"> {
  /** Made so far. */
  readonly attempts: number;
  /** In line since then, epoch ms. */
  readonly since: number;
  /** Epoch ms of its next attempt; undefined: it has not failed yet. */
  readonly nextAt: number | undefined;
}

export interface Backlogs {
  /** @throws Unavailable */
  read(webhook: string): Promise<WebhookBacklog>;
}

/** What whoever delivers is asked for. */
export interface Redeliveries {
  /** Durable when it returns. @throws Unavailable */
  request(request: RedeliveryRequest): Promise<void>;
  /** @throws Unavailable when nobody delivers; 504 `test_timeout` */
  test(request: WebhookTest): Promise<TestedWebhook>;
}
