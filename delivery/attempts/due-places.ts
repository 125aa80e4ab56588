import { Budget } from "../../domain/limits/budget.ts";
import { FairSemaphore } from "../../domain/limits/fair-semaphore.ts";
import type { Delivery } from "../routing/delivery.ts";

/** Of one replica. */
const maxPlaces = 896;
const maxPlacesAlone = 768;
/** An owner beside others may hold this share of the free places: 128 while all are free, fewer the more are taken, so some stay free. */
const shareOfFree = 1 / 7;
const mebibyte = 1_024 * 1_024;
/** Less than the bytes with which a replica stops requesting messages of NATS. */
const maxBytes = 56 * mebibyte;
const maxOwnerBytes = 8 * mebibyte;
/** Approximate size of a delivery besides its payload. */
const overheadBytes = 512;

export interface DuePlace {
  /** Gives the place back; may be called more than once. */
  release(): void;
}

/**
 * Places of due deliveries that are being attempted, or wait for a permit: each holds its message in NATS and its payload in memory.
 * Owners have shares, so that slow endpoints of one owner do not keep NATS from handing out the due deliveries of others.
 */
export class DuePlaces {
  readonly #places: FairSemaphore;
  readonly #bytes = new Budget({ total: maxBytes, share: maxOwnerBytes });

  constructor(now: () => number = () => performance.now()) {
    const permitsPerKey = (): number => Math.ceil((maxPlaces - this.#places.taken) * shareOfFree);
    this.#places = new FairSemaphore({ permits: maxPlaces, permitsPerKey, alone: { permits: maxPlacesAlone, now } });
  }

  /** Undefined: the owner's share is used up, or all places are taken. */
  take(owner: string, delivery: Delivery): DuePlace | undefined {
    const entry = this.#bytes.open(owner);
    if (!entry.take(Math.min(deliveryBytes(delivery), maxOwnerBytes))) return undefined;
    if (!this.#places.tryAcquire(owner)) {
      entry.release();
      return undefined;
    }
    let isHeld = true;
    return {
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        entry.release();
        this.#places.release(owner);
      },
    };
  }
}

/** Approximate size of a delivery in memory and in a stream. */
export const deliveryBytes = ({ event }: Delivery): number => event.payload.length + (event.sealed?.length ?? 0) + overheadBytes;
