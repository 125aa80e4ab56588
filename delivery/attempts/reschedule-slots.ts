/** A full source has run some of its backlog by then. */
const minDelayMs = 1_000;
/** Deliveries of one owner are handed over again at most at this rate. */
const slotMs = 5;

/**
 * Times at which deliveries to full sources are handed over again: one slot after the other for each owner. So deliveries keep their
 * order, and many of them do not all come back at once, only to be refused again.
 */
export class RescheduleSlots {
  /** Epoch ms of the last slot given out, by owner, oldest first. */
  readonly #last = new Map<string, number>();

  /** @returns epoch ms */
  next(owner: string, now: number): number {
    const slot = Math.max(now + minDelayMs, (this.#last.get(owner) ?? 0) + slotMs);
    this.#last.delete(owner);
    this.#last.set(owner, slot);
    for (const [first, at] of this.#last) {
      if (at >= now) break;
      this.#last.delete(first);
    }
    return slot;
  }
}
