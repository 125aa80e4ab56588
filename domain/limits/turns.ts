/** Work that is done in steps. */
export interface SteppedWork {
  /** Does a small part. Must not throw. @returns its cost */
  step(): number;
  /** Whether something is left to do. */
  readonly hasMore: boolean;
}

/** Divides each turn of the event loop among all that have work: one step each, in turn, until the turn's cost is used up. */
export class Turns {
  readonly #costPerTurn: number;
  readonly #nextTurn: () => Promise<unknown>;
  readonly #waiting = new Set<SteppedWork>();
  #isRunning = false;

  /** @param nextTurn resolves in the next turn of the event loop */
  constructor(costPerTurn: number, nextTurn: () => Promise<unknown>) {
    this.#costPerTurn = costPerTurn;
    this.#nextTurn = nextTurn;
  }

  /** The work begins in the next turn. It may be added again while it waits. */
  add(work: SteppedWork): void {
    this.#waiting.add(work);
    // Never rejects: steps do not throw.
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.size > 0) {
      await this.#nextTurn();
      this.#useTurn();
    }
    this.#isRunning = false;
  }

  #useTurn(): void {
    let cost = 0;
    for (const work of this.#waiting) {
      this.#waiting.delete(work);
      cost += work.step();
      // It moves to the end.
      if (work.hasMore) this.#waiting.add(work);
      if (cost >= this.#costPerTurn) return;
    }
  }
}
