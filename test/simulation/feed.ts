import type { SimulatedProcess } from "./process.ts";

const retryMs = 300;

/** What a process has subscribed to. It gets everything once and in order; what comes while it is cut off, after that. */
export class Feed<Item> {
  readonly process: SimulatedProcess;
  readonly #take: (item: Item) => void;
  #waiting: Item[] = [];
  #isRetrying = false;
  #isClosed = false;

  constructor(process: SimulatedProcess, take: (item: Item) => void) {
    this.process = process;
    this.#take = take;
  }

  /** Subscribes by a request. If it fails, nothing arrives, also if it has reached the server. */
  async open(subscribe: (feed: this) => void): Promise<this> {
    try {
      await this.process.request("nats", () => this.#isClosed || subscribe(this));
      return this;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  get isOpen(): boolean {
    return !this.#isClosed && this.process.isAlive;
  }

  push(item: Item): void {
    if (!this.isOpen) return;
    this.#waiting.push(item);
    this.#flush();
  }

  /** Nothing more arrives, not even what is on its way. */
  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
  }

  #flush(): void {
    if (!this.isOpen || this.#isRetrying) return;
    if (!this.process.isConnected) {
      this.#isRetrying = true;
      this.process.time.after(retryMs, () => {
        this.#isRetrying = false;
        this.#flush();
      });
      return;
    }
    for (const item of this.#waiting.splice(0)) this.process.push(() => this.isOpen && this.#take(item));
  }
}
