import { Deliverer } from "../attempts/deliver.ts";
import type { WebhookAttempts } from "../attempts/webhook-attempts.ts";
import type { DeliveryConfig, DeliveryPorts } from "../ports.ts";
import { decodeDelivery, type Delivery } from "../routing/delivery.ts";
import type { Routes } from "../routing/routes.ts";

/** The next attempt of a delivery that failed. */
export interface NextAttempt {
  /** Number of the attempt. */
  readonly attempt: number;
  /** Epoch ms. */
  readonly atMs: number;
}

/**
 * Attempts the heads of ordered queues like any due delivery, with the same permits, retry schedule and dead letters. A delivery that must
 * be attempted again is not scheduled in DELIVERIES: the next attempt is returned to the queue, which keeps it.
 */
export class QueueAttempts {
  readonly #deliverer: Deliverer;
  readonly #routes: Routes;
  readonly #next = new Map<string, NextAttempt>();

  constructor(config: DeliveryConfig, ports: DeliveryPorts, attempts: WebhookAttempts, routes: Routes) {
    const schedule = (_webhook: string, delivery: string, text: string, atMs: number): Promise<void> => {
      this.#next.set(delivery, { attempt: decodeDelivery(text).attempt, atMs });
      return Promise.resolve();
    };
    this.#deliverer = new Deliverer(config, { ...ports, deliveries: { ...ports.deliveries, schedule } }, attempts);
    this.#routes = routes;
  }

  /**
   * Returns the next attempt; undefined if the delivery is settled. If settling fails, call it again with the same object: the outcome is
   * then settled, without another attempt.
   */
  async attempt(delivery: Delivery): Promise<NextAttempt | undefined> {
    this.#next.delete(delivery.id);
    await this.#deliverer.attemptDue(delivery, this.#routes);
    const next = this.#next.get(delivery.id);
    this.#next.delete(delivery.id);
    return next;
  }
}
