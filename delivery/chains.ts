/**
 * Runs actions of one key one after the other, of different keys side by side. A key costs memory only while something runs. Each is
 * told how many milliseconds it has waited for those before it.
 */
export class Chains {
  readonly #tails = new Map<string, Promise<void>>();

  append(key: string, action: (waitedMs: number) => Promise<void>): Promise<void> {
    const before = this.#tails.get(key);
    const since = performance.now();
    const act = (): Promise<void> => action(performance.now() - since);
    const tail = before === undefined ? action(0) : before.then(act, act);
    this.#tails.set(key, tail);
    const forget = () => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    };
    tail.then(forget, forget);
    return tail;
  }
}
