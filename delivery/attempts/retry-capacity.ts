import type { Delivery } from "../routing/delivery.ts";
import type { StreamUsage } from "./ports.ts";

/** Of a stored delivery besides its payload, about. */
const overheadBytes = 512;

/**
 * Decides whether a delivery may wait for a later attempt in the stream DELIVERIES, which cannot refuse messages itself. While the stream is at most half
 * full, everybody's may. Above that an owner's deliveries may hold a quarter of it, and once it is full a thirty-second: the owner of a dead
 * endpoint, whose deliveries pile up, is the first to be refused.
 *
 * It counts what this process has stored; what was stored before a restart counts for the stream, and for no owner. Any replica may be handed what
 * another has stored, so counts drift: they begin again whenever the stream is nearly empty, and only an owner whose deliveries pile up has a high one.
 */
export class RetryCapacity {
  readonly #usage: () => StreamUsage | undefined;
  readonly #bytes = new Map<string, number>();

  constructor(usage: () => StreamUsage | undefined) {
    this.#usage = usage;
  }

  hasRoomFor(delivery: Delivery): boolean {
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

  /** It is due, or was withdrawn. */
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
