/** What a live tail shows. */
export interface TailView<Item> {
  /** Newest first. */
  readonly items: readonly Item[];
  /** Number of items received since the start. */
  readonly received: number;
  /** Items that arrived while the tail is paused, and are shown when it continues. */
  readonly waiting: number;
}

/** The newest items of a stream. Paused, it keeps what it shows, and collects what arrives. */
export class Tail<Item> {
  readonly #maxItems: number;
  #shown: readonly Item[] = [];
  #arrived: Item[] = [];
  #received = 0;

  constructor(maxItems: number) {
    this.#maxItems = maxItems;
  }

  add(item: Item): void {
    this.#arrived.push(item);
    this.#received++;
    if (this.#arrived.length > this.#maxItems) this.#arrived.shift();
  }

  view(isPaused: boolean): TailView<Item> {
    if (!isPaused && this.#arrived.length > 0) {
      this.#shown = [...this.#arrived.reverse(), ...this.#shown].slice(0, this.#maxItems);
      this.#arrived = [];
    }
    return { items: this.#shown, received: this.#received, waiting: this.#arrived.length };
  }
}
