/** By then a source with a full backlog has run some of it. */
const minDelayMs = 1_000;
/** Interval between deliveries of one owner that are rescheduled. */
const slotMs = 5;

/**
 * Times at which deliveries to sources with a full backlog are due again, one slot after the other for each owner. Deliveries keep their
 * order, and do not all return at once only to be refused again.
 */
export class RescheduleSlots {
  /** Epoch ms of each owner's last slot, oldest first. */
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
