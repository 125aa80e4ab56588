import { ownerShareBytes, type StreamUsage } from "../../domain/limits/stream-share.ts";
import type { Delivery } from "../routing/delivery.ts";
import { deliveryBytes } from "./due-places.ts";

/**
 * Decides whether a delivery may be stored in the stream DELIVERIES for a later attempt, by the owner's share. The stream cannot refuse
 * messages itself. So the owner of a dead endpoint, whose deliveries accumulate, is refused first. Each replica counts what it has stored
 * itself, and may be handed what another one stored, so counts drift: they restart whenever the stream is nearly empty.
 */
export class RetryCapacity {
  readonly #usage: () => StreamUsage | undefined;
  readonly #bytes = new Map<string, number>();

  constructor(usage: () => StreamUsage | undefined) {
    this.#usage = usage;
  }

  hasCapacityFor(delivery: Delivery): boolean {
    return this.#bytesOf(delivery) + deliveryBytes(delivery) <= ownerShareBytes(this.#usage());
  }

  stored(delivery: Delivery): void {
    const usage = this.#usage();
    if (usage !== undefined && usage.bytes <= usage.maxBytes / 8) this.#bytes.clear();
    this.#bytes.set(delivery.event.owner, this.#bytesOf(delivery) + deliveryBytes(delivery));
  }

  /** The delivery has become due or was withdrawn. */
  removed(delivery: Delivery): void {
    const bytes = this.#bytesOf(delivery) - deliveryBytes(delivery);
    if (bytes > 0) this.#bytes.set(delivery.event.owner, bytes);
    else this.#bytes.delete(delivery.event.owner);
  }

  #bytesOf({ event }: Delivery): number {
    return this.#bytes.get(event.owner) ?? 0;
  }
}
