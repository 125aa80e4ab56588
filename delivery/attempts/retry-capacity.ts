import type { Delivery } from "../routing/delivery.ts";
import type { StreamUsage } from "./ports.ts";

/** Approximate size of a stored delivery besides its payload. */
const overheadBytes = 512;

/**
 * Decides whether a delivery may be stored in the stream DELIVERIES for a later attempt. The stream cannot refuse messages itself.
 *
 * | stream is | an owner's deliveries may hold |
 * |---|---|
 * | at most half full | any number of bytes |
 * | above half full | a quarter of the stream |
 * | full | a thirty-second of it |
 *
 * So the owner of a dead endpoint, whose deliveries accumulate, is refused first. Each replica counts what it has stored itself, and
 * may be handed what another one stored, so counts drift: they restart whenever the stream is nearly empty.
 */
export class RetryCapacity {
  readonly #usage: () => StreamUsage | undefined;
  readonly #bytes = new Map<string, number>();

  constructor(usage: () => StreamUsage | undefined) {
    this.#usage = usage;
  }

  hasCapacityFor(delivery: Delivery): boolean {
    const usage = this.#usage();
    if (usage === undefined || usage.maxBytes <= 0 || usage.bytes <= usage.maxBytes / 2) return true;
    const share = usage.bytes <= usage.maxBytes ? usage.maxBytes / 4 : usage.maxBytes / 32;
    return this.#bytesOf(delivery) + sizeOf(delivery) <= share;
  }

  stored(delivery: Delivery): void {
    const usage = this.#usage();
    if (usage !== undefined && usage.bytes <= usage.maxBytes / 8) this.#bytes.clear();
    this.#bytes.set(delivery.event.owner, this.#bytesOf(delivery) + sizeOf(delivery));
  }

  /** The delivery has become due or was withdrawn. */
  removed(delivery: Delivery): void {
    const bytes = this.#bytesOf(delivery) - sizeOf(delivery);
    if (bytes > 0) this.#bytes.set(delivery.event.owner, bytes);
    else this.#bytes.delete(delivery.event.owner);
  }

  #bytesOf({ event }: Delivery): number {
    return this.#bytes.get(event.owner) ?? 0;
  }
}

const sizeOf = ({ event }: Delivery): number => event.payload.length + overheadBytes;
