interface Entry<Item> {
  readonly item: Item;
  readonly rank: number;
  /** Settles equal ranks: who was put in first comes out first. */
  readonly turn: number;
}

/** Items by rank, the least first. An item put in again counts by its new rank; put in and take out cost the log of what is in. */
export class LazyHeap<Item> {
  #entries: Entry<Item>[] = [];
  /** The entry that counts of each item; older ones are skipped when they come up. */
  readonly #current = new Map<Item, Entry<Item>>();
  #turn = 0;

  get size(): number {
    return this.#current.size;
  }

  put(item: Item, rank: number): void {
    if (this.#current.get(item)?.rank === rank) return;
    if (this.#entries.length > 2 * this.#current.size + 64) this.#entries = [...this.#current.values()].toSorted(byRank); // Sorted is a heap.
    const entry = { item, rank, turn: this.#turn++ };
    this.#current.set(item, entry);
    this.#entries.push(entry);
    this.#rise(this.#entries.length - 1);
  }

  remove(item: Item): void {
    this.#current.delete(item);
  }

  takeLeast(): Item | undefined {
    for (let entry = this.#pop(); entry !== undefined; entry = this.#pop()) {
      if (this.#current.get(entry.item) !== entry) continue;
      this.#current.delete(entry.item);
      return entry.item;
    }
    return undefined;
  }

  #pop(): Entry<Item> | undefined {
    const [least] = this.#entries;
    const last = this.#entries.pop();
    if (last !== undefined && this.#entries.length > 0) {
      this.#entries[0] = last;
      this.#sink(0);
    }
    return least;
  }

  #rise(from: number): void {
    for (let at = from; at > 0;) {
      const parent = (at - 1) >>> 1;
      if (!this.#swapWhenLess(at, parent)) return;
      at = parent;
    }
  }

  #sink(from: number): void {
    for (let at = from; ;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const child = this.#isLess(right, left) ? right : left;
      if (!this.#swapWhenLess(child, at)) return;
      at = child;
    }
  }

  #swapWhenLess(a: number, b: number): boolean {
    const [first, second] = [this.#entries[a], this.#entries[b]];
    if (first === undefined || second === undefined || !isLess(first, second)) return false;
    [this.#entries[a], this.#entries[b]] = [second, first];
    return true;
  }

  #isLess(a: number, b: number): boolean {
    const [first, second] = [this.#entries[a], this.#entries[b]];
    return first !== undefined && second !== undefined && isLess(first, second);
  }
}

const byRank = (a: Entry<unknown>, b: Entry<unknown>): number => a.rank - b.rank || a.turn - b.turn;
const isLess = (a: Entry<unknown>, b: Entry<unknown>): boolean => byRank(a, b) < 0;
