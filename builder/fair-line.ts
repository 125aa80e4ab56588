import { LRUCache } from "lru-cache";

/** Lets one piece of work happen at a time. Of the owners that wait, the one whose turn was longest ago is next; within an owner, who waits longest. */
export class FairLine {
  readonly #waiting = new Map<string, (() => Promise<void>)[]>();
  /** Number of the turn by owner; one who had none lately is first. */
  readonly #lastTurns = new LRUCache<string, number>({ max: 10_000 });
  #turns = 0;
  #isBusy = false;
  readonly #idle: (() => void)[] = [];

  /** @param owner whose work it is; that of nobody known is one owner's */
  run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const turn = (): Promise<void> => Promise.resolve().then(work).then(resolve, reject);
      const before = this.#waiting.get(owner);
      if (before === undefined) this.#waiting.set(owner, [turn]);
      else before.push(turn);
      if (!this.#isBusy) void this.#serve(); // Never rejects: a turn settles its own promise.
    });
  }

  onIdle(): Promise<void> {
    return !this.#isBusy ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }

  async #serve(): Promise<void> {
    this.#isBusy = true;
    for (let turn = this.#next(); turn !== undefined; turn = this.#next()) await turn();
    this.#isBusy = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  #next(): (() => Promise<void>) | undefined {
    const [owner] = [...this.#waiting.keys()].sort((a, b) => this.#lastTurnOf(a) - this.#lastTurnOf(b));
    if (owner === undefined) return undefined;
    const own = this.#waiting.get(owner) ?? [];
    const turn = own.shift();
    if (own.length === 0) this.#waiting.delete(owner);
    this.#lastTurns.set(owner, ++this.#turns);
    return turn;
  }

  #lastTurnOf(owner: string): number {
    return this.#lastTurns.get(owner) ?? 0;
  }
}
