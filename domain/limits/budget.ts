export interface BudgetLimits {
  readonly total: number;
  /** What one holder may have; the total when absent. */
  readonly share?: number;
}

/**
 * Ends an entry to make room for another holder, and releases it. Is called first for all entries of a holder, oldest first, to find one that
 * no caller needs now; then again with `isForced`, for one that its holder would miss.
 * @returns false: it cannot be ended
 */
export type Cut = (isForced: boolean) => boolean;

interface Holder {
  amount: number;
  /** Of its entries that can be cut off, in the order in which they took something. */
  readonly cuttable: Set<BudgetEntry>;
}

/**
 * Shares a bounded amount (bytes, connections, requests) among holders (client addresses, owners).
 *
 * An entry that no caller waits for can be cut off: when the total is used up, the holder with the most loses its oldest such entry.
 * So a holder may use everything while no other asks, and one that uses little always finds room. Where entries cannot be cut off, a
 * share bounds each holder.
 */
export class Budget {
  readonly #limits: Required<BudgetLimits>;
  readonly #holders = new Map<string, Holder>();
  #used = 0;

  constructor({ total, share = total }: BudgetLimits) {
    this.#limits = { total, share };
  }

  get used(): number {
    return this.#used;
  }

  /** What the holder has taken. */
  usedBy(holder: string): number {
    return this.#holders.get(holder)?.amount ?? 0;
  }

  /** @param cut Absent: the entry cannot be ended */
  open(holder: string, cut?: Cut): BudgetEntry {
    return new BudgetEntry(this, holder, cut);
  }

  /** @returns false when there is no room; nothing is taken then */
  take(entry: BudgetEntry, amount: number): boolean {
    // An entry that has taken nothing must not be cut off: that makes no room.
    if (amount === 0) return true;
    const wanted = (this.#holders.get(entry.holder)?.amount ?? 0) + amount;
    if (wanted > this.#limits.share) return false;
    if (this.#used + amount > this.#limits.total && !this.#makeRoom(entry.holder, wanted, amount)) return false;
    this.#add(entry, amount);
    return true;
  }

  move(entry: BudgetEntry, rename: () => void): void {
    const { amount } = entry;
    this.giveBack(entry, amount, true);
    rename();
    if (amount > 0) this.#add(entry, amount);
  }

  #add(entry: BudgetEntry, amount: number): void {
    let holder = this.#holders.get(entry.holder);
    if (holder === undefined) this.#holders.set(entry.holder, (holder = { amount: 0, cuttable: new Set() }));
    if (entry.cut !== undefined) holder.cuttable.add(entry);
    holder.amount += amount;
    this.#used += amount;
  }

  /** @param isLast whether the entry has nothing else */
  giveBack(entry: BudgetEntry, amount: number, isLast: boolean): void {
    const holder = this.#holders.get(entry.holder);
    if (holder === undefined) return;
    if (isLast) holder.cuttable.delete(entry);
    holder.amount -= amount;
    this.#used -= amount;
    if (holder.amount === 0) this.#holders.delete(entry.holder);
  }

  /** Only a holder that has more than the one that asks will have afterwards loses anything. */
  #makeRoom(asking: string, wanted: number, amount: number): boolean {
    while (this.#used + amount > this.#limits.total) {
      const [name, holder] = this.#largest();
      if (holder === undefined || name === asking || holder.amount <= wanted) return false;
      if (!cutOldest(holder, false) && !cutOldest(holder, true)) return false;
    }
    return true;
  }

  #largest(): readonly [name: string, holder: Holder | undefined] {
    let [largest, found]: [string, Holder | undefined] = ["", undefined];
    for (const [name, holder] of this.#holders) if (found === undefined || holder.amount > found.amount) [largest, found] = [name, holder];
    return [largest, found];
  }
}

/** What a holder has opened, and what it took for it. */
export class BudgetEntry {
  readonly cut: Cut | undefined;
  readonly #budget: Budget;
  #holder: string;
  #amount = 0;

  constructor(budget: Budget, holder: string, cut: Cut | undefined) {
    this.#budget = budget;
    this.#holder = holder;
    this.cut = cut;
  }

  get holder(): string {
    return this.#holder;
  }

  get amount(): number {
    return this.#amount;
  }

  /** Takes more. False: there is no room, and nothing was taken. */
  take(amount: number): boolean {
    if (!this.#budget.take(this, amount)) return false;
    this.#amount += amount;
    return true;
  }

  /** Gives back a part, or everything; may be called more than once. */
  release(amount = this.#amount): void {
    const given = Math.min(amount, this.#amount);
    if (given === 0) return;
    this.#amount -= given;
    this.#budget.giveBack(this, given, this.#amount === 0);
  }

  /** Charges another holder for it, who may exceed its share by that. */
  move(holder: string): void {
    if (holder === this.#holder) return;
    this.#budget.move(this, () => (this.#holder = holder));
  }
}

function cutOldest({ cuttable }: Holder, isForced: boolean): boolean {
  for (const entry of cuttable) {
    if (entry.cut?.(isForced) !== true) continue;
    entry.release();
    return true;
  }
  return false;
}
