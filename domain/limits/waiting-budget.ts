import { Budget, type BudgetEntry, type BudgetLimits } from "./budget.ts";

interface Waiting {
  readonly entry: BudgetEntry;
  readonly amount: number;
  readonly grant: () => void;
}

/** A {@link Budget} whose holders wait for room: each first come, first served, and the holders in turn. */
export class WaitingBudget {
  readonly #budget: Budget;
  /** By holder. A holder that was granted something moves to the end. */
  readonly #waiting = new Map<string, Set<Waiting>>();

  constructor(limits: BudgetLimits) {
    this.#budget = new Budget(limits);
  }

  get used(): number {
    return this.#budget.used;
  }

  /** @param cut ends the entry to make room for another holder. Absent: it cannot be ended */
  open(holder: string, cut: () => boolean): WaitingEntry {
    return new WaitingEntry(this.#budget.open(holder, cut), this);
  }

  /** @throws the signal's reason when it aborts first */
  async take(entry: BudgetEntry, amount: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const others = this.#waiting.get(entry.holder);
    if (others === undefined && entry.take(amount)) return;
    const waiting = others ?? new Set();
    this.#waiting.set(entry.holder, waiting);
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#remove(waiter);
        reject(signal.reason as Error);
      };
      const waiter: Waiting = {
        entry,
        amount,
        grant: () => {
          signal.removeEventListener("abort", leave);
          resolve();
        },
      };
      waiting.add(waiter);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  /** Grants what there is room for now. */
  serve(): void {
    for (let isGranted = true; isGranted;) {
      isGranted = false;
      const holders = Array.from(this.#waiting.keys()); // Granting moves a holder to the end.
      for (const holder of holders) {
        const waiting = this.#waiting.get(holder) ?? new Set();
        const [next] = waiting;
        if (next === undefined || !next.entry.take(next.amount)) continue;
        isGranted = true;
        this.#remove(next);
        if (this.#waiting.delete(holder)) this.#waiting.set(holder, waiting);
        next.grant();
      }
    }
  }

  #remove(waiter: Waiting): void {
    const waiting = this.#waiting.get(waiter.entry.holder);
    if (waiting?.delete(waiter) === true && waiting.size === 0) this.#waiting.delete(waiter.entry.holder);
  }
}

/** What a holder has taken for one purpose. */
export class WaitingEntry {
  readonly #entry: BudgetEntry;
  readonly #budget: WaitingBudget;

  constructor(entry: BudgetEntry, budget: WaitingBudget) {
    this.#entry = entry;
    this.#budget = budget;
  }

  /** Takes more, once there is room. @throws the signal's reason when it aborts first */
  take(amount: number, signal: AbortSignal): Promise<void> {
    return this.#budget.take(this.#entry, amount, signal);
  }

  /** Gives back what exceeds the amount; may be called more than once. */
  shrink(amount = 0): void {
    this.#entry.release(Math.max(0, this.#entry.amount - amount));
    this.#budget.serve();
  }
}
