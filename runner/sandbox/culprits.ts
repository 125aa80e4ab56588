import { killWindowMs } from "../../domain/kills.ts";

/**
 * Owners of whom a run cost its process not long ago, or filled its memory, which slows whatever shares the process: what they run stays
 * apart from others' and gives way to it.
 */
export class Culprits {
  /** Until when, epoch ms; who came first stands first. */
  readonly #until = new Map<string, number>();

  blame(owner: string): void {
    const now = Date.now();
    for (const [other, until] of this.#until) if (until <= now) this.#until.delete(other);
    this.#until.set(owner, now + killWindowMs);
  }

  has(owner: string): boolean {
    return (this.#until.get(owner) ?? 0) > Date.now();
  }

  /** Epoch ms; 0 when there are none. */
  get lastUntil(): number {
    return Math.max(0, ...this.#until.values());
  }
}
