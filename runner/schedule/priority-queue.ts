interface Entry<Item> {
  readonly item: Item;
  readonly rank: number;
  /** Order of insertion, for equal ranks: first in, first out. */
  readonly turn: number;
}

/** A binary heap: `pop` returns the item with the lowest rank. */
export class PriorityQueue<Item> {
  readonly #entries: Entry<Item>[] = [];
  #turn = 0;

  push(item: Item, rank: number): void {
    this.#entries.push({ item, rank, turn: this.#turn++ });
    for (let at = this.#entries.length - 1; at > 0 && this.#swapIfLess(at, (at - 1) >>> 1);) at = (at - 1) >>> 1;
  }

  pop(): { readonly item: Item; readonly rank: number } | undefined {
    const [least] = this.#entries;
    const last = this.#entries.pop();
    if (last === undefined || this.#entries.length === 0) return least;
    this.#entries[0] = last;
    for (let at = 0; ;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const child = this.#isLess(right, left) ? right : left;
      if (!this.#swapIfLess(child, at)) return least;
      at = child;
    }
  }

  #isLess(a: number, b: number): boolean {
    const [first, second] = [this.#entries[a], this.#entries[b]];
    if (first === undefined || second === undefined) return false;
    return first.rank < second.rank || (first.rank === second.rank && first.turn < second.turn);
  }

  #swapIfLess(a: number, b: number): boolean {
    const [first, second] = [this.#entries[a], this.#entries[b]];
    if (first === undefined || second === undefined || !this.#isLess(a, b)) return false;
    [this.#entries[a], this.#entries[b]] = [second, first];
    return true;
  }
}
