import { decodeDelivery, type Delivery } from "../routing/delivery.ts";
import { Deliverer, type Posting } from "../attempts/deliver.ts";
import type { DeliveryConfig, DeliveryPorts } from "../ports.ts";
import type { Routes } from "../routing/routes.ts";

/** What is to be tried again: the number of the next attempt, and when it is, epoch ms. */
export interface Again {
  readonly attempt: number;
  readonly atMs: number;
}

/**
 * Attempts what is in line as all else is attempted that is due: with the same places at endpoints, waits and dead letters. Only what
 * is to be tried again becomes no message of its own: it is told to the line, which keeps it.
 */
export class QueueAttempts {
  readonly #deliverer: Deliverer;
  readonly #routes: Routes;
  readonly #again = new Map<string, Again>();

  constructor(config: DeliveryConfig, ports: DeliveryPorts, posting: Posting, routes: Routes) {
    const schedule = (_webhook: string, delivery: string, text: string, atMs: number): Promise<void> => {
      this.#again.set(delivery, { attempt: decodeDelivery(text).attempt, atMs });
      return Promise.resolve();
    };
    this.#deliverer = new Deliverer(config, { ...ports, deliveries: { ...ports.deliveries, schedule } }, posting);
    this.#routes = routes;
  }

  /** Undefined: nothing more is to be done for it. Repeated for the same object, an attempt that was made is settled, not made again. */
  async attempt(delivery: Delivery): Promise<Again | undefined> {
    this.#again.delete(delivery.id);
    await this.#deliverer.due(delivery, this.#routes);
    const again = this.#again.get(delivery.id);
    this.#again.delete(delivery.id);
    return again;
  }
}
