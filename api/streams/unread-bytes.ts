import { Budget, type BudgetEntry } from "../../domain/limits/budget.ts";
import type { UnreadLimits } from "./ports.ts";

export const defaultUnreadLimits: UnreadLimits = { perUser: 8 * 2 ** 20, total: 64 * 2 ** 20 };

/** Bytes that one stream holds in memory for its reader. */
export interface UnreadShare {
  /** States how much the stream holds. False: that is too much, and no room can be made; nothing changes then. */
  set(bytes: number): boolean;
}

/**
 * Bounds what all streams hold for readers that do not read. A user at the limit loses the stream of theirs that holds the most, which is the
 * slowest, before a stream that holds nothing.
 */
export class UnreadBytes {
  readonly #budget: Budget;
  readonly #byUser = new Map<string, Map<BudgetEntry, () => void>>();

  constructor({ perUser, total }: UnreadLimits) {
    this.#budget = new Budget({ total, share: perUser });
  }

  get used(): number {
    return this.#budget.used;
  }

  /** @param drop ends the stream at once, without what its reader has not read */
  open(user: string, drop: () => void): UnreadShare {
    const entry = this.#budget.open(user, () => {
      drop();
      return true;
    });
    return {
      set: (bytes) => {
        if (bytes <= entry.amount) return this.#release(entry, entry.amount - bytes);
        while (!entry.take(bytes - entry.amount)) {
          const slowest = entry.amount > 0 ? undefined : this.#slowestOf(user);
          if (slowest === undefined) return false;
          this.#byUser.get(user)?.get(slowest)?.();
          this.#release(slowest, slowest.amount);
        }
        return this.#note(entry, drop);
      },
    };
  }

  #note(entry: BudgetEntry, drop: () => void): true {
    const entries = this.#byUser.get(entry.holder) ?? new Map<BudgetEntry, () => void>();
    this.#byUser.set(entry.holder, entries.set(entry, drop));
    return true;
  }

  #release(entry: BudgetEntry, bytes: number): true {
    entry.release(bytes);
    const entries = this.#byUser.get(entry.holder);
    if (entry.amount === 0 && entries?.delete(entry) === true && entries.size === 0) this.#byUser.delete(entry.holder);
    return true;
  }

  #slowestOf(user: string): BudgetEntry | undefined {
    let slowest: BudgetEntry | undefined;
    for (const [entry] of this.#byUser.get(user) ?? []) if (entry.amount > (slowest?.amount ?? 0)) slowest = entry;
    return slowest;
  }
}
