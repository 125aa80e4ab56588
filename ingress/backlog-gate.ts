import type { Backlog } from "./ports.ts";

interface Known {
  messages: number;
  /** Invocations taken since the last look. */
  taken: number;
  lookedAt: number;
  isLooking: boolean;
}

const lookEveryMs = 500;

/**
 * Says whether a partition's queue has room. What is accepted faster than it is run would only wait, first in the queue and then beyond
 * its ack wait. The depth is looked up at most twice a second and only under traffic; in between what we took ourselves is added.
 */
export class BacklogGate {
  readonly #backlog: Backlog;
  readonly #limit: number;
  readonly #meanPack: (pool: string, partition: number) => number;
  readonly #pools = new Map<string, Map<number, Known>>();

  /** `meanPack` estimates how many invocations a waiting message holds. */
  constructor(backlog: Backlog, limit: number, meanPack: (pool: string, partition: number) => number) {
    this.#backlog = backlog;
    this.#limit = limit;
    this.#meanPack = meanPack;
  }

  /** Counts the invocation when there is room. */
  admits(pool: string, partition: number): boolean {
    const known = this.#get(pool, partition);
    if (!known.isLooking && performance.now() - known.lookedAt > lookEveryMs) void this.#look(pool, partition, known); // Never rejects.
    if (known.messages * this.#meanPack(pool, partition) + known.taken >= this.#limit) return false;
    known.taken++;
    return true;
  }

  #get(pool: string, partition: number): Known {
    let partitions = this.#pools.get(pool);
    if (partitions === undefined) this.#pools.set(pool, (partitions = new Map()));
    let known = partitions.get(partition);
    if (known === undefined)
      partitions.set(partition, (known = { messages: 0, taken: 0, lookedAt: Number.NEGATIVE_INFINITY, isLooking: false }));
    return known;
  }

  async #look(pool: string, partition: number, known: Known): Promise<void> {
    known.isLooking = true;
    const takenBefore = known.taken;
    try {
      known.messages = await this.#backlog.depth(pool, partition);
      known.taken -= takenBefore;
    } catch {
      // The queue cannot be reached: publishing will say so, better than we could.
    } finally {
      known.lookedAt = performance.now();
      known.isLooking = false;
    }
  }
}
