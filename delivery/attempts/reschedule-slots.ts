/** By then a source with a full backlog has run some of it, and slow attempts of an owner may have ended. */
const minDelayMs = 1_000;
/** Interval between deliveries of one owner that are rescheduled. */
const slotMs = 5;
/** Rate at which deliveries of one owner are stored again: 4 MiB a second. */
const bytesPerMs = 4_096;

/**
 * Times at which deliveries that are refused for their owner's backlog or places are due again, one slot after the other for each owner.
 * Deliveries keep their order, and do not all return at once only to be refused again.
 */
export class RescheduleSlots {
  /** Epoch ms of each owner's last slot, oldest first. */
  readonly #last = new Map<string, number>();

  /** @returns epoch ms */
  next(owner: string, now: number, bytes = 0): number {
    const slot = Math.max(now + minDelayMs, (this.#last.get(owner) ?? 0) + Math.max(slotMs, Math.round(bytes / bytesPerMs)));
    this.#last.delete(owner);
    this.#last.set(owner, slot);
    for (const [first, at] of this.#last) {
      if (at >= now) break;
      this.#last.delete(first);
    }
    return slot;
  }
}
