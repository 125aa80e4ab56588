import { Neighbours } from "./neighbours.ts";

export interface SlotLimits {
  readonly slots: number;
  readonly ofOwner: number;
  /** Of an owner while no other is active. */
  readonly alone: number;
}

interface Owner {
  taken: number;
  readonly waiting: (() => void)[];
}

/**
 * At most so many at once, and of each owner so many: places to compute in, of which each occupies a thread. Of the owners that wait
 * and may, the one that had its turn longest ago is next; within an owner, whoever waits longest. An owner who is alone may have more:
 * that makes its short runs quicker, and what of it is still under way when another comes is all that the other finds before it.
 */
export class OwnerSlots {
  readonly #limits: SlotLimits;
  readonly #now: () => number;
  readonly #neighbours = new Neighbours();
  #free: number;
  /** Who had a turn lately comes last. */
  readonly #owners = new Map<string, Owner>();

  /** @param now ms, from anywhere; never goes back */
  constructor(limits: SlotLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
    this.#free = limits.slots;
  }

  get taken(): number {
    return this.#limits.slots - this.#free;
  }

  /** undefined when there was a free one: the common case must not cost a turn of the loop. */
  take(id: string): Promise<void> | undefined {
    const owner = this.#owners.get(id) ?? { taken: 0, waiting: [] };
    this.#owners.set(id, owner);
    const now = this.#now();
    this.#neighbours.sawActive(id, now);
    if (owner.waiting.length === 0 && this.#mayTake(id, owner, now)) {
      this.#grant(id, owner);
      return undefined;
    }
    const granted = new Promise<void>((resolve) => owner.waiting.push(resolve));
    this.#serve(now);
    return granted;
  }

  release(id: string): void {
    const owner = this.#owners.get(id);
    if (owner === undefined) return;
    owner.taken--;
    this.#free++;
    // Whoever came while this turn lasted is before it, too.
    this.#owners.delete(id);
    if (owner.taken > 0 || owner.waiting.length > 0) this.#owners.set(id, owner);
    this.#serve(this.#now());
  }

  /** Mostly one; several when an owner may have more than before, since its neighbours are gone. */
  #serve(now: number): void {
    for (let next = this.#next(now); next !== undefined; next = this.#next(now)) {
      const resume = next.owner.waiting.shift();
      this.#grant(next.id, next.owner);
      resume?.();
    }
  }

  #next(now: number): { readonly id: string; readonly owner: Owner } | undefined {
    for (const [id, owner] of this.#owners) if (owner.waiting.length > 0 && this.#mayTake(id, owner, now)) return { id, owner };
    return undefined;
  }

  #mayTake(id: string, owner: Owner, now: number): boolean {
    const { ofOwner, alone } = this.#limits;
    return this.#free > 0 && owner.taken < (this.#neighbours.has(id, now) ? ofOwner : alone);
  }

  #grant(id: string, owner: Owner): void {
    this.#free--;
    owner.taken++;
    this.#owners.delete(id);
    this.#owners.set(id, owner);
  }
}
